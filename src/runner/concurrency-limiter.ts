/** Limits how many scenarios run at the same time. An exclusive scenario runs alone. */
export interface ConcurrencySlot {
  /** The steps have ended, so that another scenario may start. An exclusive scenario still waits for `close`. */
  releaseSlot(): void
  close(): void
}

export interface ConcurrencyLimiter {
  /** Resolves when the scenario may start, in the order of the calls. */
  take(exclusive: boolean): Promise<ConcurrencySlot>
}

interface Waiting {
  readonly exclusive: boolean
  readonly enter: (slot: ConcurrencySlot) => void
}

export function createConcurrencyLimiter(limit: number): ConcurrencyLimiter {
  const queue: Waiting[] = []
  let running = 0
  let open = 0
  let exclusiveRunning = false

  const mayStart = ({ exclusive }: Waiting) => !exclusiveRunning && (exclusive ? open === 0 : running < limit)

  function admit(): void {
    for (let first = queue[0]; first !== undefined && mayStart(first); first = queue[0]) {
      queue.shift()
      running++
      open++
      exclusiveRunning = first.exclusive
      first.enter(slotOf(first))
    }
  }

  function slotOf({ exclusive }: Waiting): ConcurrencySlot {
    const releaseSlot = once(() => {
      running--
      admit()
    })
    const close = once(() => {
      releaseSlot()
      open--
      if (exclusive) exclusiveRunning = false
      admit()
    })
    return { releaseSlot, close }
  }

  return {
    take: exclusive =>
      new Promise(enter => {
        queue.push({ exclusive, enter })
        admit()
      }),
  }
}

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
