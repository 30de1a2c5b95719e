/** Renders the top of the report, with the verdict and facts of the run, and its table of warnings. */
import type { Outcome } from '../../evaluator/verdict.ts'
import type { RunReport, WarningReport } from '../../evaluator/wording/report.ts'
import { counted } from '../../text/quantities.ts'
import { exitCodeText, OUTCOME_TEXTS } from '../../wording/outcomes.ts'
import { duration, moment } from './formatting.ts'
import { exact, html, type Markup, type Part } from './markup.ts'
import { type LinkedScenario, linkTo, OUTCOME_ORDER } from './scenario-links.ts'

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
    ['Took', duration(durationMs)],
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

interface Rule {
  readonly first: WarningReport
  count: number
  readonly places: Map<LinkedScenario, WarningReport>
}

const MAX_PLACES = 6

export function warningsByRule(scenarios: readonly LinkedScenario[]): Part {
  const rules = [...grouped(scenarios)].sort(([, a], [, b]) => b.count - a.count)
  if (rules.length === 0) return null
  return html`<section class="warnings" aria-labelledby="warnings-title">
<h2 id="warnings-title">Warnings</h2>
<table><thead><tr><th>Rule</th><th class="number">Times</th><th>For example</th><th>In</th></tr></thead>
<tbody>${rules.map(([name, rule]) => ruleRow(name, rule))}</tbody></table>
</section>`
}

function grouped(scenarios: readonly LinkedScenario[]): Map<string, Rule> {
  const rules = new Map<string, Rule>()
  for (const linked of scenarios) {
    for (const finding of linked.scenario.warnings) {
      const rule = rules.get(finding.rule) ?? { first: finding, count: 0, places: new Map() }
      rules.set(finding.rule, rule)
      rule.count++
      if (!rule.places.has(linked)) rule.places.set(linked, finding)
    }
  }
  return rules
}

function ruleRow(name: string, { first, count, places }: Rule): Markup {
  const shown = [...places].slice(0, MAX_PLACES)
  const more = places.size - shown.length
  return html`<tr><th scope="row"><code>${name}</code></th><td class="number">${count}</td><td>${first.message}</td><td><ul class="places">${shown.map(placeItem)}</ul>${more > 0 && html`and ${more} more`}</td></tr>`
}

const placeItem = ([{ scenario, slug }, { entrySeqs }]: [LinkedScenario, WarningReport]) =>
  html`<li><a href="${exact(linkTo(slug, entrySeqs[0]))}">${scenario.name}</a></li>`
