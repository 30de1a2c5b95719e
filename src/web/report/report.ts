/** A run as one HTML file that needs nothing else: no network, no server, and for reading no scripts. */
import type { RunResult } from '../../evaluator/verdict.ts'
import { counted } from '../../text/counted.ts'
import { entryMarkup } from './entry-details.ts'
import { failureCards } from './failure-cards.ts'
import { WORDS } from './icons.ts'
import { html, type Markup, type Part } from './markup.ts'
import { overview, verdictOf, warningsByRule } from './overview.ts'
import { page } from './page.ts'
import { inOrder, OUTCOMES } from './scenario-links.ts'
import { playSection } from './scenario-section.ts'
import { type Gathered, gatherEvidence } from './timeline-data.ts'
import { capEntry } from './truncate-entry.ts'

export function htmlReport(result: RunResult): string {
  const scenarios = inOrder(result.scenarios)
  const evidence = gatherEvidence(scenarios)
  const sections = scenarios.map((placed, index) =>
    playSection(placed, evidence[index]!, index === firstToOpen(scenarios)),
  )
  return page({
    title: verdictOf(result),
    version: result.version,
    parts: [overview(result), orphans(result), scenarioList(result, sections, evidence), warningsByRule(scenarios)],
  })
}

/** The first failure is open when the page is. */
const firstToOpen = (scenarios: ReturnType<typeof inOrder>) =>
  scenarios.findIndex(({ played }) => played.outcome === 'fail' || played.outcome === 'error')

export const scenarioList = (
  result: RunResult,
  sections: readonly Markup[],
  evidence: readonly Gathered[],
): Markup => html`
<section id="scenarios" aria-labelledby="scenarios-title" tabindex="-1">
<div class="bar-of-tools"><h2 id="scenarios-title">Scenarios</h2>${filter(result)}</div>
${leftOut(evidence)}
<div class="list-heads" aria-hidden="true"><span></span><span>Scenario</span><span>First failure</span><span>Took</span></div>
<div class="list">${sections}</div>
<p class="nothing" hidden>No scenario fits. <button type="button" class="link" data-filter-reset>Show all</button></p>
</section>`

const filter = ({ counts, scenarios }: RunResult): Markup => html`<form class="filter scripted-only" role="search">
<div role="group" aria-label="Outcome">${chip('all', 'all', scenarios.length, true)}${OUTCOMES.map(
  outcome => counts[outcome] > 0 && chip(outcome, WORDS[outcome], counts[outcome], false),
)}</div>
<input type="search" name="text" aria-label="Search in names, files, tags and failures" placeholder="Search" autocomplete="off" spellcheck="false">
</form>`

const chip = (value: string, words: string, count: number, pressed: boolean): Part =>
  html`<button type="button" class="chip ${value}" data-outcome="${value}" aria-pressed="${String(pressed)}">${words} <b>${count}</b></button>`

/** What a reader misses, and where it is. */
function leftOut(evidence: readonly Gathered[]): Part {
  const short = evidence.filter(({ kept }) => kept !== 'whole').length
  if (short === 0) return null
  const what = `Of ${counted(short, 'scenario')} not everything is in this report, which would be too large: payloads or the timeline are left out.`
  return html`<p class="left-out">${what} The journal of the run has all of it (<code>--report journal=FILE</code>).</p>`
}

const MOST_CARDS = 50
const MOST_ENTRIES = 50

export function orphans({ failures, journal }: RunResult): Part {
  if (failures.length === 0) return null
  const seqs = new Set(failures.flatMap(({ marks, nearest }) => [...marks, ...nearest.map(({ seq }) => seq)]))
  const entries = journal.filter(({ seq }) => seqs.has(seq)).slice(0, MOST_ENTRIES)
  const more = failures.length - MOST_CARDS
  return html`<section class="strays" aria-labelledby="strays-title">
<h2 id="strays-title">Outside of every scenario</h2>
${failureCards(failures.slice(0, MOST_CARDS), null)}
${more > 0 && html`<p class="left-out">${more} more are left out here.</p>`}
${entries.map(entry => html`<details class="still-entry"><summary>Entry #${entry.seq}</summary>${entryMarkup(capEntry(entry))}</details>`)}
</section>`
}
