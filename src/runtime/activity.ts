/** Counts what is in flight, so that others can wait until nothing is. */
export interface Activity {
  begin(): void
  end(): void
  readonly busy: boolean
  /** Resolves when the count is zero (at once if it is). */
  idle(): Promise<void>
}

export function createActivity(): Activity {
  let running = 0
  let waiting: (() => void)[] = []
  return {
    begin: () => void running++,
    end() {
      running--
      if (running > 0 || waiting.length === 0) return
      const ready = waiting
      waiting = []
      for (const resolve of ready) resolve()
    },
    get busy() {
      return running > 0
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise(resolve => waiting.push(resolve))),
  }
}
