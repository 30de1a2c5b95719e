/** Waits for an entry without polling: resolves with an existing entry or with a later append. */
import { type Timer, wallTimer } from '../../base/runtime/clock.ts'
import { isError } from '../../base/text/error-text.ts'
import type { Entry } from './entry.ts'

export interface JournalWaitOptions {
  /** Considers only entries with a greater `seq`. Default 0: all entries. */
  readonly after?: number
  /** Wall-clock milliseconds; without it the wait has no timeout. */
  readonly withinMs?: number
  readonly signal?: AbortSignal
}

/** No matching entry was appended in time. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'
}

interface Waiter {
  readonly match: (entry: Entry) => boolean
  readonly after: number
  readonly done: (result: Entry | Error) => void
}

/** A condition that throws rejects only its own wait. */
function offerTo(waiter: Waiter, entry: Entry): void {
  try {
    if (entry.seq > waiter.after && waiter.match(entry)) waiter.done(entry)
  } catch (error) {
    waiter.done(isError(error) ? error : new Error(String(error)))
  }
}

export function createWaiters(since: (after: number) => Iterable<Entry>) {
  const waiting = new Set<Waiter>()

  function settleLater(match: Waiter['match'], options: JournalWaitOptions): Promise<Entry> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined
      const done = (result: Entry | Error) => {
        waiting.delete(waiter)
        timer?.cancel()
        options.signal?.removeEventListener('abort', onAbort)
        isError(result) ? reject(result) : resolve(result)
      }
      const onAbort = () => done(new WaitTimeoutError('Stopped waiting: aborted.'))
      const waiter = { match, after: options.after ?? 0, done }
      if (options.signal?.aborted) return onAbort()
      waiting.add(waiter)
      options.signal?.addEventListener('abort', onAbort, { once: true })
      const { withinMs } = options
      if (withinMs === undefined) return
      timer = wallTimer(withinMs, () => done(new WaitTimeoutError(`No matching entry within ${withinMs} ms.`)))
    })
  }

  return {
    isWaiting: () => waiting.size > 0,
    offer(entry: Entry): void {
      if (waiting.size === 0) return
      for (const waiter of [...waiting]) offerTo(waiter, entry)
    },
    async waitFor(match: Waiter['match'], options: JournalWaitOptions = {}): Promise<Entry> {
      for (const entry of since(options.after ?? 0)) if (match(entry)) return entry
      return settleLater(match, options)
    },
    abandon(): void {
      for (const waiter of [...waiting]) waiter.done(new Error('The simulator was reset while waiting.'))
    },
  }
}
