/** Which plays a run has: by name, tag and share, each as often as wished. */
import type { Plan } from '../scenario/plan.ts'

export interface Selection {
  /** Names, or parts of them, without regard to case. */
  readonly only: readonly string[]
  readonly tags: readonly string[]
  /** `1/4`: the first of four shares. */
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
