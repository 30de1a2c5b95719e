/** Runs the command that the arguments name, and maps errors to exit codes. */
import type { CommandEntry } from './command.ts'
import { type Context, type Io, processIo, reportError } from './io.ts'
import { readFlags } from './read-flags.ts'
import { contextWithSecrets } from './secrets.ts'
import { startCommand } from './start.ts'

/** Commands by name. Each is loaded when it runs, except `start`, whose modules are those that every command needs. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  start: {
    summary: 'run the simulator until stopped: platform API and control API',
    load: async () => startCommand,
  },
  run: {
    summary: 'play scenarios against an intermediary, and write reports',
    load: async () => (await import('./run.ts')).runCommand,
  },
  certify: {
    summary: 'check an intermediary for every known problem, and write a certificate',
    load: async () => (await import('./certify.ts')).certifyCommand,
  },
  validate: {
    summary: 'check scenario, driver and config files',
    load: async () => (await import('./validate.ts')).validateCommand,
  },
  report: {
    summary: 'evaluate the saved journals of a run or of its shards again, and write reports',
    load: async () => (await import('./report.ts')).reportCommand,
  },
  config: {
    summary: 'print every setting with its effective value and its origin',
    load: async () => (await import('./config.ts')).configCommand,
  },
  openapi: {
    summary: 'print the OpenAPI 3.1 document',
    load: async () => (await import('./openapi.ts')).openApiCommand,
  },
  trigger: {
    summary: 'send one event from a running simulator, with a valid or an invalid signature',
    load: async () => (await import('./manual-events.ts')).triggerCommand,
  },
  resend: {
    summary: 'send a past delivery again',
    load: async () => (await import('./manual-events.ts')).resendCommand,
  },
  record: {
    summary: 'write a scenario file from what a running simulator saw',
    load: async () => (await import('./record.ts')).recordCommand,
  },
  verify: {
    summary: 'check the signature of a body, and name the mistake',
    load: async () => (await import('./verify.ts')).verifyCommand,
  },
  stop: {
    summary: 'end a running simulator',
    load: async () => (await import('./stop.ts')).stopCommand,
  },
  wait: {
    summary: 'wait until a simulator is ready',
    load: async () => (await import('./wait.ts')).waitCommand,
  },
}

/** The exit code: 0 passed, 1 an expectation failed, 2 bad file or flag, 3 environment, 4 inconclusive, 70 internal error, 129, 130 or 143 a signal. */
export async function main(
  argv: readonly string[] = process.argv.slice(2),
  env: Context['env'] = process.env,
  io: Io = processIo(),
): Promise<number> {
  const context = contextWithSecrets(argv, env, io)
  try {
    const [name = '', ...rest] = argv
    const command = Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]?.load() : undefined
    const flags = command === undefined ? null : readFlags(command, rest)
    if (command !== undefined && flags !== null) return await command.run(context, flags, [])
    const { runWithCommander } = await import('./commander.ts')
    return await runWithCommander(COMMANDS, argv, context)
  } catch (error) {
    return reportError(error, context.io)
  }
}
