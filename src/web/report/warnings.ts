/** What a careful reader would mention, one row per rule. */
import type { LintFinding } from '../../linter/rule.ts'
import { exact, html, type Markup, type Part } from './markup.ts'
import { linkTo, type Placed } from './order.ts'

interface Rule {
  readonly first: LintFinding
  count: number
  readonly places: Map<Placed, LintFinding>
}

const MOST_PLACES = 6

export function warningsByRule(plays: readonly Placed[]): Part {
  const rules = [...grouped(plays)].sort(([, a], [, b]) => b.count - a.count)
  if (rules.length === 0) return null
  return html`<section class="warnings" aria-labelledby="warnings-title">
<h2 id="warnings-title">Warnings</h2>
<table><thead><tr><th>Rule</th><th class="number">Times</th><th>For example</th><th>In</th></tr></thead>
<tbody>${rules.map(([name, rule]) => ruleRow(name, rule))}</tbody></table>
</section>`
}

function grouped(plays: readonly Placed[]): Map<string, Rule> {
  const rules = new Map<string, Rule>()
  for (const placed of plays) {
    for (const finding of placed.played.warnings) {
      const rule = rules.get(finding.rule) ?? { first: finding, count: 0, places: new Map() }
      rules.set(finding.rule, rule)
      rule.count++
      if (!rule.places.has(placed)) rule.places.set(placed, finding)
    }
  }
  return rules
}

function ruleRow(name: string, { first, count, places }: Rule): Markup {
  const shown = [...places].slice(0, MOST_PLACES)
  const more = places.size - shown.length
  return html`<tr><th scope="row"><code>${name}</code></th><td class="number">${count}</td><td>${first.message}</td><td><ul class="places">${shown.map(placeItem)}</ul>${more > 0 && html`and ${more} more`}</td></tr>`
}

const placeItem = ([{ played, slug }, { marks }]: [Placed, LintFinding]) =>
  html`<li><a href="${exact(linkTo(slug, marks[0]))}">${played.name}</a></li>`
