/** Shows what passes between platform and intermediary, as a sequence diagram or a list, with the details of one entry. */
import './wire.css'
import { useState } from 'preact/hooks'
import type { EntryOf } from '../../journal/entry.ts'
import { EntryDetails, Payload } from '../components/entry-details.tsx'
import { DiagramHead, SequenceRow } from '../components/sequence-row.tsx'
import { VirtualList } from '../components/virtual-list.tsx'
import { quietBefore } from '../model/diagram-geometry.ts'
import { countUntil } from '../model/journal-log.ts'
import { codeCallOf, LANGUAGES, type SnippetLanguage, snippet } from '../model/snippets.ts'
import type { Session } from './session.ts'

const ROW_HEIGHT = 38

export function Wire({ session }: { readonly session: Session }) {
  const { view, log, version } = session
  const { rows, entry } = version.value >= 0 ? log.value : log.value
  const selected = view.entry.value
  const at = view.at.value
  const shown = selected === null ? undefined : entry(selected)
  return (
    <div class="wire">
      {rows.length === 0 ? (
        <p class="empty">Nothing has passed yet. Every call and every event appears here as it happens.</p>
      ) : (
        <DiagramHead />
      )}
      <VirtualList
        label="Calls and events"
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        selected={selected === null ? -1 : countUntil(rows, selected) - 1}
        onSelect={index => (view.entry.value = rows[index]?.seq ?? null)}
        row={index => {
          const row = rows[index]
          if (row === undefined) return null
          return <SequenceRow row={row} quietMs={quietBefore(rows, index)} later={at !== null && row.seq > at} />
        }}
      />
      <TimeLine session={session} />
      {shown === undefined ? null : (
        <EntryDetails entry={shown} effects={log.value.effects(shown.seq)} onSelect={seq => (view.entry.value = seq)}>
          {shown.kind === 'api' ? <CallAsCode call={shown} origin={session.origin} /> : null}
        </EntryDetails>
      )}
    </div>
  )
}

function TimeLine({ session: { view, log, version } }: { readonly session: Session }) {
  const { entries } = version.value >= 0 ? log.value : log.value
  const [first, last] = [entries[0]?.seq ?? 0, entries.at(-1)?.seq ?? 0]
  const at = view.at.value
  return (
    <div class="time-line">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={at === null ? 'now' : `entry ${at} of ${last}`}
        min={first}
        max={last}
        value={at ?? last}
        onInput={({ currentTarget }) => {
          const seq = Number(currentTarget.value)
          view.at.value = seq >= last ? null : seq
        }}
      />
      <button type="button" disabled={at === null} onClick={() => (view.at.value = null)}>
        Now
      </button>
    </div>
  )
}

/** The call as code to copy, in three languages. */
function CallAsCode({ call, origin }: { readonly call: EntryOf<'api'>; readonly origin: URL }) {
  const [language, setLanguage] = useState<SnippetLanguage>('curl')
  const text = snippet(language, codeCallOf(call, origin))
  return (
    <details class="call-as-code">
      <summary>This call as code</summary>
      <div class="tabs">
        {LANGUAGES.map(one => (
          <button key={one} type="button" aria-pressed={one === language} onClick={() => setLanguage(one)}>
            {one}
          </button>
        ))}
        <button type="button" onClick={() => void navigator.clipboard.writeText(text)}>
          Copy
        </button>
      </div>
      <Payload payload={text} />
    </details>
  )
}
