/** Draws the timeline of a scenario when it is first opened, and tracks its current row. */
import { conversationsOf, drawDiagram, type EmbeddedTimeline } from '../diagram.ts'
import { html, type Markup } from '../markup.ts'
import { around } from './dom.ts'

const timelines = new WeakMap<Element, EmbeddedTimeline>()
const EMPTY: EmbeddedTimeline = { rows: [], entries: [] }

export function startDiagrams(): void {
  // It does not bubble.
  document.addEventListener('toggle', ({ target }) => isOpenScenario(target) && draw(target), true)
  document.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement && target.name === 'chat') showConversation(target)
  })
  for (const scenario of document.querySelectorAll('.scenario[open]')) draw(scenario)
}

const isOpenScenario = (target: EventTarget | null): target is HTMLDetailsElement =>
  target instanceof HTMLDetailsElement && target.open && target.classList.contains('scenario')

export function openScenario(scenario: HTMLDetailsElement): void {
  scenario.open = true
  draw(scenario)
}

function draw(scenario: Element): void {
  const place = scenario.querySelector<HTMLElement>('.diagram-host')
  if (place === null || timelines.has(scenario)) return
  const timeline: EmbeddedTimeline = JSON.parse(place.nextElementSibling?.textContent ?? 'null') ?? EMPTY
  timelines.set(scenario, timeline)
  place.innerHTML = html`${toolbar(timeline)}${drawDiagram(timeline.rows, place.dataset.name ?? '')}`.text
}

function toolbar({ rows }: EmbeddedTimeline): Markup {
  const conversations = conversationsOf(rows)
  const failures = rows.filter(({ failed }) => failed).length
  const choice = html`<label>Chat <select name="chat"><option value="">all</option>${conversations.map(conversation => html`<option>${conversation}</option>`)}</select></label>`
  const jump = html`<button type="button" data-next-failure>Next failure</button>`
  return html`<div class="tools">${failures > 0 && rows.length > 20 && jump}${conversations.length > 1 && choice}</div>`
}

/** Keeps rows of no chat: steps, faults, availability. */
function showConversation(select: HTMLSelectElement): void {
  const diagram = around(select, '.diagram-host')
  for (const row of rowsIn(diagram)) {
    const { conversation } = row.dataset
    row.hidden = select.selectedIndex > 0 && conversation !== '' && conversation !== select.value
  }
  const [first] = shownRows(diagram)
  const at = diagram.querySelector<HTMLElement>('.row[tabindex="0"]')
  if (at?.hidden && first !== undefined) makeCurrent(first)
}

const rowsIn = (part: Element) => part.querySelectorAll<HTMLElement>('.row')
const shownRows = (part: Element): HTMLElement[] => [...rowsIn(part)].filter(row => !row.hidden)

/** The only row of a timeline in the tab order. */
export function makeCurrent(row: HTMLElement): void {
  const list = around(row, '.rows')
  for (const other of list.querySelectorAll<HTMLElement>('.row[tabindex="0"], .row[aria-selected="true"]')) {
    other.tabIndex = -1
    other.ariaSelected = 'false'
  }
  row.tabIndex = 0
  row.ariaSelected = 'true'
}

export const scenarioOf = (part: Element): HTMLDetailsElement => around<HTMLDetailsElement>(part, '.scenario')
export const timelineOfScenario = (scenario: Element): EmbeddedTimeline => timelines.get(scenario) ?? EMPTY

export function rowWith(scenario: Element, seq: number): HTMLElement | null {
  const { rows } = timelineOfScenario(scenario)
  const own = rows.findIndex(row => row.seq === seq)
  const index = own >= 0 ? own : rows.findIndex(({ entrySeqs }) => entrySeqs.includes(seq))
  return scenario.querySelector<HTMLElement>(`.row[data-index="${index}"]`)
}

/** The row `by` rows away, or the last one; skips hidden rows. */
export function moveFrom(row: HTMLElement, by: number): HTMLElement {
  const rows = shownRows(around(row, '.rows'))
  return rows[clamp(rows.indexOf(row) + by, rows.length)] ?? row
}

export function failureFrom(row: HTMLElement, by: 1 | -1): HTMLElement | undefined {
  const rows = shownRows(around(row, '.rows'))
  const at = rows.indexOf(row)
  const ahead = by > 0 ? rows.slice(at + 1) : rows.slice(0, at).reverse()
  const behind = by > 0 ? rows.slice(0, at) : rows.slice(at + 1).reverse()
  return [...ahead, ...behind].find(isFailed)
}

const isFailed = (row: Element) => row.classList.contains('failed')

export function summaryFrom(summary: HTMLElement, by: number): HTMLElement {
  const all = [...document.querySelectorAll<HTMLElement>('.scenario:not([hidden]) > summary')]
  return all[clamp(all.indexOf(summary) + by, all.length)] ?? summary
}

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index))
