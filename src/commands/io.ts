/** Connects commands to the process: streams, signals, errors and exit codes. Tests replace `Io`. */

import { backgroundTimer } from '../base/runtime/clock.ts'
import { onParentExit } from '../base/runtime/node.ts'
import { counted, formatDuration } from '../base/text/quantities.ts'
import type { Redactor } from '../base/text/redactor.ts'
import { visibleLines } from '../base/text/terminal-text.ts'
import { INTERNAL_ERROR_CODE } from '../evaluation/evaluator/verdict.ts'
import type { ColorLevel } from '../pages/reporters/theme.ts'

export interface Output {
  write(text: string): void
  readonly isTTY: boolean
  /** Of the terminal, when it is one. */
  readonly columns?: number | undefined
}

/** SIGHUP says that the terminal was closed. */
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const
export type Signal = (typeof SIGNALS)[number]

export interface Io {
  /** For data. */
  readonly stdout: Output
  /** For messages to people. */
  readonly stderr: Output
  /** Reads stdin to its end. Rejects with `UsageError` when it has more bytes. */
  readStdin(mostBytes: number): Promise<Uint8Array>
  /** Whether a person at the terminal can answer questions. */
  readonly canAsk: boolean
  /** Shows a question and resolves with the line typed. Rejects when aborted. */
  ask(question: string, signal: AbortSignal): Promise<string>
  /** Whether a question waits for its answer. */
  readonly isAsking?: boolean
  /** Calls `listener` for every key that a person presses at the terminal. Returns a function that stops this. Absent where no person is. */
  readonly onKey?: ((listener: (key: string) => void) => () => void) | undefined
  readonly cwd: string
  readonly nodeVersion: string
  /** Calls `listener` for every signal. Returns a function that stops this. */
  onSignal(listener: (signal: Signal) => void): () => void
  /** Calls `listener` for an error that nothing catches, which then does not end the process. Absent in most tests. */
  readonly onUncaughtError?: ((listener: (error: unknown) => void) => () => void) | undefined
  /** Ends the process at once. */
  exit(code: number): void
}

export interface Context {
  /** Its output shows `***` in place of secrets. */
  readonly io: Io
  /** For output that shows keys because the user asked for them. */
  readonly unredacted: Io
  /** What the command knows as secret. */
  readonly secrets: Redactor
  readonly env: Readonly<Record<string, string | undefined>>
  readonly argv: readonly string[]
}

export const SIGNAL_CODES: Readonly<Record<Signal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

/** Why a command ends: a signal, or a request to the control API. */
export type EndReason = Signal | 'request'
export const END_CODES: Readonly<Record<EndReason, number>> = { ...SIGNAL_CODES, request: 0 }

/** The environment is not ready: the target is unreachable, or a time limit passed. Exit code 3. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError'
}

/** A flag or an argument is invalid. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Exit codes by the name of the error: a command does not load classes that it does not use. */
const EXPECTED: Readonly<Record<string, number>> = {
  UsageError: 2,
  ConfigError: 2,
  InvalidOptionError: 2,
  ListenError: 3,
  PortInUseError: 3,
  EnvironmentError: 3,
}

/** Prints an error of the user as its message, and any other as an internal error with its stack. Returns the exit code. */
export function reportError(error: unknown, { stderr }: Io): number {
  if (!(error instanceof Error)) {
    stderr.write(`Internal error of handover-sim: ${String(error)}\n`)
    return INTERNAL_ERROR_CODE
  }
  const code = EXPECTED[error.name]
  stderr.write(
    code === undefined
      ? `Internal error of handover-sim: ${visibleLines(error.stack ?? error.message)}\n`
      : `${visibleLines(error.message)}\n`,
  )
  return code ?? INTERNAL_ERROR_CODE
}

export function processIo(): Io {
  // Whether npm or npx started this process through a shell, and the script of that shell waits for it.
  // npm passes a signal on to the shell only, which ends and leaves this process running.
  const { npm_lifecycle_script: script = '' } = process.env
  const isStartedByNpm = /(^|[\s'"/])handover-sim(?=$|[\s'"])/.test(script) && !/(^|[^&>])&(?![&>])/.test(script)
  let asking = 0
  return {
    stdout: createOutput(process.stdout, 'stdout'),
    stderr: createOutput(process.stderr, 'stderr'),
    async readStdin(mostBytes) {
      const chunks: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of process.stdin) {
        bytes += chunk.length
        if (bytes > mostBytes) throw new UsageError(`stdin has too many bytes; at most ${mostBytes} are read.`)
        chunks.push(chunk)
      }
      return Buffer.concat(chunks)
    },
    /** Read when a command needs it, because Node takes a few milliseconds to open stdin. */
    get canAsk() {
      return process.stdin.isTTY === true && process.stderr.isTTY === true
    },
    ask: async (question, signal) => {
      asking++
      try {
        // The question takes the line of the progress.
        return await askOnTerminal(canRedraw(process.env, true) ? `\r\u001b[2K${question}` : question, signal)
      } finally {
        asking--
      }
    },
    get isAsking() {
      return asking > 0
    },
    get onKey() {
      return this.canAsk ? onKeyOfTerminal : undefined
    },
    /** Read when a command needs it: a directory that was deleted does not stop `--version`. */
    get cwd() {
      try {
        return process.cwd()
      } catch {
        throw new EnvironmentError(
          'Failed to read the working directory: it was deleted. Change to a directory that exists.',
        )
      }
    },
    nodeVersion: process.version,
    onSignal: listener => watchSignals(listener, isStartedByNpm),
    onUncaughtError(listener) {
      process.on('uncaughtException', listener)
      return () => void process.off('uncaughtException', listener)
    },
    exit: code => process.exit(code),
  }
}

/** The keys that a terminal in raw mode passes on as characters, in place of what it does with them. */
const RAW_SIGNALS: Readonly<Record<string, NodeJS.Signals>> = { '\x03': 'SIGINT', '\x1a': 'SIGTSTP', '\x1c': 'SIGQUIT' }

/** Reads keys without waiting for Enter. However the process ends, the terminal is as before. */
function onKeyOfTerminal(listener: (key: string) => void): () => void {
  const { stdin } = process
  const setRaw = (isRaw: boolean) => void stdin.setRawMode(isRaw)
  const restore = () => setRaw(false)
  const resume = () => setRaw(true)
  const read = (data: Buffer) => {
    const key = data.toString('utf8')
    const signal = RAW_SIGNALS[key]
    if (signal !== undefined) {
      if (signal !== 'SIGINT') restore()
      process.kill(process.pid, signal)
    } else if (key.length === 1 && key >= ' ') listener(key)
  }
  setRaw(true)
  stdin.on('data', read)
  process.on('exit', restore)
  process.on('SIGCONT', resume)
  return () => {
    restore()
    stdin.off('data', read)
    process.off('exit', restore)
    process.off('SIGCONT', resume)
    stdin.pause()
  }
}

/** Asks on stderr, because stdout carries data. */
async function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  const { terminalPrompt } = await import('../running/agent-driver/manual-call.ts')
  const { stdin } = process
  const wasRaw = stdin.isRaw
  if (wasRaw) stdin.setRawMode(false)
  try {
    return await terminalPrompt(stdin, process.stderr)(question, signal)
  } finally {
    // The question has paused the stream.
    if (wasRaw && !signal.aborted) stdin.setRawMode(true).resume()
  }
}

/** How many bytes of a stream may wait to be read. */
const MAX_UNREAD_BYTES = 8 * 1_048_576

/** A closed pipe (`| head`; `EOF` on Windows) does not stop the simulator, and neither does one that nothing reads: further text is dropped. */
function createOutput(stream: NodeJS.WriteStream, name: string): Output {
  let open = true
  let droppedLines = 0
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false
    if (error.code !== 'EPIPE' && error.code !== 'EOF') {
      // Ends with exit code 3 when output is lost, such as on a full disk.
      const { message } = error
      if (stream !== process.stderr) process.stderr.write(`stdout cannot be written: ${message}.\n`)
      process.exit(3)
    }
  })
  stream.on('drain', () => {
    const lines = droppedLines
    droppedLines = 0
    // On stderr also for stdout, which carries data.
    if (lines === 0) return
    const were = lines === 1 ? 'was' : 'were'
    process.stderr.write(`${counted(lines, 'line')} of ${name} ${were} dropped because nothing read the output.\n`)
  })
  return {
    write(text) {
      if (!open) return
      if (droppedLines === 0 && stream.writableLength <= MAX_UNREAD_BYTES) stream.write(text)
      // A text without a line break counts as a line.
      else droppedLines += Math.max(1, text.split('\n').length - 1)
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns
    },
  }
}

/** `watchesParent`: takes the end of the parent as SIGTERM, unless a signal came before. */
function watchSignals(listener: (signal: Signal) => void, watchesParent: boolean): () => void {
  const stopWatching = watchesParent ? onParentExit(() => listener('SIGTERM')) : null
  const onSignal = (signal: Signal) => {
    stopWatching?.()
    listener(signal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    stopWatching?.()
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

const USUAL = 100

/** The columns in `COLUMNS`, else those of the terminal. */
export function columnsOf(
  env: Readonly<Record<string, string | undefined>>,
  stream: { readonly columns?: number | undefined },
): number {
  const columns = env.COLUMNS ?? ''
  return /^[1-9]\d{0,4}$/.test(columns) ? Number(columns) : (stream.columns ?? USUAL)
}

/** Whether what was written can be written over; a dumb terminal shows the escapes. */
export const canRedraw = (env: Context['env'], isTTY: boolean): boolean => isTTY && env.TERM !== 'dumb'

export function colorLevel(env: Context['env'], isTTY: boolean): ColorLevel {
  if (env.NO_COLOR || env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false') return 0
  const off: readonly (string | undefined)[] = [undefined, '', '0', 'false']
  if (!off.includes(env.FORCE_COLOR)) return env.FORCE_COLOR === '2' ? 2 : env.FORCE_COLOR === '3' ? 3 : 1
  if (!off.includes(env.CLICOLOR_FORCE)) return 1
  if (!canRedraw(env, isTTY) || env.CLICOLOR === '0') return 0
  return 1
}

export interface Shutdown {
  /** Resolves with the first signal or request. */
  readonly ended: Promise<EndReason>
  /** Begins the shutdown, as the first signal does. */
  request(): void
  /** Registers what `run` calls, and optionally what a forced end calls instead. */
  defer(undo: () => void | Promise<void>, force?: () => void): void
  /** Calls what is deferred, latest first. A second signal meanwhile forces the rest. */
  run(): Promise<void>
}

/** From the first signal to the end of the process; shorter than the 10 s after which containers are killed. */
export const SHUTDOWN_MS = 9_000

/** The second signal forces the end of the process, and so does the end of `limitMs`, also when only output waits to be read. */
export function createShutdown(io: Io, limitMs = SHUTDOWN_MS): Shutdown {
  const deferred: { undo(): void | Promise<void>; force?: (() => void) | undefined }[] = []
  let first: (reason: EndReason) => void
  const ended = new Promise<EndReason>(resolve => {
    first = resolve
  })
  const force = (reason: EndReason) => {
    for (const { force } of deferred) force?.()
    io.exit(END_CODES[reason])
  }
  let begun = false
  const begin = (reason: EndReason) => {
    begun = true
    backgroundTimer(limitMs, () => {
      io.stderr.write(
        `Failed to shut down within ${formatDuration(limitMs)} of ${reason === 'request' ? 'the request' : reason}: exiting now.\n`,
      )
      force(reason)
    })
    first(reason)
  }
  const removeListener = io.onSignal(signal => (begun ? force(signal) : begin(signal)))
  return {
    ended,
    request: () => {
      if (!begun) begin('request')
    },
    defer: (undo, force) => void deferred.push({ undo, force }),
    async run() {
      for (let last = deferred.at(-1); last !== undefined; last = deferred.at(-1)) {
        await last.undo()
        deferred.pop()
      }
      removeListener()
    },
  }
}
