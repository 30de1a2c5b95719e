/** Starts the simulator in the background (`handover-sim start --detach`). */
import { spawn } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { isLoopback } from '../base/text/hosts.ts'
import { type Context, EnvironmentError, SIGNAL_CODES, type Signal, UsageError } from './io.ts'

interface DetachFlags {
  readonly json?: boolean
  readonly readyFile?: string
}

/** The exit code for an environment error. */
const ENVIRONMENT = 3

/** Runs the same command without `--detach` as a process of its own. Resolves when it serves, with 0, or has ended, with its exit code. */
export async function startDetached(
  { io, unredacted, env, argv }: Context,
  { json = false, readyFile }: DetachFlags,
  { host, control_token: token }: Readonly<Record<string, unknown>>,
): Promise<number> {
  // Only these tell a client the token that the server draws.
  if (!isLoopback(String(host)) && token === null && !json && readyFile === undefined)
    throw new UsageError(
      `--detach with --host ${host} needs --token TOKEN, --ready-file FILE or --json: the control API asks for a token, and nothing would show it.`,
    )

  const { npm_lifecycle_script: _, ...childEnv } = env
  const [, script = ''] = process.argv
  const args = [...process.execArgv, script, ...argv.filter(argument => argument !== '--detach')]
  const options = { cwd: io.cwd, env: childEnv, detached: true, windowsHide: true }
  // Its errors go to the stderr of this process. Its log goes there too when that is a file, because files stay open.
  const stderr = fstatSync(process.stderr.fd).isFile() ? 'inherit' : 'pipe'
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', stderr] })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => unredacted.stderr.write(text))
  const removeListener = io.onSignal(signal => void child.kill(signal))
  try {
    /** The ready line, or the exit code when its output is complete. */
    const started = await new Promise<string | number>((resolve, reject) => {
      let text = ''
      child.stdout?.setEncoding('utf8').on('data', (more: string) => {
        text += more
        if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
      })
      child.on('error', error => reject(new EnvironmentError(`--detach: failed to start a process: ${error.message}.`)))
      child.on('close', (code, signal) => resolve(code ?? SIGNAL_CODES[signal as Signal] ?? ENVIRONMENT))
    })
    if (typeof started === 'number') return started
    unredacted.stdout.write(`${started}\n`)

    // The command that stops it.
    const { href, hostname, port } = new URL(json ? JSON.parse(started).url : started.replace(/^Ready: /, ''))
    let target = isLoopback(hostname) ? `--port ${port}` : `--url ${href}`
    if (argv.some(argument => /^--token(=|$)/.test(argument))) target += ' --token TOKEN'
    if (readyFile !== undefined)
      target = `--ready-file ${/^[\w./:-]+$/.test(readyFile) ? readyFile : JSON.stringify(readyFile)}`
    io.stderr.write(`Runs in the background (process ${child.pid}). To stop it: npx handover-sim stop ${target}\n`)
    return 0
  } finally {
    removeListener()
    // Lets this process end while the other one runs.
    child.stdout?.destroy()
    child.stderr?.destroy()
    child.unref()
  }
}
