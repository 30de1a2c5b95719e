/** Shows the list of scenarios, and the filter by outcome and words above it. */
import { OUTCOME_TEXTS } from '../../evaluator/wording/outcomes.ts'
import type { RunReport } from '../../evaluator/wording/report.ts'
import { counted } from '../../text/quantities.ts'
import { NothingFits, type OutcomeChip, ScenarioFilter } from './scenario-filter.tsx'
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
      <div class="scenario-tools">
        <h2 id="scenarios-title">Scenarios</h2>
        <div id="filter-place" class="scripted-only" data-chips={JSON.stringify(chips)}>
          <ScenarioFilter chips={chips} outcome="all" text="" />
        </div>
      </div>
      <LeftOut timelines={timelines} />
      <div class="scenario-heads" aria-hidden="true">
        <span />
        <span>Scenario</span>
        <span>First failure</span>
        <span>Took</span>
      </div>
      <div class="scenarios">
        {scenarios.map(({ scenario, slug }, index) => {
          const timeline = timelines[index]
          const shared = { scenario, slug, isOpen: index === opened }
          return timeline === undefined ? null : <ScenarioSection key={slug} {...shared} timeline={timeline} />
        })}
      </div>
      <div id="nothing-place">
        <NothingFits isShown={false} />
      </div>
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
