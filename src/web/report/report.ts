/** Renders a run as one HTML file that loads nothing and is readable without scripts. */
import { groupBy } from '../../contract/objects.ts'
import type { Outcome } from '../../evaluator/verdict.ts'
import type { CauseReport } from '../../evaluator/wording/causes.ts'
import { exitCodeText, OUTCOME_TEXTS } from '../../evaluator/wording/outcomes.ts'
import type { RunReport, WarningReport } from '../../evaluator/wording/report.ts'
import { counted } from '../../text/quantities.ts'
import { formatMs } from '../../text/terminal-text.ts'
import { truncateEntry } from '../model/entry-sections.ts'
import { moment } from '../model/formats.ts'
import { entryMarkup } from './entry-details.ts'
import { failureCards } from './failure-cards.ts'
import { exact, html, type Markup, type Part } from './markup.ts'
import { page } from './page.ts'
import { type LinkedScenario, linkScenarios, linkTo, OUTCOME_ORDER } from './scenario-links.ts'
import { collectTimelineData, scenarioSection, type TimelineData } from './scenario-section.ts'

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
      sharedCauses(result, scenarios),
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

/** `2 of 6 scenarios failed`, `All 6 scenarios passed`. */
export function verdictHeading({ counts, scenarios, failures, stopped }: RunReport): string {
  const all = scenarios.length
  if (counts.fail > 0) return `${counts.fail} of ${counted(all, 'scenario')} failed`
  if (counts.error > 0)
    return `${counts.error} of ${counted(all, 'scenario')} could not be judged: an error around them`
  if (failures.length > 0) return `${counted(failures.length, 'failure')} outside of every scenario`
  if (stopped !== null) return `Stopped: ${counts.pass} of ${counted(all, 'scenario')} passed until then`
  if (counts.pass === 0) return all === 0 ? 'No scenario was played' : 'Nothing was decided'
  if (counts.pass < all) return `${counts.pass} of ${counted(all, 'scenario')} passed, none failed`
  return all === 1 ? 'The scenario passed' : `All ${all} scenarios passed`
}

export const overview = (result: RunReport): Markup => html`<header class="top">
<p class="brand">handover-sim <span>scenario report</span></p>
<h1>${verdictHeading(result)}</h1>
${result.stopped !== null && html`<p class="stopped"><strong>Stopped early.</strong> ${result.stopped}</p>`}
${bar(result)}
<dl class="facts">${facts(result)}</dl>
</header>`

const facts = ({ target, seed, startedAt, durationMs, exitCode }: RunReport): Part =>
  [
    ['Target', target],
    ['Seed', seed === null ? 'one for each shard' : String(seed)],
    ['Started', moment(startedAt)],
    ['Took', formatMs(durationMs)],
    ['Exit code', [exitCode, exitCodeText(exitCode)].filter(part => part !== undefined).join(', ')],
  ].map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)

function bar({ counts, scenarios }: RunReport): Part {
  const there = OUTCOME_ORDER.filter(outcome => counts[outcome] > 0)
  const label = there.map(outcome => `${counts[outcome]} ${OUTCOME_TEXTS[outcome]}`).join(', ')
  return (
    scenarios.length > 0 &&
    html`<div class="bar" role="img" aria-label="${label}">${there.map(outcome => share(outcome, counts[outcome]))}</div>`
  )
}

const share = (outcome: Outcome, count: number) => html`<span class="${outcome}" style="flex-grow:${count}"></span>`

interface LinkedWarning {
  readonly warning: WarningReport
  readonly linked: LinkedScenario
}

const MAX_PLACES = 6
const MAX_SHARING = 12

/** The causes that several scenarios have. */
export function sharedCauses({ causes, scenarios }: RunReport, linked: readonly LinkedScenario[]): Part {
  if (causes.length === 0) return null
  const byScenario = new Map(linked.map(one => [one.scenario, one]))
  const inOrder = scenarios.map(scenario => byScenario.get(scenario))
  return html`<section class="warnings causes" aria-labelledby="causes-title">
<h2 id="causes-title">Causes</h2>
<table><thead><tr><th>Cause</th><th class="number">Scenarios</th><th>In</th></tr></thead>
<tbody>${causes.map(cause => causeRow(cause, inOrder))}</tbody></table>
</section>`
}

function causeRow(
  { text, hint, scenarios: indexes }: CauseReport,
  scenarios: readonly (LinkedScenario | undefined)[],
): Markup {
  const sharing = indexes.flatMap(index => scenarios[index] ?? [])
  const more = sharing.length - MAX_SHARING
  const links = sharing
    .slice(0, MAX_SHARING)
    .map(({ scenario, slug }) => html`<li><a href="${exact(linkTo(slug))}">${scenario.name}</a></li>`)
  return html`<tr><th scope="row">${text}${hint !== undefined && html`<br><small>${hint}</small>`}</th><td class="number">${sharing.length}</td><td><ul class="places">${links}</ul>${more > 0 && html`and ${more} more`}</td></tr>`
}

export function warningsByRule(scenarios: readonly LinkedScenario[]): Part {
  const all = scenarios.flatMap(linked => linked.scenario.warnings.map(warning => ({ warning, linked })))
  if (all.length === 0) return null
  const rules = [...groupBy(all, ({ warning }) => warning.rule).values()].sort((a, b) => b.length - a.length)
  return html`<section class="warnings" aria-labelledby="warnings-title">
<h2 id="warnings-title">Warnings</h2>
<table><thead><tr><th>Rule</th><th class="number">Times</th><th>For example</th><th>In</th></tr></thead>
<tbody>${rules.map(ruleRow)}</tbody></table>
</section>`
}

function ruleRow(group: readonly [LinkedWarning, ...LinkedWarning[]]): Markup {
  const { rule, message } = group[0].warning
  const places = [...groupBy(group, ({ linked }) => linked).values()]
  const more = places.length - MAX_PLACES
  return html`<tr><th scope="row"><code>${rule}</code></th><td class="number">${group.length}</td><td>${message}</td><td><ul class="places">${places.slice(0, MAX_PLACES).map(([first]) => placeItem(first))}</ul>${more > 0 && html`and ${more} more`}</td></tr>`
}

const placeItem = ({ linked: { scenario, slug }, warning }: LinkedWarning) =>
  html`<li><a href="${exact(linkTo(slug, warning.entrySeqs[0]))}">${scenario.name}</a></li>`
