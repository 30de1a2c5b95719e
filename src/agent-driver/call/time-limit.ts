/** Work that has to end: by itself, when its time is over, or when the run is. */
import { wallTimer } from '../../runtime/clock.ts'

export type Cut = 'timeout' | 'stopped'

/** `work` is told by its signal, but not waited for. Rejects with what `work` rejects with. */
export function limited<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | Cut> {
  return new Promise((resolve, reject) => {
    if (outer.aborted) return resolve('stopped')
    const inner = new AbortController()
    const cut = (why: Cut) => {
      resolve(why)
      inner.abort()
    }
    const timer = wallTimer(timeoutMs, () => cut('timeout'))
    const stop = () => cut('stopped')
    outer.addEventListener('abort', stop, { once: true })
    work(inner.signal)
      .then(resolve, reject)
      .finally(() => {
        timer.cancel()
        outer.removeEventListener('abort', stop)
      })
  })
}
