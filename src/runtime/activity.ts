/** Counts what is in flight, so that others can wait until nothing is. */
export interface Activity {
  /** Something started; call what is returned when it has ended. */
  begin(): () => void
  readonly busy: boolean
  /** Resolves when the count is zero (at once if it is). */
  idle(): Promise<void>
  /** Counts from zero again: what started before does not count any more, however long it takes. */
  forget(): void
}

export function createActivity(): Activity {
  let running = 0
  let generation = 0
  let waiting: (() => void)[] = []

  function wakeIfIdle(): void {
    if (running > 0 || waiting.length === 0) return
    const ready = waiting
    waiting = []
    for (const resolve of ready) resolve()
  }

  return {
    begin() {
      const mine = generation
      running++
      return () => {
        if (mine !== generation) return
        running--
        wakeIfIdle()
      }
    },
    get busy() {
      return running > 0
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise(resolve => waiting.push(resolve))),
    forget() {
      generation++
      running = 0
      wakeIfIdle()
    },
  }
}
