/** Runs the command that the arguments name, as commander reads them, and maps errors to exit codes. */
import { Command, CommanderError, Option } from 'commander'
import { nearestName } from '../base/text/error-text.ts'
import { VERSION } from '../platform/contract/version.ts'
import type { CliCommand } from './command.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { type Context, type Io, processIo, reportError } from './io.ts'
import { contextWithSecrets } from './secrets.ts'
import { startCommand } from './start.ts'

/** What each command does, in the groups and the order of the help. */
export const COMMAND_GROUPS = {
  Watch: {
    start: 'run the simulator until stopped: platform API and control API',
    trigger: 'send one event from a running simulator, with a valid or an invalid signature',
    resend: 'send a past delivery again',
    record: 'write a scenario file from what a running simulator saw',
  },
  'Judge a service': {
    run: 'run scenarios against an intermediary, and write reports',
    certify: 'check an intermediary for every known problem, and write a certificate',
    explore: 'search with generated conversations for one that breaks an intermediary',
    load: 'begin conversations at a rate, judge each, and find the rate at which people wait',
    exec: 'run a command, such as tests, beside a simulator, and end with its exit code',
    report: 'evaluate the saved journals of a run or of its shards again, and write reports',
  },
  'Connect the real platform': {
    proxy: 'record the traffic between an intermediary and the real platform',
    calibrate: 'compare recordings of the real platform with the simulator, and find the knobs that fit',
  },
  'Small tools': {
    init: 'write the first files: config, agent driver, scenarios, a test, a workflow of CI',
    doctor: 'look for what usually stops a first try, and say how it is repaired',
    validate: 'check scenario, driver and config files',
    config: 'print every setting with its effective value and its origin',
    openapi: 'print the OpenAPI 3.1 document',
    verify: 'check the signature of a body, and name the mistake',
    stop: 'end a running simulator',
    wait: 'wait until a simulator is ready',
    mcp: 'let a coding assistant use a simulator, over the Model Context Protocol',
    complete: 'print the script with which a shell completes commands, flags and values',
  },
} as const

export const COMMANDS = {
  ...COMMAND_GROUPS.Watch,
  ...COMMAND_GROUPS['Judge a service'],
  ...COMMAND_GROUPS['Connect the real platform'],
  ...COMMAND_GROUPS['Small tools'],
}

type CommandName = keyof typeof COMMANDS

const isCommand = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name)

/** Loads a command when it runs, except `start`, whose modules are those that every command needs. */
export async function importCommand(name: CommandName): Promise<CliCommand> {
  switch (name) {
    case 'start':
      return startCommand
    case 'run':
      return (await import('./run.ts')).runCommand
    case 'certify':
      return (await import('./certify.ts')).certifyCommand
    case 'explore':
      return (await import('./explore.ts')).exploreCommand
    case 'load':
      return (await import('./load.ts')).loadCommand
    case 'exec':
      return (await import('./exec.ts')).execCommand
    case 'init':
      return (await import('./init.ts')).initCommand
    case 'doctor':
      return (await import('./doctor.ts')).doctorCommand
    case 'validate':
      return (await import('./validate.ts')).validateCommand
    case 'calibrate':
      return (await import('./calibrate.ts')).calibrateCommand
    case 'report':
      return (await import('./report.ts')).reportCommand
    case 'proxy':
      return (await import('./proxy.ts')).proxyCommand
    case 'config':
      return (await import('./config.ts')).configCommand
    case 'openapi':
      return (await import('./config.ts')).openApiCommand
    case 'trigger':
      return (await import('./manual-events.ts')).triggerCommand
    case 'resend':
      return (await import('./manual-events.ts')).resendCommand
    case 'record':
      return (await import('./record.ts')).recordCommand
    case 'verify':
      return (await import('./verify.ts')).verifyCommand
    case 'stop':
      return (await import('./stop.ts')).stopCommand
    case 'wait':
      return (await import('./stop.ts')).waitCommand
    case 'mcp':
      return (await import('./mcp.ts')).mcpCommand
    case 'complete':
      return (await import('./complete.ts')).completeCommand
  }
}

/** What a person sees who types the name alone. */
const WELCOME = `handover-sim ${VERSION} plays a chatbot platform and its end user, so that you can build and test the service
between the platform's handover API and your help desk: on this machine, offline.

  npx handover-sim start --demo --open       watch a handover in the browser
  npx handover-sim start --webhook-url URL   send signed events to your service, and answer its calls
  npx handover-sim run --builtin --self-test run the shipped scenarios against the built-in service

Every command: npx handover-sim --help. What is wrong here: npx handover-sim doctor
`

/** Resolves with one of the `EXIT_CODES`. */
export async function main(
  argv: readonly string[] = process.argv.slice(2),
  env: Context['env'] = process.env,
  io: Io = processIo(),
): Promise<number> {
  if (argv.length === 0 && io.stdout.isTTY) {
    io.stdout.write(WELCOME)
    return 0
  }
  const context = contextWithSecrets(argv, env, io)
  try {
    return await runCommand(argv, context)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return reportError(error, context.io)
  }
}

/** Rejects with `CommanderError` after a mistake and after help, which commander has printed. */
async function runCommand(argv: readonly string[], context: Context): Promise<number> {
  if (argv[0] === 'complete' && argv[1] === '--') {
    const { completeShell: answerShell } = await import('./complete.ts')
    return answerShell(argv.slice(2), COMMANDS, async name => (isCommand(name) ? importCommand(name) : null), context)
  }
  const { stdout, stderr } = context.io
  const program = new Command('handover-sim')
    .description(
      "Plays a chatbot platform's handover API and its end user, offline\n\nBegin here: npx handover-sim start --demo",
    )
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')
    .addHelpText('after', `\nExit codes:\n${EXIT_CODES.map(row => `  ${row[0].padEnd(15)}${row[1]}\n`).join('')}`)
    .configureOutput({
      writeOut: text => stdout.write(text),
      writeErr: text => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
  let code = 0
  for (const [group, commands] of Object.entries(COMMAND_GROUPS)) {
    program.commandsGroup(`${group}:`)
    for (const name of Object.keys(commands) as CommandName[]) {
      // The command that the first argument names. All, when it is a flag, `help` or a mistake, whose answers list them.
      if (isCommand(argv[0] ?? '') && argv[0] !== name) continue
      const command = program.command(name).description(COMMANDS[name])
      if (!argv.includes(name)) continue
      const loaded = await importCommand(name)
      addFlags(command, loaded)
      command.action(async () => {
        code = await loaded.run(context, command.opts(), command.args)
      })
    }
  }
  // In the last group.
  program.helpCommand(true)
  await program.parseAsync([...argv], { from: 'user' })
  return code
}

/** Adds arguments, and flags in the order of the help. */
function addFlags(command: Command, { arguments: args = {}, flags, groups = {}, examples }: CliCommand): void {
  for (const [name, description] of Object.entries(args)) command.argument(name, description)
  const shown: string[] = []
  const options = new Map<string, Option>()
  for (const [name, flag] of Object.entries(flags)) {
    const definition = typeof flag === 'string' ? { description: flag } : flag
    const option = new Option(name, definition.description)
    if (definition.choices !== undefined) option.choices(definition.choices)
    if (definition.default !== undefined) option.default(definition.default)
    if (definition.repeatable) option.argParser((value: string, earlier: string[] = []) => [...earlier, value])
    option.makeOptionMandatory(definition.required ?? false).hideHelp(definition.hidden ?? false)
    options.set(option.attributeName(), option)
    if (!definition.hidden) shown.push(name.split(' ')[0]!)
  }
  for (const [heading, names] of Object.entries(groups)) {
    for (const name of names) {
      const option = options.get(name)
      if (option !== undefined) command.addOption(option.helpGroup(`${heading}:`))
      options.delete(name)
    }
  }
  if (Object.keys(groups).length > 0) command.optionsGroup('Settings of the simulator:')
  for (const option of options.values()) command.addOption(option)
  const lines = Object.entries(examples).map(([line, what]) => `  # ${what}\n  npx handover-sim ${line}\n`)
  command.addHelpText('after', `\nExamples:\n${lines.join('')}`)
  command.configureOutput({
    outputError(text, write) {
      // Names the flag that an unknown one begins. commander names only flags of similar length.
      const unknown = /^error: unknown option '(--[^'=]+)[^']*'\n$/.exec(text)?.[1]
      const name = unknown === undefined ? undefined : nearestName(unknown, shown)
      write(name === undefined ? text : `${text}(Did you mean ${name}?)\n`)
    },
  })
}
