/** All scenarios under one another, with what narrows them down. */

import type { RunResult } from '../../evaluator/verdict.ts'
import { counted } from '../../text/counted.ts'
import type { Gathered } from './evidence.ts'
import { WORDS } from './icons.ts'
import { html, type Markup, type Part } from './markup.ts'
import { OUTCOMES } from './order.ts'

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

const filter = ({ counts, plays }: RunResult): Markup => html`<form class="filter scripted-only" role="search">
<div role="group" aria-label="Outcome">${chip('all', 'all', plays.length, true)}${OUTCOMES.map(
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
