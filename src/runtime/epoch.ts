/** Counts resets, so that work from before a reset can be recognized and aborted. */
export interface Epoch {
  /** Grows with every reset. */
  current(): number
  /** Aborts when this epoch ends. */
  signal(): AbortSignal
  next(): void
}

export function createEpoch(): Epoch {
  let count = 0
  let ending = new AbortController()
  return {
    current: () => count,
    signal: () => ending.signal,
    next() {
      count++
      ending.abort()
      ending = new AbortController()
    },
  }
}
