/** An example as a process of its own, beside a simulator in this one. Everything a test started ends with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url))

export interface Example {
  readonly name: string
  readonly command: readonly [file: string, ...args: string[]]
}

export const NODE: Example = { name: 'intermediary', command: [process.execPath, 'main.js'] }
export const PYTHON: Example = { name: 'intermediary-python', command: ['python3', 'intermediary.py'] }

export interface Program {
  /** What it reported when it was ready. */
  readonly url: string
  /** Resolves when the process is gone, with its exit code or signal. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>
}

/** Rejects with what it said on stderr when it ends before it is ready. */
export async function launch({ name, command }: Example, env: Readonly<Record<string, string>>): Promise<Program> {
  const [file, ...args] = command
  const child = spawn(file, args, {
    cwd: join(EXAMPLES, name),
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | string>(resolve => {
    child.on('exit', (code, signal) => resolve(signal ?? code!))
  })
  const url = await readyUrl(child, ended)
  return {
    url,
    end(signal) {
      child.kill(signal)
      return ended
    },
  }
}

function readyUrl(child: ChildProcess, ended: Promise<number | string>): Promise<string> {
  let [said, complained] = ['', '']
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    complained += text
  })
  return new Promise((resolve, reject) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const url = /^Ready: (http\S+)\n/m.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    })
    child.on('error', reject)
    void ended.then(how => reject(new Error(`It ended with ${how} before it was ready: ${complained}`)))
  })
}

/** A folder that is gone after the test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-example-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
