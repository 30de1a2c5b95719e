/** Renders a run as one HTML file that loads nothing and is readable without scripts. */
import type { RunReport } from '../../evaluator/wording/report.ts'
import { counted } from '../../text/quantities.ts'
import { OUTCOME_TEXTS } from '../../wording/outcomes.ts'
import { entryMarkup } from './entry-details.ts'
import { failureCards } from './failure-cards.ts'
import { html, type Markup, type Part } from './markup.ts'
import { overview, verdictHeading, warningsByRule } from './overview.ts'
import { page } from './page.ts'
import { linkScenarios, OUTCOME_ORDER } from './scenario-links.ts'
import { scenarioSection } from './scenario-section.ts'
import { collectTimelineData, type TimelineData } from './timeline-data.ts'
import { truncateEntry } from './truncate-entry.ts'

export function htmlReport(result: RunReport): string {
  const scenarios = linkScenarios(result.scenarios)
  const timeline = collectTimelineData(scenarios)
  const sections = scenarios.map((linked, index) =>
    scenarioSection(linked, timeline[index]!, index === indexToOpen(scenarios)),
  )
  return page({
    title: verdictHeading(result),
    version: result.version,
    parts: [
      overview(result),
      outsideSection(result),
      scenarioList(result, sections, timeline),
      warningsByRule(scenarios),
    ],
  })
}

/** The first failed scenario is open when the page loads. */
const indexToOpen = (scenarios: ReturnType<typeof linkScenarios>) =>
  scenarios.findIndex(({ scenario }) => scenario.outcome === 'fail' || scenario.outcome === 'error')

export const scenarioList = (
  result: RunReport,
  sections: readonly Markup[],
  timeline: readonly TimelineData[],
): Markup => html`
<section id="scenarios" aria-labelledby="scenarios-title" tabindex="-1">
<div class="bar-of-tools"><h2 id="scenarios-title">Scenarios</h2>${filter(result)}</div>
${leftOut(timeline)}
<div class="list-heads" aria-hidden="true"><span></span><span>Scenario</span><span>First failure</span><span>Took</span></div>
<div class="list">${sections}</div>
<p class="nothing" hidden>No scenario fits. <button type="button" class="link" data-filter-reset>Show all</button></p>
</section>`

const filter = ({ counts, scenarios }: RunReport): Markup => html`<form class="filter scripted-only" role="search">
<div role="group" aria-label="Outcome">${chip('all', 'all', scenarios.length, true)}${OUTCOME_ORDER.map(
  outcome => counts[outcome] > 0 && chip(outcome, OUTCOME_TEXTS[outcome], counts[outcome], false),
)}</div>
<input type="search" name="text" aria-label="Search in names, files, tags and failures" placeholder="Search" autocomplete="off" spellcheck="false">
</form>`

const chip = (value: string, words: string, count: number, pressed: boolean): Part =>
  html`<button type="button" class="chip ${value}" data-outcome="${value}" aria-pressed="${String(pressed)}">${words} <b>${count}</b></button>`

/** Says for how many scenarios data is left out, and where all of it is. */
function leftOut(timeline: readonly TimelineData[]): Part {
  const short = timeline.filter(({ level }) => level !== 'whole').length
  if (short === 0) return null
  const what = `Of ${counted(short, 'scenario')} not everything is in this report, which would be too large: payloads or the timeline are left out.`
  return html`<p class="left-out">${what} The journal of the run has all of it (<code>--report journal=FILE</code>).</p>`
}

const MAX_CARDS = 50
const MAX_ENTRIES = 50

export function outsideSection({ failures, journal }: RunReport): Part {
  if (failures.length === 0) return null
  const seqs = new Set(failures.flatMap(({ entrySeqs, nearest }) => [...entrySeqs, ...nearest.map(({ seq }) => seq)]))
  const entries = journal.filter(({ seq }) => seqs.has(seq)).slice(0, MAX_ENTRIES)
  const more = failures.length - MAX_CARDS
  return html`<section class="outside-scenarios" aria-labelledby="outside-title">
<h2 id="outside-title">Outside of every scenario</h2>
${failureCards(failures.slice(0, MAX_CARDS), null)}
${more > 0 && html`<p class="left-out">${more} more are left out here.</p>`}
${entries.map(entry => html`<details class="static-entry"><summary>Entry #${entry.seq}</summary>${entryMarkup(truncateEntry(entry))}</details>`)}
</section>`
}
