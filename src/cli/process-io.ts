/** Connects commands to the streams, the signals and the exit of this process. */
import { buffer, text } from 'node:stream/consumers'
import type { Io, Output, Signal } from './io.ts'

export function processIo(): Io {
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

/** Asks on stderr, because stdout carries data. */
async function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  const { terminalPrompt } = await import('../agent-driver/manual-call.ts')
  return terminalPrompt(process.stdin, process.stderr)(question, signal)
}

/** A closed pipe (`| head`) does not stop the simulator. */
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

/** Ends with exit code 3 when output is lost, such as on a full disk. */
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
