/** Assigns calls to the requirements of an `expect`. */

export interface Requirement {
  /** How many calls it needs. */
  readonly need: number
  /** Requirements that earlier calls must fill. */
  readonly after: readonly number[]
}

export interface Assignment {
  /** Every need is met. */
  readonly met: boolean
  /** Calls of each requirement, in their order. */
  readonly taken: readonly (readonly number[])[]
}

export type Fits = (requirement: number, call: number) => boolean

/** With as few of the first calls as can be; when not all can be filled, as many as can. */
export function fillRequirements(requirements: readonly Requirement[], calls: number, fits: Fits): Assignment {
  const [only, ...more] = requirements
  if (only !== undefined && more.length === 0) {
    const taken: number[] = []
    for (let call = 0; call < calls && taken.length < only.need; call++) if (fits(0, call)) taken.push(call)
    return { met: taken.length === only.need, taken: [taken] }
  }
  const isFree = requirements.every(({ after }) => after.length === 0)
  return isFree ? fillInAnyOrder(requirements, calls, fits) : fillInOrder(requirements, calls, fits)
}

/** Bipartite matching by augmenting paths, the calls one by one: the first calls that can serve together do. */
function fillInAnyOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Assignment {
  // A slot for each call that a requirement needs.
  const slots: number[] = []
  for (const [requirement, { need }] of requirements.entries())
    for (let count = 0; count < need; count++) slots.push(requirement)
  const assigned: (number | null)[] = slots.map(() => null)

  function place(call: number, tried: Set<number>): boolean {
    for (const [slot, requirement] of slots.entries()) {
      if (tried.has(slot) || !fits(requirement, call)) continue
      tried.add(slot)
      const displaced = assigned[slot] ?? null
      if (displaced !== null && !place(displaced, tried)) continue
      assigned[slot] = call
      return true
    }
    return false
  }

  for (let call = 0; call < calls && assigned.includes(null); call++) place(call, new Set())
  const taken: number[][] = requirements.map(() => [])
  for (const [slot, call] of assigned.entries()) if (call !== null) taken[slots[slot] ?? 0]?.push(call)
  for (const list of taken) list.sort((a, b) => a - b)
  return { met: !assigned.includes(null), taken }
}

/** How many calls each requirement has, and one assignment that leads there. */
interface State {
  readonly counts: readonly number[]
  readonly total: number
  readonly taken: readonly (readonly number[])[]
}

/** Extends every useful state call by call; of several ways to one state, the first stays. */
function fillInOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Assignment {
  const need = requirements.reduce((sum, requirement) => sum + requirement.need, 0)
  const equals = equalRequirements(requirements, calls, fits)
  let states: readonly State[] = [{ counts: requirements.map(() => 0), total: 0, taken: requirements.map(() => []) }]
  let [best] = states as [State]
  for (let call = 0; call < calls && best.total < need; call++) {
    const next: State[] = []
    for (const state of states) {
      const extended = extendState(state, call, requirements, fits, equals)
      next.push(...(extended.length > 0 ? extended : [state]))
    }
    states = dropDominated(next)
    for (const state of states) if (state.total > best.total) best = state
  }
  return { met: best.total === need, taken: best.taken }
}

/** The states after one more call: one for each requirement that can take it. */
function extendState(
  { counts, total, taken }: State,
  call: number,
  requirements: readonly Requirement[],
  fits: Fits,
  equals: readonly number[],
): State[] {
  const isOpen = (requirement: number) => (counts[requirement] ?? 0) < (requirements[requirement]?.need ?? 0)
  const states: State[] = []
  for (const [requirement, { after }] of requirements.entries()) {
    if (!isOpen(requirement) || after.some(isOpen) || !fits(requirement, call)) continue
    // Equal requirements are filled one after the other.
    const earlier = equals.findIndex(
      (first, otherRequirement) => first === equals[requirement] && isOpen(otherRequirement),
    )
    if (earlier < requirement) continue
    states.push({
      counts: counts.with(requirement, (counts[requirement] ?? 0) + 1),
      total: total + 1,
      taken: taken.with(requirement, [...(taken[requirement] ?? []), call]),
    })
  }
  return states
}

/** Drops a state when another one has all its calls and more: so a call that fits is always used. */
function dropDominated(states: readonly State[]): State[] {
  const useful: State[] = []
  for (const state of states.toSorted((a, b) => b.total - a.total)) {
    const isDominated = useful.some(({ counts }) => state.counts.every((count, at) => (counts[at] ?? 0) >= count))
    if (!isDominated) useful.push(state)
  }
  return states.filter(state => useful.includes(state))
}

/** For each requirement the first that equals it: the order in which equal ones are filled does not matter. */
function equalRequirements(requirements: readonly Requirement[], calls: number, fits: Fits): number[] {
  const keys: string[] = []
  for (const [requirement, { need, after }] of requirements.entries()) {
    let key = `${need} ${after} `
    for (const [followerIndex, follower] of requirements.entries())
      if (follower.after.includes(requirement)) key += `${followerIndex},`
    for (let call = 0; call < calls; call++) key += fits(requirement, call) ? '1' : '0'
    keys.push(key)
  }
  return keys.map(key => keys.indexOf(key))
}
