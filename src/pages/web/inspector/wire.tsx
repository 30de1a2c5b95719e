/** Shows what passes between platform and intermediary, as a sequence diagram or a list, with the details of one entry. */
import './wire.css'
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { useShortcuts } from '../components/shortcuts.tsx'
import { type FilteredLog, filterLog } from '../model/entry-filter.ts'
import type { JournalLog } from '../model/journal-log.ts'
import { ConnectCard } from './connect-card.tsx'
import { type ActionDialog, OpenDialog } from './entry-actions.tsx'
import { EntryPane } from './entry-pane.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'
import { TimeLine } from './time-line.tsx'
import { WireRows } from './wire-rows.tsx'
import { WireToolbar } from './wire-toolbar.tsx'

/** In pixels; as in the style sheets. */
const NARROW = 544
const WIDE = 960

export function Wire() {
  const session = useSession()
  const { view, log } = session
  const element = useRef<HTMLDivElement>(null)
  const width = useWidth(element)
  const filtered = useFilteredLog(session)
  const total = log.value.entries.length
  const withChats = view.all.value && log.value.chats.size > 1
  /** Gives the focus back to the list. */
  const closeDetails = () => {
    if (view.entry.peek() === null) return
    view.entry.value = null
    view.compare.value = null
    element.current?.querySelector<HTMLElement>('[role="listbox"]')?.focus()
  }
  const dialog = useSignal<ActionDialog | null>(null)
  useShortcuts('Wire', { Escape: ['Close the details', closeDetails] })
  return (
    <div ref={element} class={`wire ${width}`}>
      {view.entry.value === null && view.at.value === null && !hasTraffic(log.value) ? (
        <ConnectCard />
      ) : (
        <>
          <WireToolbar dialog={dialog} shown={filtered.entries.length} all={total} />
          <div class="wire-body">
            <WireRows
              filtered={filtered}
              isNarrow={width === 'narrow'}
              withChats={withChats}
              onOpen={() => element.current?.querySelector<HTMLElement>('.entry-details')?.focus()}
            />
            <EntryPane dialog={dialog} isBeside={width === 'wide'} onClose={closeDetails} />
          </div>
          <TimeLine filtered={filtered} />
          <OpenDialog dialog={dialog} />
        </>
      )}
    </div>
  )
}

/** Whether anything has passed but settings, and test events of the first chat. */
const hasTraffic = ({ chats, entries }: JournalLog): boolean =>
  chats.size > 1 ||
  entries.some(
    entry => entry.kind !== 'note' && entry.kind !== 'fault' && !(entry.kind === 'delivery' && entry.triggered),
  )

/** Looks at new entries in each frame until it has seen all. */
function useFilteredLog({ view, log, chatId }: Session): FilteredLog {
  const [text, kind, onlyProblems] = [view.filter.value, view.kind.value, view.onlyProblems.value]
  const chat = view.all.value ? null : chatId.value
  const filtered = useMemo(
    () => filterLog(log.value, { text, kind, chat, onlyProblems }),
    [log.value.entries, text, kind, chat, onlyProblems],
  )
  const [, again] = useReducer<number, void>(count => count + 1, 0)
  const hasMore = filtered.advance(log.value)
  useEffect(() => {
    if (!hasMore) return
    const frame = requestAnimationFrame(() => again())
    return () => cancelAnimationFrame(frame)
  })
  return filtered
}

type Width = 'narrow' | 'medium' | 'wide'

function useWidth(element: { readonly current: HTMLElement | null }): Width {
  const [width, setWidth] = useState<Width>('medium')
  useLayoutEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([box]) => {
      const pixels = box?.contentRect.width ?? NARROW + 1
      setWidth(pixels <= NARROW ? 'narrow' : pixels < WIDE ? 'medium' : 'wide')
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}
