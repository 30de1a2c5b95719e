/** Timelines, drawn when their scenario is first opened; and the row each of them is at. */
import { conversationsOf, drawDiagram, type Evidence } from '../diagram.ts'
import { html, type Markup } from '../markup.ts'

const drawn = new WeakMap<Element, Evidence>()
const NOTHING: Evidence = { rows: [], entries: [] }

export function startDiagrams(): void {
  // It does not bubble.
  document.addEventListener('toggle', ({ target }) => isOpenPlay(target) && draw(target), true)
  document.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement && target.name === 'conversation') showConversation(target)
  })
  for (const play of document.querySelectorAll('.play[open]')) draw(play)
}

const isOpenPlay = (target: EventTarget | null): target is HTMLDetailsElement =>
  target instanceof HTMLDetailsElement && target.open && target.classList.contains('play')

export function openPlay(play: HTMLDetailsElement): void {
  play.open = true
  draw(play)
}

function draw(play: Element): void {
  const place = play.querySelector<HTMLElement>('.drawn')
  if (place === null || drawn.has(play)) return
  const evidence = JSON.parse(place.nextElementSibling!.textContent!) as Evidence
  drawn.set(play, evidence)
  place.innerHTML = html`${toolbar(evidence)}${drawDiagram(evidence.rows, place.dataset.name!)}`.text
}

function toolbar({ rows }: Evidence): Markup {
  const conversations = conversationsOf(rows)
  const failures = rows.filter(({ failed }) => failed).length
  const choice = html`<label>Chat <select name="lane"><option value="">all</option>${conversations.map(conversation => html`<option>${conversation}</option>`)}</select></label>`
  const jump = html`<button type="button" data-next-failure>Next failure</button>`
  return html`<div class="tools">${failures > 0 && rows.length > 20 && jump}${conversations.length > 1 && choice}</div>`
}

/** What belongs to no chat stays: steps, faults, the availability of the whole desk. */
function showConversation(select: HTMLSelectElement): void {
  const diagram = select.closest('.drawn')!
  for (const row of rowsIn(diagram)) {
    const { conversation } = row.dataset
    row.hidden = select.selectedIndex > 0 && conversation !== '' && conversation !== select.value
  }
  const [first] = shownRows(diagram)
  const at = diagram.querySelector<HTMLElement>('.row[tabindex="0"]')
  if (at?.hidden && first !== undefined) makeCurrent(first)
}

const rowsIn = (part: Element) => part.querySelectorAll<HTMLElement>('.row')
export const shownRows = (part: Element): HTMLElement[] => [...rowsIn(part)].filter(row => !row.hidden)

/** The one row of a timeline that Tab leads to. */
export function makeCurrent(row: HTMLElement): void {
  const list = row.closest('.rows')!
  for (const other of list.querySelectorAll<HTMLElement>('.row[tabindex="0"], .row[aria-selected="true"]')) {
    other.tabIndex = -1
    other.ariaSelected = 'false'
  }
  row.tabIndex = 0
  row.ariaSelected = 'true'
}

export const playOf = (part: Element): HTMLDetailsElement => part.closest<HTMLDetailsElement>('.play')!
export const evidenceOf = (play: Element): Evidence => drawn.get(play) ?? NOTHING

export function rowWith(play: Element, seq: number): HTMLElement | null {
  const { rows } = evidenceOf(play)
  const own = rows.findIndex(row => row.seq === seq)
  const index = own >= 0 ? own : rows.findIndex(({ entrySeqs }) => entrySeqs.includes(seq))
  return play.querySelector<HTMLElement>(`.row[data-index="${index}"]`)
}

/** The row so many further, or the last there is; hidden ones are passed over. */
export function moveFrom(row: HTMLElement, by: number): HTMLElement {
  const rows = shownRows(row.closest('.rows')!)
  return rows[clamp(rows.indexOf(row) + by, rows.length)] ?? row
}

export function failureFrom(row: HTMLElement, by: 1 | -1): HTMLElement | undefined {
  const rows = shownRows(row.closest('.rows')!)
  const at = rows.indexOf(row)
  const ahead = by > 0 ? rows.slice(at + 1) : rows.slice(0, at).reverse()
  const behind = by > 0 ? rows.slice(0, at) : rows.slice(at + 1).reverse()
  return [...ahead, ...behind].find(isFailed)
}

const isFailed = (row: Element) => row.classList.contains('failed')

export function summaryFrom(summary: HTMLElement, by: number): HTMLElement {
  const all = [...document.querySelectorAll<HTMLElement>('.play:not([hidden]) > summary')]
  return all[clamp(all.indexOf(summary) + by, all.length)] ?? summary
}

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index))
