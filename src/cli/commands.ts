/** Every command: its line in the help, and its file, loaded only when it is called. */
import type { Command } from 'commander'
import type { Context } from './io.ts'

export interface CommandModule {
  /** Adds options and arguments. */
  define(command: Command): void
  /** The exit code. */
  run(context: Context, options: Record<string, unknown>, args: readonly string[]): Promise<number>
}

interface Entry {
  readonly summary: string
  load(): Promise<CommandModule>
}

export const COMMANDS: Readonly<Record<string, Entry>> = {
  start: {
    summary: 'the simulator: platform API and control API, until stopped',
    load: () => import('./start.ts'),
  },
  run: {
    summary: 'play scenarios against an intermediary: report, exit code',
    load: () => import('./run.ts'),
  },
  validate: {
    summary: 'check scenario, driver and config files',
    load: () => import('./validate.ts'),
  },
  check: {
    summary: 'judge a saved run again: same scenarios, or changed ones',
    load: () => import('./report.ts'),
  },
  config: {
    summary: "every setting's effective value and where it came from",
    load: () => import('./config.ts'),
  },
  openapi: {
    summary: 'print the OpenAPI 3.1 document',
    load: () => import('./openapi.ts'),
  },
  trigger: {
    summary: 'fire one event from a running simulator, well signed or not',
    load: () => import('./trigger.ts'),
  },
  resend: {
    summary: 'send a past delivery again',
    load: () => import('./resend.ts'),
  },
  verify: {
    summary: 'is this body and signature right? if not, name the mistake',
    load: () => import('./verify.ts'),
  },
  wait: {
    summary: 'block until a simulator is ready',
    load: () => import('./wait.ts'),
  },
}
