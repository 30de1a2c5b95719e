/** Shows one journal entry: its sections, its cause and effects as links, and the entry as JSON. */
import './entry-details.css'
import type { ComponentChildren } from 'preact'
import type { Entry } from '../../journal/entry.ts'
import { pretty, type Section, sectionsOf } from '../model/entry-sections.ts'
import { moment } from '../model/formats.ts'

export interface EntryDetailsProps {
  readonly entry: Entry
  readonly effects: readonly number[]
  onSelect(seq: number): void
  /** What the page offers for this entry, such as buttons. */
  readonly children?: ComponentChildren
}

export function EntryDetails({ entry, effects, onSelect, children }: EntryDetailsProps) {
  return (
    <section class="entry-details" aria-label={`Entry ${entry.seq}`}>
      <header>
        <h3>
          <span class="entry-seq">#{entry.seq}</span> {entry.kind}
        </h3>
        <p>
          {moment(entry.time)}
          {entry.cause === null ? null : (
            <>
              , caused by <EntryLink seq={entry.cause} onSelect={onSelect} />
            </>
          )}
          {effects.length === 0 ? null : <>, caused </>}
          {effects.map(seq => (
            <EntryLink key={seq} seq={seq} onSelect={onSelect} />
          ))}
        </p>
      </header>
      {children}
      {sectionsOf(entry).map(section => (
        <EntrySection key={section.title} section={section} />
      ))}
      <details>
        <summary>The entry as JSON</summary>
        <Payload payload={entry} />
      </details>
    </section>
  )
}

function EntryLink({ seq, onSelect }: Pick<EntryDetailsProps, 'onSelect'> & { readonly seq: number }) {
  return (
    <button type="button" class="link" onClick={() => onSelect(seq)}>
      #{seq}
    </button>
  )
}

function EntrySection({ section: { title, aside, headers = {}, payload, list } }: { readonly section: Section }) {
  return (
    <div class="entry-section">
      <h4>
        {title} {aside === undefined ? null : <small>{aside}</small>}
      </h4>
      {list === undefined ? null : (
        <ul>
          {list.map(item => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      )}
      <Headers headers={headers} />
      {payload === undefined || payload === '' ? null : <Payload payload={payload} />}
    </div>
  )
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const rows = Object.entries(headers)
  if (rows.length === 0) return null
  return (
    <dl class="entry-headers">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A body as formatted JSON, or as the text it is. */
export function Payload({ payload }: { readonly payload: unknown }) {
  return <pre tabIndex={0}>{pretty(payload)}</pre>
}
