/** Stops what a command has started: the first signal drains, the second one forces. */
import { type Io, SIGNAL_CODES, type Signal } from './io.ts'

export interface Shutdown {
  /** Resolves with the first signal. */
  readonly signalled: Promise<Signal>
  /** `force` is the way out when there is no time; by default there is nothing to force. */
  defer(undo: () => void | Promise<void>, force?: () => void): void
  /** Undoes everything, latest first. What is not yet undone can still be forced. */
  run(): Promise<void>
}

export function createShutdown(io: Io): Shutdown {
  const deferred: { undo(): void | Promise<void>; force?: (() => void) | undefined }[] = []
  let first: (signal: Signal) => void
  const signalled = new Promise<Signal>(resolve => {
    first = resolve
  })
  let count = 0
  const unwatch = io.onSignal(signal => {
    if (++count === 1) return first(signal)
    for (const { force } of deferred) force?.()
    io.exit(SIGNAL_CODES[signal])
  })
  return {
    signalled,
    defer: (undo, force) => void deferred.push({ undo, force }),
    async run() {
      for (let last = deferred.at(-1); last !== undefined; last = deferred.at(-1)) {
        await last.undo()
        deferred.pop()
      }
      unwatch()
    },
  }
}
