/** Starts programs as processes, mostly the built command, and reads what they write. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { type FakeOutput, fakeOutput } from './fake-io.ts'

export interface Program {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly stdout: FakeOutput
  readonly stderr: FakeOutput
  /** Resolves when it has ended and its output is read; null after a signal. */
  readonly code: Promise<number | null>
}

interface ProgramOptions {
  readonly cwd?: string
  /** Beside `PATH`; nothing else of this process. */
  readonly env?: Readonly<NodeJS.ProcessEnv>
  /** In concurrent tests that of the test, because the general one belongs to the test that was started last. */
  readonly onEnd?: (end: () => void) => void
}

export const BIN = `${ROOT}bin/handover-sim.js`

/** Starts a program that is killed when the test ends. Without `cwd` in a folder of its own. */
export function startProgram(
  [program = '', ...args]: readonly string[],
  { cwd = folderWith(), env = {}, onEnd = onTestFinished }: ProgramOptions = {},
): Program {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onEnd(() => void child.kill('SIGKILL'))
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  child.stdout.setEncoding('utf8').on('data', stdout.write)
  child.stderr.setEncoding('utf8').on('data', stderr.write)
  const code = new Promise<number | null>(resolve => child.on('close', resolve))
  return { child, stdout, stderr, code }
}
