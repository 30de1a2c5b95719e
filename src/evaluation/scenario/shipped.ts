/** Names the shipped scenarios, and groups them in the order in which an intermediary makes them pass. */
import { groupBy } from '../../base/objects.ts'
import type { Plan } from './plan.ts'

/** Begins the name of a shipped scenario: `builtin:happy-path.yaml`. Alone it names all of them. */
export const BUILTIN = 'builtin:'

/** Every shipped scenario has one of these tags. */
export const SCENARIO_GROUPS = {
  smoke: 'one conversation, from beginning to end',
  flow: 'what happens in a help desk every day',
  robustness: 'lost, late, repeated and forged messages, and restarts',
} as const

export type ScenarioGroup = keyof typeof SCENARIO_GROUPS
const NAMES = Object.keys(SCENARIO_GROUPS) as ScenarioGroup[]

/** Null for scenarios of the user, whatever their tags are. */
export const scenarioGroupOf = ({ file, tags }: Pick<Plan, 'file' | 'tags'>): ScenarioGroup | null =>
  file.startsWith(BUILTIN) ? (NAMES.find(name => tags.includes(name)) ?? null) : null

/** Scenarios of the user begin. */
export function scenarioGroupRank(scenario: Pick<Plan, 'file' | 'tags'>): number {
  const group = scenarioGroupOf(scenario)
  return group === null ? -1 : NAMES.indexOf(group)
}

/** In the order of the groups. Null are the scenarios of the user. */
export function byScenarioGroup<Scenario extends Pick<Plan, 'file' | 'tags'>>(
  scenarios: readonly Scenario[],
): [ScenarioGroup | null, readonly Scenario[]][] {
  const sorted = scenarios.toSorted((a, b) => scenarioGroupRank(a) - scenarioGroupRank(b))
  return [...groupBy(sorted, scenarioGroupOf)]
}

/** The group to go on with when this one passes; undefined after the last one. */
export const groupAfter = (group: ScenarioGroup): ScenarioGroup | undefined => NAMES[NAMES.indexOf(group) + 1]
