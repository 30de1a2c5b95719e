/** Reads the arguments of a command with commander, which prints help and explains mistakes. */
import { Command, CommanderError, Option } from 'commander'
import { nearestName } from '../base/text/error-text.ts'
import { VERSION } from '../platform/contract/version.ts'
import type { CliCommand, CommandEntry, FlagDefinition } from './command.ts'
import type { Context, Io } from './io.ts'

type Commands = Readonly<Record<string, CommandEntry>>

/** Runs the command that the arguments name. Resolves with its exit code, or with 2 for a mistake. */
export async function runWithCommander(commands: Commands, argv: readonly string[], context: Context): Promise<number> {
  let code = 0
  const program = programFor(context.io)
  for (const [name, { summary, load }] of commandsFor(commands, argv)) {
    const command = program.command(name).description(summary)
    if (!argv.includes(name)) continue
    const loaded = await load()
    addFlags(command, loaded)
    command.action(async () => {
      code = await loaded.run(context, command.opts(), command.args)
    })
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    throw error
  }
  return code
}

/** The command that the first argument names. All, when it is a flag, `help` or a mistake, whose answers list them. */
function commandsFor(commands: Commands, [first = '']: readonly string[]): [string, CommandEntry][] {
  const named = Object.hasOwn(commands, first) ? commands[first] : undefined
  return named === undefined ? Object.entries(commands) : [[first, named]]
}

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

/** Adds arguments and flags. */
export function addFlags(command: Command, { arguments: args = {}, flags }: CliCommand): void {
  for (const [name, description] of Object.entries(args)) command.argument(name, description)
  for (const [name, flag] of Object.entries(flags)) command.addOption(optionOf(name, flag))
  const written = command.options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : [long]))
  command.configureOutput({ outputError: (text, write) => write(withNearestFlag(text, written)) })
}

/** Names the flag that an unknown one begins. commander names only flags of similar length. */
function withNearestFlag(text: string, flags: readonly string[]): string {
  const unknown = /^error: unknown option '(--[^'=]+)[^']*'\n$/.exec(text)?.[1]
  const name = unknown === undefined ? undefined : nearestName(unknown, flags)
  return name === undefined ? text : `${text}(Did you mean ${name}?)\n`
}

function optionOf(name: string, flag: string | FlagDefinition): Option {
  const definition = typeof flag === 'string' ? { description: flag } : flag
  const option = new Option(name, definition.description)
  if (definition.choices !== undefined) option.choices(definition.choices)
  if (definition.default !== undefined) option.default(definition.default)
  if (definition.repeatable) option.argParser((value: string, earlier: string[] = []) => [...earlier, value])
  return option.makeOptionMandatory(definition.required ?? false).hideHelp(definition.hidden ?? false)
}
