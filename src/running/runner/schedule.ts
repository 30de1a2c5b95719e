/** Selects the scenarios of a run, and limits how many run at the same time. */
import type { Plan } from '../../evaluation/scenario/plan.ts'

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

/** Begins exclusive scenarios last, so that no other one waits for them. Resolves in the given order. */
export async function inTurn<Run>(
  wanted: readonly SelectedScenario[],
  jobs: number,
  run: (selected: SelectedScenario) => Promise<Run>,
): Promise<Run[]> {
  const isLast = ({ plan }: SelectedScenario) => Number(jobs > 1 && plan.exclusive !== null)
  const inOrder = wanted.toSorted((a, b) => isLast(a) - isLast(b))
  const ended = new Map(await Promise.all(inOrder.map(async one => [one, await run(one)] as const)))
  return wanted.map(one => ended.get(one)!)
}

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}

export interface Selection {
  /** Names or parts of names, case-insensitive. */
  readonly only: readonly string[]
  readonly skip: readonly string[]
  readonly tags: readonly string[]
  readonly notTags: readonly string[]
  /** `1/4`: the first of four shards. */
  readonly shard: { readonly index: number; readonly of: number } | null
  readonly repeat: number
}

export interface SelectedScenario {
  readonly plan: Plan
  /** 1, 2 ... */
  readonly instance: number
}

export function select(plans: readonly Plan[], selection: Selection): SelectedScenario[] {
  const { only, skip, tags, notTags, shard, repeat } = selection
  const chosen = plans.filter(
    plan =>
      (only.length === 0 || only.some(part => isNamed(plan, part))) &&
      (tags.length === 0 || tags.some(tag => isTagged(plan, tag))) &&
      !skip.some(part => isNamed(plan, part)) &&
      !notTags.some(tag => isTagged(plan, tag)),
  )
  const share = chosen.filter((_, index) => shard === null || index % shard.of === shard.index - 1)
  return Array.from({ length: repeat }, (_, round) => share.map(plan => ({ plan, instance: round + 1 }))).flat()
}

/** Whether the name contains the part, in upper or lower case. */
export const isNamed = ({ name }: Plan, part: string): boolean => name.toLowerCase().includes(part.toLowerCase())

export const isTagged = ({ tags }: Plan, tag: string): boolean => tags.includes(tag)
