/** Shows the list of scenarios, and the filter by outcome and words above it. */

import { counted } from '../../../base/text/quantities.ts'
import { OUTCOME_TEXTS } from '../../../evaluation/evaluator/wording/outcomes.ts'
import type { RunReport } from '../../../evaluation/evaluator/wording/report.ts'
import { FilterPlace, NothingPlace, type OutcomeChip } from './result-filter.tsx'
import { type LinkedScenario, OUTCOME_ORDER } from './scenario-links.ts'
import { ScenarioSection } from './scenario-section.tsx'
import type { TimelineData } from './timeline-data.tsx'

export interface ReportScenariosProps {
  readonly result: RunReport
  readonly scenarios: readonly LinkedScenario[]
  readonly timelines: readonly TimelineData[]
}

export function ReportScenarios({ result, scenarios, timelines }: ReportScenariosProps) {
  const chips = chipsOf(result)
  const opened = scenarios.findIndex(({ scenario: { outcome } }) => outcome === 'fail' || outcome === 'error')
  return (
    <section id="scenarios" aria-labelledby="scenarios-title" tabIndex={-1}>
      <div class="result-tools">
        <h2 id="scenarios-title">Scenarios</h2>
        <FilterPlace chips={chips} noun="scenario" />
      </div>
      <LeftOut timelines={timelines} />
      <div class="result-heads" aria-hidden="true">
        <span />
        <span>Scenario</span>
        <span>First failure</span>
        <span>Took</span>
      </div>
      <div class="results">
        {scenarios.map(({ scenario, slug }, index) => {
          const timeline = timelines[index]
          const shared = { scenario, slug, isOpen: index === opened }
          return timeline === undefined ? null : <ScenarioSection key={slug} {...shared} timeline={timeline} />
        })}
      </div>
      <NothingPlace noun="scenario" />
    </section>
  )
}

const chipsOf = ({ counts, scenarios }: RunReport): OutcomeChip[] => [
  { outcome: 'all', text: 'all', count: scenarios.length },
  ...OUTCOME_ORDER.filter(outcome => counts[outcome] > 0).map(outcome => ({
    outcome,
    text: OUTCOME_TEXTS[outcome],
    count: counts[outcome],
  })),
]

/** Says for how many scenarios data is left out, and where all of it is. */
function LeftOut({ timelines }: Pick<ReportScenariosProps, 'timelines'>) {
  const short = timelines.filter(({ level }) => level !== 'whole').length
  if (short === 0) return null
  return (
    <p class="report-left-out">
      Of {counted(short, 'scenario')} not everything is in this report, which would be too large: payloads or the
      timeline are left out. The journal of the run has all of it (<code>--report journal=FILE</code>).
    </p>
  )
}
