/** Selects the scenarios of a run, groups the shipped ones, and limits how many run at the same time. */
import { groupBy, keysOf } from '../../base/objects.ts'
import { BUILTIN } from '../../evaluation/scenario/load/find.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'

export interface ConcurrencySlot {
  /** Lets another item start before this one is closed. An exclusive one still waits for `close`. */
  releaseSlot(): void
  close(): void
}

export interface ScheduleOptions<Item> {
  /** How many run at the same time. */
  readonly jobs: number
  /** Items of a higher rank begin later. */
  readonly rankOf?: (item: Item) => number
  /** Whether no other may run at the same time. */
  readonly isExclusive?: (item: Item) => boolean
}

/** Runs each item once, in the order of their ranks. Resolves with the results in the order of the items. */
export async function runConcurrently<Item, Result>(
  items: readonly Item[],
  { jobs, rankOf = () => 0, isExclusive = () => false }: ScheduleOptions<Item>,
  run: (item: Item, slot: ConcurrencySlot) => Promise<Result>,
): Promise<Result[]> {
  const takeSlot = createConcurrencyLimiter(jobs)
  const runInSlot = async (item: Item) => {
    const slot = await takeSlot(isExclusive(item))
    try {
      return await run(item, slot)
    } finally {
      slot.close()
    }
  }
  const runs = new Map<Item, Promise<Result>>()
  for (const item of items.toSorted((a, b) => rankOf(a) - rankOf(b))) runs.set(item, runInSlot(item))
  return Promise.all(items.map(item => runs.get(item)!))
}

/** Resolves with a slot in the order of the calls. Each slot is closed once. */
function createConcurrencyLimiter(limit: number): (isExclusive: boolean) => Promise<ConcurrencySlot> {
  const queue: { readonly isExclusive: boolean; readonly enter: (slot: ConcurrencySlot) => void }[] = []
  let running = 0
  let open = 0
  let isExclusiveRunning = false

  function admit(): void {
    for (let [first] = queue; first !== undefined; [first] = queue) {
      const { isExclusive, enter } = first
      if (isExclusiveRunning || (isExclusive ? open > 0 : running >= limit)) return
      queue.shift()
      running++
      open++
      isExclusiveRunning = isExclusive
      let isReleased = false
      const releaseSlot = () => {
        if (isReleased) return
        isReleased = true
        running--
        admit()
      }
      const close = () => {
        releaseSlot()
        open--
        if (isExclusive) isExclusiveRunning = false
        admit()
      }
      enter({ releaseSlot, close })
    }
  }

  return isExclusive =>
    new Promise(enter => {
      queue.push({ isExclusive, enter })
      admit()
    })
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

/** In the order of the run: shipped scenarios by their groups, after others. */
export function select(plans: readonly Plan[], selection: Selection): SelectedScenario[] {
  const { only, skip, tags, notTags, shard, repeat } = selection
  const isNamedBy = (plan: Plan, parts: readonly string[]) => parts.some(part => isNamed(plan, part))
  const hasOne = (plan: Plan, names: readonly string[]) => names.some(tag => isTagged(plan, tag))
  const chosen: Plan[] = []
  for (const plan of plans) {
    if (only.length > 0 && !isNamedBy(plan, only)) continue
    if (tags.length > 0 && !hasOne(plan, tags)) continue
    if (!isNamedBy(plan, skip) && !hasOne(plan, notTags)) chosen.push(plan)
  }
  const selected: SelectedScenario[] = []
  for (let instance = 1; instance <= repeat; instance++)
    for (const [index, plan] of chosen.entries())
      if (shard === null || index % shard.of === shard.index - 1) selected.push({ plan, instance })
  return selected.sort((a, b) => scenarioGroupRank(a.plan) - scenarioGroupRank(b.plan))
}

/** Whether the name contains the part, in upper or lower case, with spaces or hyphens. */
export function isNamed({ name }: Plan, part: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll('-', ' ')
  return plain(name).includes(plain(part))
}

export const isTagged = ({ tags }: Plan, tag: string): boolean => tags.includes(tag)

/** Every shipped scenario has one of these tags. They are in the order in which an intermediary makes them pass. */
export const SCENARIO_GROUPS = {
  smoke: 'one conversation, from beginning to end',
  flow: 'what happens in a help desk every day',
  robustness: 'lost, late, repeated and forged messages, and restarts',
} as const

export type ScenarioGroup = keyof typeof SCENARIO_GROUPS
const GROUP_NAMES = keysOf(SCENARIO_GROUPS)

type Tagged = Pick<Plan, 'file' | 'tags'>

/** Null for scenarios of the user, whatever their tags are. */
const scenarioGroupOf = ({ file, tags }: Tagged): ScenarioGroup | null =>
  file.startsWith(BUILTIN) ? (GROUP_NAMES.find(name => tags.includes(name)) ?? null) : null

/** Scenarios of the user begin. */
export function scenarioGroupRank(scenario: Tagged): number {
  const group = scenarioGroupOf(scenario)
  return group === null ? -1 : GROUP_NAMES.indexOf(group)
}

/** In the order of the groups. Null are the scenarios of the user. */
export function byScenarioGroup<Scenario extends Tagged>(
  scenarios: readonly Scenario[],
): [ScenarioGroup | null, readonly Scenario[]][] {
  const sorted = scenarios.toSorted((a, b) => scenarioGroupRank(a) - scenarioGroupRank(b))
  return [...groupBy(sorted, scenarioGroupOf)]
}

/** The group to go on with when this one passes; undefined after the last one. */
export const groupAfter = (group: ScenarioGroup): ScenarioGroup | undefined =>
  GROUP_NAMES[GROUP_NAMES.indexOf(group) + 1]
