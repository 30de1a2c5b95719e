/** Draws a whole timeline as a sequence diagram, in which keys move from row to row and from failure to failure. */
import './sequence.css'
import { Fragment } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import {
  conversationsOf,
  hasAgent,
  type Lifelines,
  lifelinesOf,
  quietBefore,
  spanOf,
} from '../model/diagram-geometry.ts'
import { offsetText } from '../model/formats.ts'
import { Mark } from './mark.tsx'
import { Arrow, DiagramHead } from './sequence-row.tsx'

export interface SequenceDiagramProps {
  readonly rows: readonly TimelineRow[]
  /** Its name for screen readers. */
  readonly label: string
  /** The index of the selected row; -1 without one. */
  readonly selected: number
  /** Hides the rows of other chats; null shows all. */
  readonly conversation: string | null
  /** A key moved to this row. */
  onMove(index: number): void
  /** `isKey`: by the keyboard, so that the focus can follow. */
  onOpen(index: number, isKey: boolean): void
}

/** Rows per chunk: the browser lays out a chunk when it comes near the screen. */
const CHUNK = 50

export function SequenceDiagram(props: SequenceDiagramProps) {
  const { rows, label, selected, conversation } = props
  const conversations = useEqual(useMemo(() => conversationsOf(rows), [rows]))
  const lifelines = useMemo(() => lifelinesOf(rows), [rows])
  const stop = selected === -1 ? rows.findIndex(row => isShown(row, conversation)) : selected
  const chunks = Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, number) => number * CHUNK)
  return (
    <div class={`diagram${conversations.length > 1 ? ' with-chats' : ''}${hasAgent(lifelines) ? ' with-agent' : ''}`}>
      <DiagramHead lifelines={lifelines} isWhole />
      <div
        class="diagram-rows"
        role="listbox"
        aria-label={label}
        onKeyDown={event => onKey(event, props)}
        onClick={event => onClick(event, props)}
      >
        {chunks.map(first => {
          const within = (index: number) => (index >= first && index < first + CHUNK ? index : -1)
          const shared = { rows, lifelines, first, conversations, conversation }
          return <Chunk key={first} {...shared} selected={within(selected)} stop={within(stop)} />
        })}
      </div>
    </div>
  )
}

interface ChunkProps extends Pick<SequenceDiagramProps, 'rows' | 'selected' | 'conversation'> {
  readonly lifelines: Lifelines
  readonly first: number
  /** The index of the row in the tab order. */
  readonly stop: number
  readonly conversations: readonly string[]
}

/** Draws its rows again only when something changes in this chunk. */
function Chunk({ rows, lifelines, first, selected, stop, conversation, conversations }: ChunkProps) {
  const drawn = useEqual(rows.slice(first, first + CHUNK))
  return useMemo(
    () => (
      <div class="diagram-chunk" role="none" style={{ '--rows': drawn.length }}>
        {drawn.map((row, offset) => {
          const index = first + offset
          const { kind, failed, ok, seq, atMs, answer } = row
          const isHidden = !isShown(row, conversation)
          const quietMs = isHidden ? null : quietBefore(rows, index)
          const chat = visible(row.conversation ?? '')
          const at = conversations.length > 1 ? conversations.indexOf(row.conversation ?? '') : -1
          const states = [
            kind,
            failed ? 'failed' : ok ? '' : 'refused',
            spanOf(row, lifelines).points === null ? 'no-arrow' : '',
          ]
          // With more chats the colours repeat, and names tell the chats apart.
          if (at !== -1) states.push(`hue-${(at % HUES) + 1}`)
          return (
            <Fragment key={index}>
              {quietMs === null ? null : (
                <div class="diagram-gap" role="none" aria-hidden="true">
                  {formatMs(quietMs)} later
                </div>
              )}
              <div
                class={['sequence-row diagram-row', ...states].filter(Boolean).join(' ')}
                role="option"
                tabIndex={index === stop ? 0 : -1}
                aria-selected={index === selected}
                data-index={index}
                hidden={isHidden}
              >
                <span class="sequence-at">{offsetText(atMs)}</span>
                <span class="sequence-at diagram-seq">#{seq}</span>
                <span class="sequence-chat diagram-chat" title={chat}>
                  {chat}
                </span>
                <Arrow row={row} lifelines={lifelines} />
                <span class="sequence-answer" title={answer ?? ''}>
                  {failed || !ok ? (
                    <Mark kind={failed ? 'fail' : 'error'} label={failed ? 'failed' : 'refused'} />
                  ) : null}
                  {answer}
                </span>
              </div>
            </Fragment>
          )
        })}
      </div>
    ),
    [drawn, lifelines, first, selected, stop, conversation, conversations],
  )
}

/** Returns the list of before when it has the same elements. */
function useEqual<Element>(list: readonly Element[]): readonly Element[] {
  const last = useRef(list)
  const isEqual = last.current.length === list.length && list.every((element, index) => element === last.current[index])
  if (!isEqual) last.current = list
  return last.current
}

/** Colours for chats. */
const HUES = 6

const isShown = (row: TimelineRow, conversation: string | null): boolean =>
  conversation === null || row.conversation === null || row.conversation === conversation

const indexAt = (target: EventTarget | null): number =>
  target instanceof Element ? Number(target.closest<HTMLElement>('.diagram-row')?.dataset.index ?? -1) : -1

/** A click that ends a selection of text selects nothing. */
function onClick({ target }: MouseEvent, { onOpen }: SequenceDiagramProps): void {
  const index = indexAt(target)
  if (index >= 0 && getSelection()?.isCollapsed !== false) onOpen(index, false)
}

const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 },
  ...{ PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity },
}

function onKey(event: KeyboardEvent, { rows, conversation, onMove, onOpen }: SequenceDiagramProps): void {
  const index = indexAt(event.target)
  if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return
  const by = STEPS[event.key]
  const next =
    by === undefined ? failureFrom(rows, conversation, index, event.key) : rowFrom(rows, conversation, index, by)
  if (event.key === 'Enter' || event.key === ' ') onOpen(index, true)
  else if (next === null || !(event.currentTarget instanceof Element)) return
  else {
    onMove(next)
    focusRow(event.currentTarget, next)
  }
  event.preventDefault()
}

/** The row `by` rows away, or the last one; skips hidden rows. */
export function rowFrom(rows: readonly TimelineRow[], conversation: string | null, index: number, by: number): number {
  const shown: number[] = []
  for (const [rowIndex, row] of rows.entries())
    if (rowIndex === index || isShown(row, conversation)) shown.push(rowIndex)
  return shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(index) + by))] ?? index
}

/** The next failure with `f`, the one before with `F`; goes on at the other end. Null when there is none. */
export function failureFrom(
  rows: readonly TimelineRow[],
  conversation: string | null,
  index: number,
  key: string,
): number | null {
  if (key !== 'f' && key !== 'F') return null
  const failed: number[] = []
  for (const [rowIndex, row] of rows.entries()) if (row.failed && isShown(row, conversation)) failed.push(rowIndex)
  if (key === 'f') return failed.find(rowIndex => rowIndex > index) ?? failed[0] ?? null
  return failed.findLast(rowIndex => rowIndex < index) ?? failed.at(-1) ?? null
}

/** Focuses a row of the diagram inside of `host`, and scrolls only as far as needed. */
export function focusRow(host: Element, index: number, block: ScrollLogicalPosition = 'nearest'): void {
  const row = host.querySelector<HTMLElement>(`.diagram-row[data-index="${index}"]`)
  row?.focus({ preventScroll: true })
  row?.scrollIntoView({ block })
}
