/** The command line. The only place that ends the process. */
import { buffer, text } from 'node:stream/consumers'
import { Command, CommanderError } from 'commander'
import { VERSION } from '../contract/version.ts'
import { COMMANDS, type CommandModule } from './commands.ts'
import { reportError } from './errors.ts'
import type { Context, Io, Output, Signal } from './io.ts'

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
  await program.parseAsync(argv as string[], { from: 'user' })
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

function processIo(): Io {
  return {
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    readStdin: () => text(process.stdin),
    readStdinBytes: () => buffer(process.stdin),
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    ask: askOnTerminal,
    cwd: process.cwd(),
    nodeVersion: process.version,
    onSignal: watchSignals,
    exit: code => process.exit(code),
  }
}

/** On stderr: stdout carries data. */
async function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  const { terminalPrompt } = await import('../agent-driver/manual-call.ts')
  return terminalPrompt(process.stdin, process.stderr)(question, signal)
}

/** A reader that went away (`| head`) is no reason to stop serving. */
function outputOf(stream: NodeJS.WriteStream): Output {
  let open = true
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false
    if (error.code !== 'EPIPE') giveUp(stream, error)
  })
  return {
    write: text => void (open && stream.write(text)),
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns
    },
  }
}

/** A disk that is full, for one: what is lost cannot be called done. */
function giveUp(stream: NodeJS.WriteStream, { message }: Error): void {
  if (stream !== process.stderr) process.stderr.write(`stdout cannot be written: ${message}.\n`)
  process.exit(3)
}

function watchSignals(listener: (signal: Signal) => void): () => void {
  process.on('SIGINT', listener)
  process.on('SIGTERM', listener)
  return () => {
    process.off('SIGINT', listener)
    process.off('SIGTERM', listener)
  }
}
