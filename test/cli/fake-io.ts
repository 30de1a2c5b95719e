/** A process for commands under test: what was written, signals on demand, and an exit that only counts. */
import { onTestFinished } from 'vitest'
import type { Io, Signal } from '../../src/commands/io.ts'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'

export interface FakeOutput {
  write(text: string): void
  readonly isTTY: boolean
  readonly columns: number
  readonly text: string
  readonly lines: readonly string[]
  /** Resolves with the text once it matches. */
  until(pattern: RegExp): Promise<string>
}

export function fakeOutput(isTTY = false): FakeOutput {
  let text = ''
  const waiting = new Set<() => void>()
  return {
    isTTY,
    columns: 100,
    write(more) {
      text += more
      for (const look of waiting) look()
    },
    get text() {
      return text
    },
    get lines() {
      return text.split('\n').filter(line => line !== '')
    },
    until: pattern =>
      new Promise(resolve => {
        const look = () => {
          if (!pattern.test(text)) return
          waiting.delete(look)
          resolve(text)
        }
        waiting.add(look)
        look()
      }),
  }
}

export interface FakeIo extends Io {
  readonly stdout: FakeOutput
  readonly stderr: FakeOutput
  readonly exits: readonly number[]
  /** Whether somebody heeds signals. */
  readonly watched: boolean
  signal(name: Signal): void
  /** Throws an error that nothing catches. */
  throwUncaught(error: unknown): void
  /** Presses a key at the terminal. */
  press(key: string): void
}

/** `answers`: what a person types who is at the terminal; null for no person. */
export function fakeIo(cwd: string, isTTY = false, stdin = '', answers: string[] | null = null): FakeIo {
  const listeners = new Set<(signal: Signal) => void>()
  const exits: number[] = []
  const keyListeners = new Set<(key: string) => void>()
  const errorListeners = new Set<(error: unknown) => void>()
  const io: FakeIo = {
    stdout: fakeOutput(isTTY),
    stderr: fakeOutput(isTTY),
    readStdin: async () => Buffer.from(stdin),
    canAsk: answers !== null,
    ask: async () => answers?.shift() ?? '',
    onKey(listener) {
      keyListeners.add(listener)
      return () => void keyListeners.delete(listener)
    },
    press(key) {
      for (const listener of keyListeners) listener(key)
    },
    cwd,
    nodeVersion: process.version,
    exits,
    get watched() {
      return listeners.size > 0
    },
    onSignal(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onUncaughtError(listener) {
      errorListeners.add(listener)
      return () => void errorListeners.delete(listener)
    },
    throwUncaught(error) {
      for (const listener of errorListeners) listener(error)
    },
    exit: code => void exits.push(code),
    signal(name) {
      for (const listener of listeners) listener(name)
    },
  }
  onTestFinished(() => io.signal('SIGTERM'))
  return io
}

export type Env = Record<string, string>

export interface CommandOptions {
  readonly files?: Parameters<typeof folderWith>[0]
  /** Default: a new folder with these files. */
  readonly cwd?: string
  readonly env?: Env
  readonly stdin?: string
}

/** Runs a command in this process until it ends. */
export async function runCommand(argv: readonly string[], options: CommandOptions = {}) {
  const { files, cwd = folderWith(files), env = {}, stdin } = options
  const io = fakeIo(cwd, false, stdin)
  const code = await main(argv, env, io)
  return { code, out: io.stdout.text, err: io.stderr.text, cwd }
}

/** Starts on a free port and resolves when it serves. */
export async function started(flags: string[] = [], env: Env = {}, io: FakeIo = fakeIo(folderWith())) {
  const code = main(['start', '--port', '0', ...flags], env, io)
  await Promise.race([io.stdout.until(/\n/), code])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(io.stdout.text)?.[0] ?? ''
  const stop = () => {
    io.signal('SIGINT')
    return code
  }
  return { io, url, code, stop }
}
