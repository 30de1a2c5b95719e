/** Shows what passes between platform and intermediary, as a sequence diagram or a list, with the details of one entry. */
import './wire.css'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import { useShortcuts } from '../components/shortcuts.tsx'
import { useIsWider } from '../components/width.ts'
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

/** In pixels: so wide, it has room for the details beside the rows. */
const WIDE = 760

export function Wire() {
  const session = useSession()
  const { view, log } = session
  const element = useRef<HTMLDivElement>(null)
  const isWide = useIsWider(element, WIDE)
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
    <div ref={element} class={isWide ? 'wire wide' : 'wire'}>
      {!session.isPast && view.entry.value === null && view.at.value === null && !hasTraffic(log.value) ? (
        <ConnectCard />
      ) : (
        <>
          <WireToolbar dialog={dialog} shown={filtered.entries.length} all={total} />
          <div class="wire-body">
            <WireRows
              filtered={filtered}
              withChats={withChats}
              onOpen={() => element.current?.querySelector<HTMLElement>('.entry-details')?.focus()}
            />
            <EntryPane dialog={dialog} isBeside={isWide} onClose={closeDetails} />
          </div>
          {session.isPast ? null : <TimeLine filtered={filtered} />}
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
function useFilteredLog({ view, log, chatId, clearedUntil }: Session): FilteredLog {
  const [text, kind, onlyProblems] = [view.filter.value, view.kind.value, view.onlyProblems.value]
  const chat = view.all.value ? null : chatId.value
  const after = clearedUntil.value
  const filtered = useMemo(
    () => filterLog(log.value, { text, kind, chat, onlyProblems, after }),
    [log.value.entries, text, kind, chat, onlyProblems, after],
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
