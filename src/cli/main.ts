/** Runs the command that the arguments name, and maps errors to exit codes. */
import { Command, CommanderError, type OptionValues } from 'commander'
import { VERSION } from '../contract/version.ts'
import { reportError } from './errors.ts'
import type { Context, Io } from './io.ts'
import { processIo } from './process-io.ts'

interface CommandModule {
  /** Adds options and arguments. */
  define(command: Command): void
  /** The exit code. */
  run(context: Context, flags: OptionValues, args: readonly string[]): Promise<number>
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
  report: {
    summary: 'judge saved journals again, one or the shards of one run, and write their reports',
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

/** The exit code: 0 passed, 1 an expectation failed, 2 bad file or flag, 3 environment, 4 inconclusive, 130/143 signals. */
export async function main(
  argv: readonly string[] = process.argv.slice(2),
  env: Context['env'] = process.env,
  io: Io = processIo(),
): Promise<number> {
  try {
    return await dispatch(argv, { env, io })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return reportError(error, io)
  }
}

async function dispatch(argv: readonly string[], context: Context): Promise<number> {
  let code = 0
  const program = programFor(context.io)
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary)
    if (!argv.includes(name)) continue
    const module = await load()
    module.define(command)
    command.action(async () => {
      code = await runCommand(module, command, context)
    })
  }
  await program.parseAsync([...argv], { from: 'user' })
  return code
}

const runCommand = (module: CommandModule, command: Command, context: Context): Promise<number> =>
  module.run(context, command.opts(), command.args)

function programFor({ stdout, stderr }: Io): Command {
  return new Command('handover-sim')
    .description("Plays a chatbot platform's handover API and its end user, offline")
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')
    .configureOutput({
      writeOut: text => stdout.write(text),
      writeErr: text => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
}
