/** Draws the timelines of opened results, and keeps which of their rows the side panel shows. */
import { hydrate, render } from 'preact'
import { CopyButton } from '../components/copy-button.tsx'
import { focusRow, rowFrom } from '../components/sequence-diagram.tsx'
import { linkTo } from './result-links.ts'
import { ResultTimeline, rowOf } from './result-timeline.tsx'
import { SidePanel } from './side-panel.tsx'
import type { EmbeddedTimeline } from './timeline-data.tsx'

interface DrawnTimeline extends EmbeddedTimeline {
  readonly result: HTMLDetailsElement
  readonly host: HTMLElement
  selected: number
  conversation: string | null
}

const opened = new Set<Element>()
const drawn = new Map<Element, DrawnTimeline>()
/** The timeline whose selected row the panel shows. */
let shown: DrawnTimeline | null = null

/** Opens a scenario or a check, and draws what only a script can show. */
export function openResult(result: HTMLDetailsElement): void {
  result.open = true
  if (opened.has(result)) return
  opened.add(result)
  startCopying(result)
  const host = result.querySelector<HTMLElement>('.result-diagram')
  if (host === null) return
  const { rows, entries }: EmbeddedTimeline = JSON.parse(host.nextElementSibling?.textContent ?? '')
  const timeline = { rows, entries, result, host, selected: -1, conversation: null }
  drawn.set(result, timeline)
  draw(timeline)
}

/** Lets the buttons copy that are in the page already. */
function startCopying(result: Element): void {
  for (const place of result.querySelectorAll<HTMLElement>('.result-copy'))
    hydrate(<CopyButton text={place.dataset.text ?? ''} what={place.dataset.what ?? ''} />, place)
}

function draw(timeline: DrawnTimeline): void {
  const { rows, host, selected, conversation } = timeline
  const actions = {
    onMove: (index: number) => select(timeline, index),
    onOpen: (index: number, isKey: boolean) => showRow(timeline, index, isKey),
    onGo: (index: number) => go(timeline, index),
    onConversation: (chosen: string | null) => showConversation(timeline, chosen),
  }
  const label = `What happened in ${host.dataset.name}`
  render(
    <ResultTimeline rows={rows} selected={selected} conversation={conversation} label={label} {...actions} />,
    host,
  )
}

/** Selects a row of another chat only when that chat is shown. */
function showConversation(timeline: DrawnTimeline, conversation: string | null): void {
  timeline.conversation = conversation
  const current = timeline.rows[timeline.selected]?.conversation ?? null
  if (conversation !== null && current !== null && current !== conversation) timeline.selected = -1
  draw(timeline)
}

function select(timeline: DrawnTimeline, index: number): void {
  timeline.selected = index
  draw(timeline)
  if (shown !== null) showRow(timeline, index, false)
}

function go(timeline: DrawnTimeline, index: number, block: ScrollLogicalPosition = 'nearest'): void {
  select(timeline, index)
  focusRow(timeline.host, index, block)
}

const panelPlace = (): HTMLElement | null => document.getElementById('panel-place')

/** Shows the entries behind a row, and puts its address into that of the page. */
function showRow(timeline: DrawnTimeline, index: number, isFocused: boolean): void {
  const place = panelPlace()
  const row = timeline.rows[index]
  if (place === null || row === undefined) return
  shown = timeline
  timeline.selected = index
  draw(timeline)
  const onSelect = (seq: number) => goToEntry(timeline.result, seq)
  render(
    <SidePanel row={row} entries={timeline.entries} onMove={moveShown} onSelect={onSelect} onClose={closePanel} />,
    place,
  )
  document.body.classList.add('with-panel')
  // The panel leaves less room, so that the row moves.
  timeline.host.querySelector(`[data-index="${timeline.selected}"]`)?.scrollIntoView({ block: 'nearest' })
  history.replaceState(null, '', linkTo(timeline.result.id, row.seq))
  if (isFocused) place.querySelector<HTMLElement>('.side-panel')?.focus()
}

export const isPanelOpen = (): boolean => shown !== null

/** Shows the next row, or the one before, and leaves the focus where it is. */
export function moveShown(by: number): void {
  if (shown === null) return
  const { rows, conversation, selected } = shown
  showRow(shown, rowFrom(rows, conversation, selected, by), false)
}

/** Closes the panel; the focus returns to its row. */
export function closePanel(): void {
  const place = panelPlace()
  if (place === null || shown === null) return
  render(null, place)
  document.body.classList.remove('with-panel')
  focusRow(shown.host, shown.selected)
  shown = null
}

/** Shows the row of an entry in the middle of the page; false when no row has it. */
export function goToEntry(result: Element, seq: number): boolean {
  const timeline = drawn.get(result)
  const index = timeline === undefined ? -1 : rowOf(timeline.rows, seq)
  if (timeline === undefined || index < 0) return false
  const { conversation } = timeline.rows[index] ?? {}
  if (timeline.conversation !== null && conversation !== timeline.conversation) timeline.conversation = null
  showRow(timeline, index, false)
  go(timeline, index, 'center')
  return true
}
