/** Shows the entries of a row in the side panel. */
import type { TimelineRow } from '../../../timeline/row.ts'
import { routeOf } from '../diagram.ts'
import { entryMarkup } from '../entry-details.ts'
import { offsetText } from '../formatting.ts'
import { html, type Markup, type Part } from '../markup.ts'
import { onClick, query } from './dom.ts'
import { makeCurrent, moveFrom, scenarioOf, timelineOfScenario } from './timelines.ts'

let shown: HTMLElement | null = null

const panel = () => query('#panel')
export const isPanelOpen = (): boolean => !panel().hidden

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
export const focusPanel = (): void => panel().focus()

export function showNext(by: number): void {
  const next = shown && moveFrom(shown, by)
  if (!next) return
  showRow(next)
  next.scrollIntoView({ block: 'nearest' })
}

export function closePanel(): void {
  panel().hidden = true
  document.body.classList.remove('with-panel')
  shown?.focus()
  shown = null
}
