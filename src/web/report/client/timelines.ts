/** Draws timelines, shows the entries of a row in the side panel, and moves between rows by keys. */
import type { TimelineRow } from '../../../timeline/rows.ts'
import { conversationsOf, routeOf } from '../../model/diagram-geometry.ts'
import { offsetText } from '../../model/formats.ts'
import { drawDiagram, type EmbeddedTimeline } from '../diagram.ts'
import { entryMarkup } from '../entry-details.ts'
import { html, type Markup, type Part } from '../markup.ts'
import { around, onClick, query } from './dom.ts'

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
function makeCurrent(row: HTMLElement): void {
  const list = around(row, '.rows')
  for (const other of list.querySelectorAll<HTMLElement>('.row[tabindex="0"], .row[aria-selected="true"]')) {
    other.tabIndex = -1
    other.ariaSelected = 'false'
  }
  row.tabIndex = 0
  row.ariaSelected = 'true'
}

export const scenarioOf = (part: Element): HTMLDetailsElement => around<HTMLDetailsElement>(part, '.scenario')
const timelineOfScenario = (scenario: Element): EmbeddedTimeline => timelines.get(scenario) ?? EMPTY

export function rowWith(scenario: Element, seq: number): HTMLElement | null {
  const { rows } = timelineOfScenario(scenario)
  const own = rows.findIndex(row => row.seq === seq)
  const index = own >= 0 ? own : rows.findIndex(({ entrySeqs }) => entrySeqs.includes(seq))
  return scenario.querySelector<HTMLElement>(`.row[data-index="${index}"]`)
}

/** The row `by` rows away, or the last one; skips hidden rows. */
function moveFrom(row: HTMLElement, by: number): HTMLElement {
  const rows = shownRows(around(row, '.rows'))
  return rows[clamp(rows.indexOf(row) + by, rows.length)] ?? row
}

function failureFrom(row: HTMLElement, by: 1 | -1): HTMLElement | undefined {
  const rows = shownRows(around(row, '.rows'))
  const at = rows.indexOf(row)
  const ahead = by > 0 ? rows.slice(at + 1) : rows.slice(0, at).reverse()
  const behind = by > 0 ? rows.slice(0, at) : rows.slice(at + 1).reverse()
  return [...ahead, ...behind].find(isFailed)
}

const isFailed = (row: Element) => row.classList.contains('failed')

function summaryFrom(summary: HTMLElement, by: number): HTMLElement {
  const all = [...document.querySelectorAll<HTMLElement>('.scenario:not([hidden]) > summary')]
  return all[clamp(all.indexOf(summary) + by, all.length)] ?? summary
}

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index))

let shown: HTMLElement | null = null

const panel = () => query('#panel')
const isPanelOpen = (): boolean => !panel().hidden

export function startPanel(): void {
  const press = ({ dataset }: HTMLElement) =>
    dataset.panel === 'close' ? closePanel() : showNext(dataset.panel === 'next' ? 1 : -1)
  onClick('[data-panel]', press, panel())
  // A click that ends a selection of text leaves the panel as it is.
  onClick('.row', row => getSelection()?.isCollapsed !== false && showRow(row))
}

export function showRow(element: HTMLElement): void {
  const scenario = scenarioOf(element)
  const { rows, entries } = timelineOfScenario(scenario)
  const row = rows[Number(element.dataset.index)]
  if (row === undefined) return
  const found = entries.filter(({ seq }) => row.entrySeqs.includes(seq))
  makeCurrent(element)
  shown = element
  fill(row.label, html`${facts(row)}${found.map(entryMarkup)}${missing(found.length, row.entrySeqs.length)}`)
  history.replaceState(null, '', `#${encodeURIComponent(scenario.id)}/${row.seq}`)
}

function facts(row: TimelineRow): Markup {
  const { atMs, step, conversation, answer = '' } = row
  const words = [
    routeOf(row),
    `${offsetText(atMs)} s`,
    step !== null && `step ${step}`,
    conversation !== null && `chat ${conversation}`,
    answer !== '' && `answer: ${answer}`,
  ]
  return html`<p class="about">${words.filter(Boolean).map(word => html`<span>${word}</span> `)}</p>`
}

function fill(title: string, content: Markup): void {
  query('#panel-title').textContent = title
  const place = query('.content', panel())
  place.innerHTML = content.text
  place.scrollTop = 0
  panel().hidden = false
  document.body.classList.add('with-panel')
}

function missing(shownCount: number, all: number): Part {
  if (shownCount === all) return null
  const what = shownCount === 0 ? 'The entries behind this row are' : `${all - shownCount} more entries like these are`
  return html`<p class="left-out">${what} not kept in this report.</p>`
}

/** Moves the focus to the panel; Escape returns it. */
const focusPanel = (): void => panel().focus()

function showNext(by: number): void {
  const next = shown && moveFrom(shown, by)
  if (!next) return
  showRow(next)
  next.scrollIntoView({ block: 'nearest' })
}

function closePanel(): void {
  panel().hidden = true
  document.body.classList.remove('with-panel')
  shown?.focus()
  shown = null
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }
const JUMPS: Readonly<Record<string, number>> = { PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }

export function startKeys(): void {
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (handled(event)) event.preventDefault()
  })
  onClick('[data-next-failure]', button => {
    const row = button.closest('.diagram-host')?.querySelector<HTMLElement>('.row[tabindex="0"]')
    const next = row && failureFrom(row, 1)
    if (next) goTo(next)
  })
}

function handled(event: KeyboardEvent): boolean {
  const { target } = event
  if (!(target instanceof HTMLElement)) return false
  if (event.key === 'Escape' && isPanelOpen()) return done(closePanel())
  if (target.matches('input, select, textarea')) return false
  if (event.key === '/') return done(query('.filter input').focus())
  if (target.matches('.row')) return inTimeline(target, event.key)
  if (target.matches('.scenario > summary')) return onScenario(target, event.key)
  return target.closest('#panel') !== null && inPanel(event.key)
}

const done = (_: unknown) => true

function inTimeline(row: HTMLElement, key: string): boolean {
  if (key === 'Enter' || key === ' ') {
    showRow(row)
    return done(focusPanel())
  }
  const by = STEPS[key] ?? JUMPS[key]
  const next = by === undefined ? toFailure(row, key) : moveFrom(row, by)
  return next !== undefined && done(goTo(next))
}

const toFailure = (row: HTMLElement, key: string) =>
  key === 'f' ? failureFrom(row, 1) : key === 'F' ? failureFrom(row, -1) : undefined

/** Moves the focus, and the side panel when it is open. */
export function goTo(row: HTMLElement): void {
  makeCurrent(row)
  if (isPanelOpen()) showRow(row)
  row.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
}

function onScenario(summary: HTMLElement, key: string): boolean {
  const by = STEPS[key]
  return by !== undefined && done(summaryFrom(summary, by).focus())
}

/** Handles `j` and `k` only, because arrow keys scroll the panel. */
const inPanel = (key: string) => (key === 'j' || key === 'k') && done(showNext(key === 'j' ? 1 : -1))
