/** What stands between two resets. Work begun in one epoch must not reach the next. */
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
