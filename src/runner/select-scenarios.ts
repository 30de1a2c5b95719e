/** Selects the scenarios of a run by name, tag and shard, and repeats them. */
import type { Plan } from '../scenario/plan.ts'

export interface Selection {
  /** Names or parts of names, case-insensitive. */
  readonly only: readonly string[]
  readonly tags: readonly string[]
  /** `1/4`: the first of four shards. */
  readonly shard: { readonly index: number; readonly of: number } | null
  readonly repeat: number
}

export interface SelectedScenario {
  readonly plan: Plan
  /** 1, 2 ... */
  readonly instance: number
}

export function select(plans: readonly Plan[], { only, tags, shard, repeat }: Selection): SelectedScenario[] {
  const named = plans.filter(plan => only.length === 0 || only.some(part => isNamed(plan, part)))
  const tagged = named.filter(plan => tags.length === 0 || tags.some(tag => plan.tags.includes(tag)))
  const share = tagged.filter((_, index) => shard === null || index % shard.of === shard.index - 1)
  return Array.from({ length: repeat }, (_, round) => share.map(plan => ({ plan, instance: round + 1 }))).flat()
}

const isNamed = ({ name }: Plan, part: string): boolean => name.toLowerCase().includes(part.toLowerCase())
