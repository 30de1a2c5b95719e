/** Loads something again: at most one load at a time, and one more when it was asked for meanwhile. */
import { wallDelay } from '../../../base/runtime/clock.ts'

/** Requests within `togetherMs` become one. After `ended`, nothing is loaded. */
export function createRefresh(load: () => Promise<void>, togetherMs: number, ended: AbortSignal): () => void {
  let isWaiting = false
  let last = Promise.resolve()
  return () => {
    if (isWaiting) return
    isWaiting = true
    last = last.then(async () => {
      await wallDelay(togetherMs, ended)
      isWaiting = false
      if (!ended.aborted) await load()
    })
  }
}
