/** Runs a program of the user in a process group of its own, so that the programs it starts end with it. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { wallDelay } from '../../base/runtime/clock.ts'
import { messageOf } from '../../base/text/error-text.ts'
import type { ProcessFailure } from '../../platform/journal/run-failures.ts'

export interface LaunchOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether the caller writes to its stdin. */
  readonly stdin?: boolean
  /** Whether it gets a channel of Node, whose end tells it that this process has ended, also by SIGKILL. */
  readonly channel?: boolean
  /** Whether it shares the terminal of this process, and nothing of its output is read. */
  readonly sharesTerminal?: boolean
}

export interface RunningProcess {
  readonly child: ChildProcess
  /** Resolves when the program ends, or when the system does not start it. Never rejects. */
  readonly ended: Promise<ProcessFailure>
  /** Signals the program and all programs it started. */
  signal(signal: NodeJS.Signals): void
  /** Whether any program of the group is alive. */
  readonly alive: boolean
}

export const isRunning = (launched: RunningProcess | ProcessFailure): launched is RunningProcess => 'child' in launched

const OWN_GROUP = process.platform !== 'win32'

/** Groups that are killed when this process ends. */
const groups = new Set<RunningProcess>()
const killAll = () => {
  for (const running of groups) running.signal('SIGKILL')
}

/** Returns the failure when the arguments cannot be passed to a program. */
export function launch({
  command,
  cwd,
  env,
  stdin = false,
  channel = false,
  sharesTerminal = false,
}: LaunchOptions): RunningProcess | ProcessFailure {
  const [file = '', ...args] = command
  try {
    const stdio: StdioOptions = sharesTerminal
      ? 'inherit'
      : [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(channel ? ['ipc' as const] : [])]
    const child = spawn(file, args, { cwd, env: { ...env }, detached: OWN_GROUP, stdio })
    // Keeps a group in the list until all of its programs have ended, or `killProcess` ends them.
    const ended = waitForEnd(child, file, cwd)
    const running: RunningProcess = {
      child,
      ended,
      signal: signal => {
        if (child.pid === undefined) return
        if (!OWN_GROUP) return void child.kill(signal)
        try {
          process.kill(-child.pid, signal)
        } catch {
          // All programs of the group have ended.
        }
      },
      get alive() {
        if (child.pid === undefined) return false
        return OWN_GROUP ? isGroupAlive(child.pid) : child.exitCode === null && child.signalCode === null
      },
    }
    if (groups.size === 0) process.on('exit', killAll)
    groups.add(running)
    void ended.then(() => running.alive || untrack(running))
    return running
  } catch (error) {
    return { code: 'program_not_started', program: file, detail: messageOf(error) }
  }
}

function untrack(running: RunningProcess): void {
  groups.delete(running)
  if (groups.size === 0) process.off('exit', killAll)
}

function waitForEnd(child: ChildProcess, program: string, cwd: string): Promise<ProcessFailure> {
  return new Promise(resolve => {
    child.on('error', error => {
      if (child.pid === undefined) resolve(notStarted(error, program, cwd))
    })
    child.on('exit', (exit_code, signal) => resolve({ code: 'exited', exit_code, signal }))
  })
}

/** The system reports whatever is missing as a missing program: the folder, and the interpreter of a script. */
function notStarted(error: NodeJS.ErrnoException, program: string, folder: string): ProcessFailure {
  if (!existsSync(folder)) return { code: 'folder_not_found', folder }
  const isThere = /[/\\]/.test(program) && existsSync(resolve(folder, program))
  if (error.code === 'ENOENT' && isThere) return { code: 'program_not_started', program, detail: INCOMPLETE }
  if (error.code === 'ENOENT') return { code: 'program_not_found', program }
  if (error.code === 'EACCES') return { code: 'program_not_executable', program }
  return { code: 'program_not_started', program, detail: error.message }
}

const INCOMPLETE =
  'the file exists, but the interpreter that its first line names does not, or its folder lies in an archive'

const POLL_MS = 20

/** Sends SIGTERM, and SIGKILL when a program of the group is alive after `withinMs`. */
export async function terminateProcess(running: RunningProcess, withinMs: number): Promise<void> {
  running.signal('SIGTERM')
  const enough = new AbortController()
  const timeLimit = wallDelay(withinMs, enough.signal).then(() => enough.abort())
  await Promise.race([running.ended, timeLimit])
  while (running.alive && !enough.signal.aborted) await wallDelay(POLL_MS, enough.signal)
  enough.abort()
  await killProcess(running)
}

/** Kills the program and all programs it started. Resolves when it has ended. */
export async function killProcess(running: RunningProcess): Promise<void> {
  running.signal('SIGKILL')
  await running.ended
  untrack(running)
}

function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  let names: readonly string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return true
  }
  // A process that has ended and that its parent did not collect, as in some containers, is still in its group.
  for (const pid of names) {
    if (!/^\d+$/.test(pid)) continue
    try {
      // `123 (a name) S 1 123 ...`: state, parent, group.
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(itsGroup) === group && state !== 'Z' && state !== 'X') return true
    } catch {
      // It has ended meanwhile.
    }
  }
  return false
}
