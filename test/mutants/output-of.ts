/** Runs a program with Node, and collects what it prints. */
import { spawn } from 'node:child_process'

/** Of one command. */
const LIMIT_MS = 400_000

interface NodeOutput {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The exit code or the signal, with the last lines of stderr. */
  readonly end: string
}

/** Runs Node in the folder, and resolves with what it printed and how it ended. */
export function outputOf(args: readonly string[], cwd: string): Promise<NodeOutput> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise(resolve => {
    child.on('close', (code, signal) =>
      resolve({ code, stdout, stderr, end: `${signal ?? `exit code ${code}`}: ${stderr.slice(-500)}` }),
    )
  })
}
