/** A program of the user as a process group of its own, so that what it starts ends with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { wallDelay } from '../runtime/clock.ts'

export interface LaunchOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether something is written to its stdin. */
  readonly stdin?: boolean
}

export interface RunningProcess {
  readonly child: ChildProcess
  /** Never rejects. */
  readonly ended: Promise<ProcessEnd>
  /** To it and all it started. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void
  /** Whether anything of the group is left. */
  readonly alive: boolean
}

export interface ProcessEnd {
  /** `it ended with exit code 1`, `it ended with SIGKILL`, `"./agent.sh" cannot be started: ...`. */
  readonly why: string
  readonly code: number | null
  /** False when it could not even be started. */
  readonly started: boolean
}

const OWN_GROUP = process.platform !== 'win32'

/** Whatever ends this process takes these along; set while any are there. */
const groups = new Set<RunningProcess>()
const killAll = () => {
  for (const running of groups) running.signal('SIGKILL')
}

export function launch({ command, cwd, env, stdin = false }: LaunchOptions): RunningProcess {
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    cwd,
    env: { ...env },
    detached: OWN_GROUP,
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  const running: RunningProcess = {
    child,
    ended: endOf(child, file, cwd),
    signal: signalTo(child),
    get alive() {
      return isAlive(child)
    },
  }
  track(running)
  return running
}

/** Until nothing of the group is left, or `kill` saw to it. */
function track(running: RunningProcess): void {
  if (groups.size === 0) process.on('exit', killAll)
  groups.add(running)
  void running.ended.then(() => running.alive || untrack(running))
}

function untrack(running: RunningProcess): void {
  groups.delete(running)
  if (groups.size === 0) process.off('exit', killAll)
}

function endOf(child: ChildProcess, file: string, cwd: string): Promise<ProcessEnd> {
  return new Promise(resolve => {
    child.on('error', error => {
      if (child.pid === undefined) resolve({ why: notStarted(error, file, cwd), code: null, started: false })
    })
    child.on('exit', (code, signal) => {
      resolve({ why: `it ended with ${signal ?? `exit code ${code}`}`, code, started: true })
    })
  })
}

const NOT_STARTED: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'it may not be executed',
}

/** A folder that is not there is reported as if the program were not. */
function notStarted(error: NodeJS.ErrnoException, file: string, cwd: string): string {
  if (!existsSync(cwd)) return `its folder ${cwd} does not exist`
  return `${JSON.stringify(file)} cannot be started: ${NOT_STARTED[error.code ?? ''] ?? error.message}`
}

const signalTo = (child: ChildProcess) => (signal: 'SIGTERM' | 'SIGKILL') => {
  if (child.pid === undefined) return
  if (!OWN_GROUP) return void child.kill(signal)
  try {
    process.kill(-child.pid, signal)
  } catch {
    // Nobody of the group is left.
  }
}

function isAlive(child: ChildProcess): boolean {
  if (child.pid === undefined) return false
  return OWN_GROUP ? isGroupAlive(child.pid) : child.exitCode === null && child.signalCode === null
}

const LOOK_EVERY_MS = 20

/** Asks it to end, and ends it when it or anything it started is still there after `withinMs`. */
export async function terminate(running: RunningProcess, withinMs: number): Promise<void> {
  running.signal('SIGTERM')
  const enough = new AbortController()
  const late = wallDelay(withinMs, enough.signal).then(() => enough.abort())
  await Promise.race([running.ended, late])
  while (running.alive && !enough.signal.aborted) await wallDelay(LOOK_EVERY_MS, enough.signal)
  enough.abort()
  await kill(running)
}

/** At once, with all it started. */
export async function kill(running: RunningProcess): Promise<void> {
  running.signal('SIGKILL')
  await running.ended
  untrack(running)
}

/** The end of what it said on both streams, at most `chars` of it. */
export function outputTail({ child }: RunningProcess, chars: number): () => string {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      said = (said + chunk).slice(-chars)
    })
  }
  return () => said.trim()
}

export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch {
    return false
  }
  return process.platform !== 'linux' || hasLiving(group)
}

/** The dead that nobody has collected yet, as happens in containers, are still members of their group. */
function hasLiving(group: number): boolean {
  try {
    return readdirSync('/proc').some(name => /^\d+$/.test(name) && isLiving(name, group))
  } catch {
    return true
  }
}

/** `123 (a name) S 1 123 ...`: state, parent, group. */
function isLiving(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(itsGroup) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}
