/** Filters scenarios by text, tag and outcome, and counts their outcomes. */

import { counted } from '../../../base/text/quantities.ts'
import { OUTCOME_TEXTS } from '../../../evaluation/evaluator/wording/outcomes.ts'
import type { CatalogueScenario, ScenarioStatus } from '../../../running/ui-mode/protocol.ts'
import { OUTCOME_FILTERS, type OutcomeFilter } from './ui-address.ts'
import type { UiState } from './ui-state.ts'

export const OUTCOME_NAMES = { ...OUTCOME_TEXTS, none: 'not run' }

/** Of the last run; a scenario that a run skipped was not run. */
export function outcomeOfStatus(status: ScenarioStatus | undefined): OutcomeFilter {
  const outcome = status?.last?.outcome ?? 'none'
  return outcome === 'skipped' ? 'none' : outcome
}

type ShownStatus = (name: string) => ScenarioStatus | undefined

/** The test of the filter; null when everything is shown. A scenario that is running keeps its place in the list. */
export function filterOf({
  view,
  statuses,
}: Pick<UiState, 'view' | 'statuses'>): ((scenario: CatalogueScenario) => boolean) | null {
  const text = view.text.value.trim().toLowerCase()
  const [tag, outcome] = [view.tag.value, view.outcome.value]
  if (text === '' && tag === '' && outcome === null) return null
  const statusOf: ShownStatus = name => statuses.value.get(name)
  return scenario =>
    (text === '' ||
      [scenario.name, scenario.file, scenario.description, ...scenario.spec].join('\n').toLowerCase().includes(text)) &&
    (tag === '' || scenario.tags.includes(tag)) &&
    (outcome === null || outcomeOfStatus(statusOf(scenario.name)) === outcome)
}

export function shownScenarios(ui: UiState): readonly CatalogueScenario[] {
  const scenarios = ui.catalogue.value?.scenarios ?? []
  const filter = filterOf(ui)
  return filter === null ? scenarios : scenarios.filter(filter)
}

export function countOutcomes({ catalogue, statuses }: UiState): Readonly<Record<OutcomeFilter, number>> {
  const counts = { pass: 0, fail: 0, error: 0, inconclusive: 0, none: 0 }
  for (const { name } of catalogue.value?.scenarios ?? []) counts[outcomeOfStatus(statuses.value.get(name))]++
  return counts
}

/** `3 scenarios: 2 passed, 1 failed` */
export function summaryOfOutcomes(ui: UiState): string {
  const counts = countOutcomes(ui)
  const parts = OUTCOME_FILTERS.filter(one => counts[one] > 0).map(one => `${counts[one]} ${OUTCOME_NAMES[one]}`)
  return `${counted(ui.catalogue.value?.scenarios.length ?? 0, 'scenario')}: ${parts.join(', ') || 'none'}`
}

export const tagsOf = ({ catalogue }: UiState): string[] =>
  [...new Set((catalogue.value?.scenarios ?? []).flatMap(({ tags }) => tags))].sort()
