/** Renders a scenario with failures, steps and timeline; leaves data out when the page would be too large. */
import type { StepVerdict } from '../../evaluator/verdict.ts'
import type { FailureReport, ScenarioReport } from '../../evaluator/wording/report.ts'
import type { Entry } from '../../journal/entry.ts'
import { placeText } from '../../scenario/plan.ts'
import { formatMs } from '../../text/terminal-text.ts'
import type { TimelineRow } from '../../timeline/rows.ts'
import { timelineOf } from '../../timeline/timeline.ts'
import { conversationsOf } from '../model/diagram-geometry.ts'
import { truncateEntry } from '../model/entry-sections.ts'
import { offsetText } from '../model/formats.ts'
import type { EmbeddedTimeline } from './diagram.ts'
import { entryMarkup } from './entry-details.ts'
import { failureCards } from './failure-cards.ts'
import { exact, html, json, type Markup, type Part } from './markup.ts'
import { outcomeIcon } from './page.ts'
import { entryLink, type LinkedScenario, linkTo } from './scenario-links.ts'

export const scenarioSection = (
  { scenario, slug }: LinkedScenario,
  timeline: TimelineData,
  open: boolean,
): Markup => html`
<details class="scenario ${scenario.outcome}" id="${exact(slug)}" data-outcome="${scenario.outcome}"${open && html` open`}>
${summary(scenario)}
<div class="scenario-body">
${facts(scenario, slug)}
${scenario.reason !== null && html`<p class="reason">${scenario.reason}</p>`}
${failureCards(scenario.failures, slug)}
${warnings(scenario, slug)}
${rerunCommandLine(scenario)}
${stepTable(scenario, slug)}
${timelineSection(scenario, timeline)}
</div>
</details>`

/** Icon, name, place and first failure, in columns that line up over all scenarios. */
const summary = ({
  outcome,
  name,
  file,
  place,
  failures,
  reason,
  durationMs,
  instance,
}: ScenarioReport): Markup => html`<summary>
${outcomeIcon(outcome)}
<h3 class="name"><b>${name}</b>${instance > 1 && html` <small>run ${instance}</small>`}<small class="place">${place === null ? file : placeText(place)}</small></h3>
<span class="first">${failures[0] === undefined ? reason : firstLine(failures[0], failures.length - 1)}</span>
<span class="took">${outcome !== 'skipped' && formatMs(durationMs)}</span>
</summary>`

const firstLine = ({ expected, happened }: FailureReport, others: number): Part =>
  html`<span class="happened">${happened}</span><small>${expected}${others > 0 && ` (and ${others} more)`}</small>`

function facts({ seed, clock, startedAt, tags, spec, conversations, captures }: ScenarioReport, slug: string): Markup {
  const rows: [string, Part][] = [
    ['Seed', String(seed)],
    ['Clock', clock],
    ['Started', startedAt.slice(11, 19)],
    ['Tags', tags.join(', ')],
    ['Rules', spec.join(', ')],
    ['Chats', chats(conversations)],
    ['Captured', captured(captures)],
  ]
  const there = rows.filter(([, value]) => value !== '' && value !== null)
  return html`<dl class="facts">${there.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}<div class="self"><dd><a href="${exact(linkTo(slug))}">Link to this scenario</a></dd></div></dl>`
}

const MAX_CHATS = 4

function chats(conversations: ScenarioReport['conversations']): Part {
  const all = Object.entries(conversations)
  const shown = all
    .slice(0, MAX_CHATS)
    .map(([conversation, id]) => html`<span class="pair">${conversation} <code>${id}</code></span> `)
  return all.length === 0 ? null : [shown, all.length > MAX_CHATS && `and ${all.length - MAX_CHATS} more`]
}

function captured(captures: ScenarioReport['captures']): Part {
  const pairs = Object.entries(captures).map(
    ([name, value]) =>
      html`<span class="pair">${name} <code>${(JSON.stringify(value) ?? '').slice(0, 80)}</code></span> `,
  )
  return pairs.length === 0 ? null : pairs
}

function warnings({ warnings }: ScenarioReport, slug: string): Part {
  if (warnings.length === 0) return null
  const items = warnings.map(
    warning =>
      html`<li><code>${warning.rule}</code> ${warning.message}${warning.conversation !== null && ` (chat ${warning.conversation})`} ${warning.entrySeqs.map(seq => entryLink(slug, seq))}</li>`,
  )
  return html`<ul class="own-warnings" aria-label="Warnings">${items}</ul>`
}

const rerunCommandLine = ({ rerunCommand }: ScenarioReport): Part =>
  rerunCommand !== '' &&
  html`<p class="again"><span>Play it again</span> <code>${rerunCommand}</code> <button type="button" class="scripted-only" data-copy="${exact(rerunCommand)}">Copy</button></p>`

function timelineSection({ name }: ScenarioReport, { level, rowCount, embedded, staticTable }: TimelineData): Part {
  if (rowCount === 0) return null
  return html`<section class="timeline"><h4>Timeline</h4>
${level !== 'whole' && html`<p class="left-out">${MISSING[level]}</p>`}
${level !== 'nothing' && diagram(name, embedded, staticTable)}
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
  staticTable: Markup,
): Markup => html`<div class="diagram-host" data-name="${name}"></div>
<script type="application/json">${embedded}</script>
<noscript>${staticTable.text === '' ? html`<p>The timeline of a scenario that passed is drawn when scripts are allowed.</p>` : staticTable}</noscript>`

function stepTable(scenario: ScenarioReport, slug: string): Part {
  const { steps } = scenario
  if (steps.length === 0) return null
  const severalConversations = new Set(steps.map(({ conversation }) => conversation)).size > 1
  const frame = frameOf(scenario)
  return html`<section class="steps"><h4>Steps</h4><ol>${steps.map(step => stepItem(step, slug, frame, severalConversations))}</ol></section>`
}

interface Frame {
  readonly startMs: number
  readonly lengthMs: number
}

function frameOf({ journal, steps }: ScenarioReport): Frame {
  const begun = steps.flatMap(({ startMs, endMs }) => [startMs, endMs]).filter(ms => ms !== null)
  const startMs = journal[0]?.at_ms ?? Math.min(...begun, 0)
  return { startMs, lengthMs: Math.max(1, ...begun.map(ms => ms - startMs)) }
}

const stepItem = (
  step: StepVerdict,
  slug: string,
  frame: Frame,
  severalConversations: boolean,
): Markup => html`<li class="${step.outcome === 'not reached' ? 'unreached' : step.outcome}" value="${step.number}">
${outcomeIcon(step.outcome)}<span class="number">${step.number}</span>${severalConversations && html`<span class="chat">${step.conversation}</span>`}<span class="label" title="${step.label}">${step.name !== null && html`<b>${step.name}</b> `}${step.label}</span>
<span class="claimed">${step.claimed.map(seq => entryLink(slug, seq))}</span><span class="line">${step.place !== null && `:${step.place.line}`}</span>${timing(step, frame)}</li>`

function timing({ startMs, endMs }: StepVerdict, frame: Frame): Part {
  if (startMs === null) return html`<span class="at"></span><span class="took"></span>`
  const from = startMs - frame.startMs
  const length = (endMs ?? frame.startMs + frame.lengthMs) - startMs
  const [left, width] = [from, length].map(ms => `${((Math.max(0, ms) / frame.lengthMs) * 100).toFixed(2)}%`)
  return html`<span class="at">${offsetText(from)}</span><span class="took">${endMs === null ? 'not ended' : formatMs(length)}</span><span class="when" aria-hidden="true"><i style="left:min(${left},100% - 3px);width:${width}"></i></span>`
}

/** Bytes of timelines in one report. Scenarios are served in order, failed ones first. */
const BUDGET = 20 * 1024 * 1024

/** whole: everything. marked: entries only where a failure points. rows: no entries. nothing: no timeline either. */
export type DetailLevel = 'whole' | 'marked' | 'rows' | 'nothing'

export interface TimelineData {
  readonly level: DetailLevel
  readonly rowCount: number
  /** For the page's script. */
  readonly embedded: Markup
  /** For readers without scripts; only of scenarios that did not pass. */
  readonly staticTable: Markup
}

export function collectTimelineData(scenarios: readonly LinkedScenario[], budget = BUDGET): TimelineData[] {
  let left = budget
  return scenarios.map(linked => {
    const data = fittingData(linked, left)
    left -= bytesOf(data)
    return data
  })
}

const bytesOf = ({ embedded, staticTable }: TimelineData) =>
  Buffer.byteLength(embedded.text) + Buffer.byteLength(staticTable.text)

function fittingData(linked: LinkedScenario, left: number): TimelineData {
  const rows = timelineOf(linked.scenario)
  const passed = linked.scenario.outcome === 'pass'
  const levels: readonly DetailLevel[] = passed ? ['whole', 'rows'] : ['whole', 'marked', 'rows']
  for (const level of levels) {
    const timeline: EmbeddedTimeline = { rows, entries: entriesOf(linked.scenario, rows, level) }
    const staticTable = passed ? html`` : renderStaticTable(linked.slug, timeline, markedSeqs(linked.scenario))
    const data = { level, rowCount: rows.length, embedded: json(timeline), staticTable }
    if (bytesOf(data) <= left) return data
  }
  return { level: 'nothing', rowCount: rows.length, embedded: html``, staticTable: html`` }
}

/** The entries that a row or a failure refers to. */
function entriesOf(scenario: ScenarioReport, rows: readonly TimelineRow[], level: DetailLevel): Entry[] {
  if (level === 'rows') return []
  const seqs = markedSeqs(scenario)
  if (level === 'whole') for (const row of rows) for (const seq of sampleSeqs(row)) seqs.add(seq)
  return scenario.journal.filter(({ seq }) => seqs.has(seq)).map(entry => truncateEntry(entry))
}

/** Of a row with many equal entries, the first two and the last. */
const sampleSeqs = ({ entrySeqs }: TimelineRow) =>
  entrySeqs.length <= 3 ? entrySeqs : [...entrySeqs.slice(0, 2), ...entrySeqs.slice(-1)]

/** The entries that the failures of a scenario refer to. */
const markedSeqs = ({ failures }: ScenarioReport): Set<number> =>
  new Set(failures.flatMap(({ entrySeqs, nearest }) => [...entrySeqs, ...nearest.map(({ seq }) => seq)]))

const MAX_ROWS = 300
const MAX_ENTRIES = 6

export function renderStaticTable(
  slug: string,
  { rows, entries }: EmbeddedTimeline,
  marked: ReadonlySet<number>,
): Markup {
  const shown = rows.slice(0, MAX_ROWS)
  const severalConversations = conversationsOf(rows).length > 1
  const pointedAt = entries.filter(({ seq }) => marked.has(seq)).slice(0, MAX_ENTRIES)
  return html`<table class="static-table">
<thead><tr><th>s</th><th>entry</th>${severalConversations && html`<th>chat</th>`}<th>from</th><th>to</th><th>what</th><th>answer</th></tr></thead>
<tbody>${shown.map(row => staticRow(row, slug, severalConversations))}</tbody></table>
${rows.length > shown.length && html`<p class="left-out">${rows.length - shown.length} more rows are shown when scripts are allowed.</p>`}
${pointedAt.map(entry => html`<details class="static-entry"><summary>Entry #${entry.seq}</summary>${entryMarkup(entry)}</details>`)}`
}

const staticRow = (row: TimelineRow, slug: string, severalConversations: boolean): Part => html`
<tr id="${exact(`${slug}/${row.seq}`)}"${row.failed && html` class="failed"`}><td>${offsetText(row.atMs)}</td><td>#${row.seq}</td>${severalConversations && html`<td>${row.conversation}</td>`}<td>${row.from}</td><td>${row.to === row.from ? '' : row.to}</td><td>${row.label}</td><td>${row.failed ? '✕ ' : row.ok ? '' : '! '}${row.answer}</td></tr>`
