/** How many plays go on at once; some want to be alone. */
export interface ConcurrencySlot {
  /** Only listening from here on: another one may begin, unless it wants to be alone. */
  quiet(): void
  leave(): void
}

export interface ConcurrencyLimiter {
  /** First come, first served. */
  take(alone: boolean): Promise<ConcurrencySlot>
}

interface Waiting {
  readonly alone: boolean
  readonly enter: (slot: ConcurrencySlot) => void
}

export function createConcurrencyLimiter(limit: number): ConcurrencyLimiter {
  const queue: Waiting[] = []
  let playing = 0
  let present = 0
  let someoneAlone = false

  const mayEnter = ({ alone }: Waiting) => !someoneAlone && (alone ? present === 0 : playing < limit)

  function letIn(): void {
    for (let first = queue[0]; first !== undefined && mayEnter(first); first = queue[0]) {
      queue.shift()
      playing++
      present++
      someoneAlone = first.alone
      first.enter(slotOf(first))
    }
  }

  function slotOf({ alone }: Waiting): ConcurrencySlot {
    const quiet = once(() => {
      playing--
      letIn()
    })
    const leave = once(() => {
      quiet()
      present--
      if (alone) someoneAlone = false
      letIn()
    })
    return { quiet, leave }
  }

  return {
    take: alone =>
      new Promise(enter => {
        queue.push({ alone, enter })
        letIn()
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
