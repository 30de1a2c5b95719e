/** Where the diagram of a play is drawn once it is opened, with its data. */
import type { ScenarioResult } from '../../../evaluator/verdict.ts'
import type { Gathered } from '../evidence.ts'
import { html, type Markup, type Part } from '../markup.ts'

export function timelineSection({ name }: ScenarioResult, { kept, rowCount, embedded, still }: Gathered): Part {
  if (rowCount === 0) return null
  return html`<section class="timeline"><h4>Timeline</h4>
${kept !== 'whole' && html`<p class="left-out">${MISSING[kept]}</p>`}
${kept !== 'nothing' && diagram(name, embedded, still)}
</section>`
}

const MISSING = {
  marked: 'Only the entries its failures point to are kept: the report would be too large.',
  rows: 'The entries behind the rows are left out: the report would be too large.',
  nothing: 'The timeline is left out: the report would be too large.',
}

const diagram = (
  name: string,
  embedded: Markup,
  still: Markup,
): Markup => html`<div class="drawn" data-name="${name}"></div>
<script type="application/json">${embedded}</script>
<noscript>${still.text === '' ? html`<p>The timeline of a scenario that passed is drawn when scripts are allowed.</p>` : still}</noscript>`
