/** Ends a run at the first signal of the process, or at its time limit. */

import { wallTimer } from '../base/runtime/clock.ts'
import type { EarlyEnd } from '../platform/journal/run-failures.ts'
import { InterruptedError } from '../running/runner/waiting.ts'
import type { Shutdown, Signal } from './io.ts'

/** The first signal ends the scenarios, and so does the time limit of the run; the reports are still written. */
export function listenForInterruption({ ended, defer }: Shutdown, timeoutMs: number | null) {
  const stop = new AbortController()
  const end = (why: EarlyEnd) => stop.abort(new InterruptedError(why))
  const timer =
    timeoutMs === null ? null : wallTimer(timeoutMs, () => end({ code: 'run_time_limit', limit_ms: timeoutMs }))
  defer(() => timer?.cancel())
  const received: Signal[] = []
  void ended.then(signal => {
    if (signal === 'request') return
    received.push(signal)
    end({ code: 'interrupted', signal })
  })
  return { signal: stop.signal, by: () => received[0] ?? null }
}
