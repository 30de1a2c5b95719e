/** Draws the timelines of opened results, with the choice of a chat, and shows the entries behind a row in the side panel. */
import { hydrate, render } from 'preact'
import { visible } from '../../../base/text/terminal-text.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { failureFrom, focusRow, rowFrom, SequenceDiagram } from '../components/sequence-diagram.tsx'
import { conversationsOf } from '../model/diagram-geometry.ts'
import { linkTo } from './scenario-links.ts'
import { SidePanel } from './side-panel.tsx'
import type { EmbeddedTimeline } from './timeline-data.tsx'

interface DrawnTimeline extends EmbeddedTimeline {
  readonly result: HTMLDetailsElement
  readonly host: HTMLElement
  selected: number
  conversation: string | null
}

/** So few rows need no button to find a failure. */
const FEW_ROWS = 20

export function createTimelines() {
  const drawn = new Map<Element, DrawnTimeline>()
  const opened = new Set<Element>()
  const place = document.getElementById('panel-place')
  /** The timeline whose selected row the panel shows. */
  let shown: DrawnTimeline | null = null

  function draw(timeline: DrawnTimeline): void {
    const { rows, host, selected, conversation } = timeline
    const conversations = conversationsOf(rows)
    const hasJump = rows.length > FEW_ROWS && rows.some(({ failed }) => failed)
    const hasChoice = conversations.length > 1
    render(
      <>
        {hasJump || hasChoice ? (
          <div class="result-timeline-tools">
            {hasJump ? (
              <button type="button" onClick={() => goToNextFailure(timeline)}>
                Next failure
              </button>
            ) : null}
            {hasChoice ? (
              <label>
                Chat{' '}
                <select
                  name="chat"
                  value={conversation ?? ''}
                  onChange={({ currentTarget }) => showConversation(timeline, currentTarget.value || null)}
                >
                  <option value="">all</option>
                  {conversations.map(name => (
                    <option key={name} value={name}>
                      {visible(name)}
                    </option>
                  ))}
                </select>
              </label>
            ) : null}
          </div>
        ) : null}
        <SequenceDiagram
          rows={rows}
          selected={selected}
          conversation={conversation}
          label={`What happened in ${host.dataset.name}`}
          onMove={index => select(timeline, index)}
          onOpen={(index, isKey) => showRow(timeline, index, isKey)}
        />
      </>,
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

  function goToNextFailure(timeline: DrawnTimeline): void {
    const next = failureFrom(timeline.rows, timeline.conversation, timeline.selected, 'f')
    if (next === null) return
    select(timeline, next)
    focusRow(timeline.host, next, 'nearest')
  }

  /** Shows the entries behind a row, and puts its address into that of the page. */
  function showRow(timeline: DrawnTimeline, index: number, isFocused: boolean): void {
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
    timeline.host.querySelector(`[data-index="${index}"]`)?.scrollIntoView({ block: 'nearest' })
    history.replaceState(null, '', linkTo(timeline.result.id, row.seq))
    if (isFocused) place.querySelector<HTMLElement>('.side-panel')?.focus()
  }

  /** Shows the next row in the panel, or the one before, and leaves the focus where it is. */
  function moveShown(by: number): void {
    if (shown !== null) showRow(shown, rowFrom(shown.rows, shown.conversation, shown.selected, by), false)
  }

  /** Closes the panel; the focus returns to its row. */
  function closePanel(): void {
    if (place === null || shown === null) return
    render(null, place)
    document.body.classList.remove('with-panel')
    focusRow(shown.host, shown.selected)
    shown = null
  }

  /** Shows the row of an entry, or the one that shows it too, in the middle of the page; false when no row has it. */
  function goToEntry(result: Element, seq: number): boolean {
    const timeline = drawn.get(result)
    if (timeline === undefined) return false
    const { rows, conversation } = timeline
    let index = rows.findIndex(row => row.seq === seq)
    if (index < 0) index = rows.findIndex(({ entrySeqs }) => entrySeqs.includes(seq))
    if (index < 0) return false
    if (conversation !== null && rows[index]?.conversation !== conversation) timeline.conversation = null
    showRow(timeline, index, false)
    focusRow(timeline.host, index, 'center')
    return true
  }

  return {
    goToEntry,
    moveShown,
    closePanel,
    isPanelOpen: () => shown !== null,
    /** Opens a scenario or a check, and draws what only a script can show. */
    open(result: HTMLDetailsElement): void {
      result.open = true
      if (opened.has(result)) return
      opened.add(result)
      // Lets the buttons copy that are in the page already.
      for (const button of result.querySelectorAll<HTMLElement>('.result-copy'))
        hydrate(<CopyButton text={button.dataset.text ?? ''} what={button.dataset.what ?? ''} />, button)
      const host = result.querySelector<HTMLElement>('.result-diagram')
      if (host === null) return
      const { rows, entries }: EmbeddedTimeline = JSON.parse(host.nextElementSibling?.textContent ?? '')
      const timeline = { rows, entries, result, host, selected: -1, conversation: null }
      drawn.set(result, timeline)
      draw(timeline)
    },
  }
}
