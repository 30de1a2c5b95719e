/** Runs a command that ends with this process, also when this process is killed: a process beside it watches. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ProcessFailure } from '../platform/journal/run-failures.ts'
import type { LaunchOptions } from '../running/agent-driver/process-group.ts'
import type { GuardRequest, GuardResponse } from './guard-process.ts'

const GUARD = new URL(import.meta.url.endsWith('.ts') ? './guard-process.ts' : '../guard-process.cjs', import.meta.url)

export class GuardedCommand {
  /** Resolves with how the command ended. Never rejects. */
  readonly ended: Promise<ProcessFailure>
  /** Whether this process has ended it. */
  isStopped = false
  readonly #guard: ChildProcess
  /** The group of the command. */
  #pid: number | null = null

  /** Starts the process that watches. */
  constructor() {
    // In a session of its own, so that a signal of the terminal reaches the command once, through this process.
    this.#guard = spawn(process.execPath, [fileURLToPath(GUARD)], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      detached: true,
      windowsHide: true,
    })
    this.ended = new Promise(resolve => {
      this.#guard.on('message', (response: GuardResponse) => {
        if (response.type === 'started') this.#pid = response.pid
        else {
          // Another group may get the number.
          this.#pid = null
          resolve(response.how)
        }
      })
      this.#guard.on('error', error =>
        resolve({ code: 'program_not_started', program: process.execPath, detail: error.message }),
      )
      this.#guard.on('exit', (exit_code, signal) => {
        this.#killGroup()
        resolve({ code: 'exited', exit_code, signal })
      })
    })
  }

  /** Starts the command. `graceMs`: how long it may take to end after a signal. */
  run(launch: LaunchOptions, graceMs: number): void {
    this.#send({ type: 'run', launch, graceMs })
  }

  signal(signal: NodeJS.Signals): void {
    this.#send({ type: 'signal', signal })
  }

  /** Ends the command and all programs that it started: with SIGTERM, and with SIGKILL after the time of grace. */
  async stop(): Promise<void> {
    this.isStopped = true
    this.#send({ type: 'stop' })
    await this.ended
  }

  kill(): void {
    this.isStopped = true
    this.#guard.kill('SIGKILL')
    this.#killGroup()
  }

  #killGroup(): void {
    if (this.#pid === null || process.platform === 'win32') return
    try {
      process.kill(-this.#pid, 'SIGKILL')
    } catch {
      // All programs of the group have ended.
    }
  }

  #send(request: GuardRequest): void {
    if (this.#guard.connected) this.#guard.send(request, () => {})
  }
}
