/** Waiting until the journal grows: woken by the append itself, never by polling. */
import type { Journal } from '../../journal/journal.ts'
import { wallTimer } from '../../runtime/clock.ts'

export interface JournalWaiter {
  /** Resolves with the next entry, at `untilMs` on the clock of `at_ms`, or when aborted: whichever is first. */
  next(untilMs: number, signal: AbortSignal): Promise<void>
  stop(): void
}

export function createJournalWaiter(journal: Journal): JournalWaiter {
  const waiting = new Set<() => void>()
  const stop = journal.subscribe(() => {
    for (const wake of [...waiting]) wake()
  })
  return {
    next: (untilMs, signal) =>
      new Promise(resolve => {
        const wake = () => {
          waiting.delete(wake)
          timer.cancel()
          signal.removeEventListener('abort', wake)
          resolve()
        }
        const timer = wallTimer(Math.max(0, untilMs - journal.atMs), wake)
        waiting.add(wake)
        signal.addEventListener('abort', wake, { once: true })
        if (signal.aborted) wake()
      }),
    stop,
  }
}
