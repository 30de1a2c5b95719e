/** Starts the simulator in the background (`handover-sim start --detach`). */
import { type ChildProcess, spawn } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { isLoopback } from '../server/control/addresses.ts'
import { type Context, EnvironmentError, SIGNAL_CODES, type Signal, UsageError } from './io.ts'
import { urlOfReadyLine } from './start-files.ts'

export interface DetachFlags {
  readonly json?: boolean
  readonly readyFile?: string
}

/** Runs the same command without `--detach` as a process of its own. Resolves when it serves, with 0, or has ended, with its exit code. */
export async function startDetached(context: Context, flags: DetachFlags): Promise<number> {
  const { io, unredacted } = context
  const child = launch(context)
  const removeListener = io.onSignal(signal => void child.kill(signal))
  try {
    const started = await Promise.race([firstLineOf(child), endOf(child)])
    if (typeof started === 'number') return started
    unredacted.stdout.write(`${started}\n`)
    io.stderr.write(
      `Runs in the background (process ${child.pid}). To stop it: ${stopCommand(context, started, flags)}\n`,
    )
    return 0
  } finally {
    removeListener()
    // Lets this process end while the other one runs.
    child.stdout?.destroy()
    child.stderr?.destroy()
    child.unref()
  }
}

/** Only these tell a client the token that the server draws. */
export function checkTokenIsKnown(flags: DetachFlags, values: Readonly<Record<string, unknown>>): void {
  const { host, control_token: token } = values
  if (isLoopback(String(host)) || token !== null || flags.json || flags.readyFile !== undefined) return
  throw new UsageError(
    `--detach with --host ${host} needs --token TOKEN, --ready-file FILE or --json: the control API asks for a token, and nothing would show it.`,
  )
}

/** Its errors go to the stderr of this process. Its log goes there too when that is a file, because files stay open. */
function launch({ io, unredacted, env, argv }: Context): ChildProcess {
  const { npm_lifecycle_script: _, ...own } = env
  const [, script = ''] = process.argv
  const args = [...process.execArgv, script, ...argv.filter(argument => argument !== '--detach')]
  const stderr = fstatSync(process.stderr.fd).isFile() ? 'inherit' : 'pipe'
  const options = { cwd: io.cwd, env: own, detached: true, windowsHide: true }
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', stderr] })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => unredacted.stderr.write(text))
  return child
}

const firstLineOf = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise(resolve => {
    let text = ''
    stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const [line = '', ...rest] = text.split('\n')
      if (rest.length > 0) resolve(line)
    })
  })

/** Resolves when its output is complete. */
const endOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.on('error', error => reject(new EnvironmentError(`--detach: failed to start a process: ${error.message}.`)))
    child.on('close', (code, signal) => resolve(code ?? SIGNAL_CODES[signal as Signal] ?? ENVIRONMENT))
  })

/** The exit code for an environment error. */
const ENVIRONMENT = 3

function stopCommand({ argv }: Context, readyLine: string, { json = false, readyFile }: DetachFlags): string {
  const { href, hostname, port } = new URL(urlOfReadyLine(readyLine, json))
  const quoted = (text: string) => (/^[\w./:-]+$/.test(text) ? text : JSON.stringify(text))
  const local = isLoopback(hostname) ? `--port ${port}` : `--url ${href}`
  if (readyFile !== undefined) return `npx handover-sim stop --ready-file ${quoted(readyFile)}`
  const hasToken = argv.some(argument => /^--token(=|$)/.test(argument))
  return `npx handover-sim stop ${local}${hasToken ? ' --token TOKEN' : ''}`
}
