/** Starts an example intermediary as a process that ends with the test. */
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
export const RUBY: Example = { name: 'intermediary-ruby', command: ['ruby', 'intermediary.rb'] }

export interface Program {
  /** The URL of its ready line. */
  readonly url: string
  /** Sends a signal and resolves with the exit code or the signal that ended the process. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>
}

/** Rejects with its stderr when the process exits before it is ready. */
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
  let [stdout, stderr] = ['', '']
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const url = /^Ready: (http\S+)\n/m.exec(stdout)?.[1]
      if (url !== undefined) resolve(url)
    })
    child.on('error', reject)
    void ended.then(how => reject(new Error(`The process exited with ${how} before it was ready: ${stderr}`)))
  })
}

/** Creates a temporary folder that is removed when the test ends. `finished`: the hook of a test that runs beside others. */
export function emptyFolder(finished: typeof onTestFinished = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-example-'))
  finished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
