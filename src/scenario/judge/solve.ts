/**
 * Which calls fill which wishes: `all` in any order, `seq` in order, `oneOf` by the way that is complete first. Exact,
 * not greedy: a call is never given away that another wish needs. Pure; calls are numbers in their order.
 */

export interface Wish {
  /** How many calls it needs. */
  readonly need: number
  /** Wishes that must be filled by earlier calls. */
  readonly after: readonly number[]
}

export interface Filled {
  /** Every need is met. */
  readonly met: boolean
  /** Calls of each wish, in their order. */
  readonly taken: readonly (readonly number[])[]
}

export type Fits = (wish: number, call: number) => boolean

/** With as few of the first calls as can be; when not all can be filled, as many as can. */
export function fill(wishes: readonly Wish[], calls: number, fits: Fits): Filled {
  if (wishes.length === 1) return firstOnes(wishes[0]!.need, calls, fits)
  const free = wishes.every(({ after }) => after.length === 0)
  return free ? inAnyOrder(wishes, calls, fits) : inOrder(wishes, calls, fits)
}

function firstOnes(need: number, calls: number, fits: Fits): Filled {
  const taken: number[] = []
  for (let call = 0; call < calls && taken.length < need; call++) if (fits(0, call)) taken.push(call)
  return { met: taken.length === need, taken: [taken] }
}

/** Bipartite matching by augmenting paths, the calls one by one: the first calls that can serve together do. */
function inAnyOrder(wishes: readonly Wish[], calls: number, fits: Fits): Filled {
  const seats = wishes.flatMap(({ need }, wish) => Array.from({ length: need }, () => wish))
  const sitting: (number | null)[] = seats.map(() => null)

  function place(call: number, tried: Set<number>): boolean {
    for (const [seat, wish] of seats.entries()) {
      if (tried.has(seat) || !fits(wish, call)) continue
      tried.add(seat)
      const other = sitting[seat] ?? null
      if (other !== null && !place(other, tried)) continue
      sitting[seat] = call
      return true
    }
    return false
  }

  for (let call = 0; call < calls && sitting.includes(null); call++) place(call, new Set())
  const taken = wishes.map((_, wish) =>
    sitting.filter((call, seat): call is number => call !== null && seats[seat] === wish).sort((a, b) => a - b),
  )
  return { met: !sitting.includes(null), taken }
}

/** What has been filled, and one way of doing it. */
interface State {
  readonly counts: readonly number[]
  readonly taken: readonly (readonly number[])[]
}

/** Every reachable state, call by call; of the ways to one state the first. */
function inOrder(wishes: readonly Wish[], calls: number, fits: Fits): Filled {
  const empty: State = { counts: wishes.map(() => 0), taken: wishes.map(() => []) }
  const states = new Map<string, State>([[keyOf(empty), empty]])
  const isFull = ({ counts }: State) => wishes.every(({ need }, wish) => counts[wish]! >= need)
  let best = empty
  for (let call = 0; call < calls && !isFull(best); call++) {
    for (const state of [...states.values()]) {
      for (const next of stepsFrom(state, call, wishes, fits)) {
        if (states.has(keyOf(next))) continue
        states.set(keyOf(next), next)
        if (sum(next.counts) > sum(best.counts)) best = next
      }
    }
  }
  return { met: isFull(best), taken: best.taken }
}

function stepsFrom(state: State, call: number, wishes: readonly Wish[], fits: Fits): State[] {
  const { counts, taken } = state
  const open = (wish: number) => counts[wish]! < wishes[wish]!.need
  return wishes.flatMap(({ after }, wish) => {
    if (!open(wish) || after.some(open) || !fits(wish, call)) return []
    return [{ counts: plusOne(counts, wish), taken: taken.map((list, at) => (at === wish ? [...list, call] : list)) }]
  })
}

const plusOne = (counts: readonly number[], at: number) =>
  counts.map((count, wish) => (wish === at ? count + 1 : count))
const keyOf = ({ counts }: State) => counts.join()
const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0)
