/** Shows one journal entry: its sections, its cause and effects as links, and the entry as JSON. */
import './entry-details.css'
import type { ComponentChildren } from 'preact'
import type { Entry } from '../../journal/entry.ts'
import { visible } from '../../text/terminal-text.ts'
import { isTruncatedValue, pretty, type Section, sectionsOf } from '../model/entry-sections.ts'
import { moment, visibleLines } from '../model/formats.ts'
import { EntryRef } from './entry-ref.tsx'

export interface EntryDetailsProps {
  readonly entry: Entry
  readonly effects: readonly number[]
  /** Without it, cause and effects are text. */
  onSelect?(seq: number): void
  /** The level of its heading; the headings of its sections are one deeper. */
  readonly level?: 3 | 4
  /** What the page offers for this entry, such as buttons. */
  readonly children?: ComponentChildren
}

export function EntryDetails({ entry, effects, onSelect, level = 3, children }: EntryDetailsProps) {
  const Heading = level === 3 ? 'h3' : 'h4'
  const refs = onSelect === undefined ? {} : { onSelect }
  return (
    <section class="entry-details" aria-label={`Entry ${entry.seq}`}>
      <header>
        <Heading>
          <span class="entry-seq">#{entry.seq}</span> {entry.kind}
        </Heading>
        <p>
          {moment(entry.time)}
          {entry.cause === null ? null : (
            <>
              , caused by <EntryRef seq={entry.cause} refs={refs} />
            </>
          )}
          {effects.length === 0 ? null : <>, caused </>}
          {effects.map(seq => (
            <EntryRef key={seq} seq={seq} refs={refs} />
          ))}
        </p>
      </header>
      {children}
      {sectionsOf(entry).map(section => (
        <EntrySection key={section.title} section={section} heading={level === 3 ? 'h4' : 'h5'} />
      ))}
      <details>
        <summary>The entry as JSON</summary>
        <Payload payload={entry} />
      </details>
    </section>
  )
}

interface EntrySectionProps {
  readonly section: Section
  readonly heading: 'h4' | 'h5'
}

function EntrySection({ section, heading: Heading }: EntrySectionProps) {
  const { title, aside, headers = {}, payload, list } = section
  return (
    <div class="entry-section">
      <Heading>
        {visible(title)} {aside === undefined ? null : <small>{visible(aside)}</small>}
      </Heading>
      {list === undefined ? null : (
        <ul>
          {list.map(item => (
            <li key={item}>{visible(item)}</li>
          ))}
        </ul>
      )}
      <Headers headers={headers} />
      {payload === undefined || payload === '' ? null : <Payload payload={payload} />}
    </div>
  )
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  if (isTruncatedValue(headers)) return <Payload payload={headers} />
  const rows = Object.entries(headers)
  if (rows.length === 0) return null
  return (
    <dl class="entry-headers">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>{visible(String(value))}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A body as formatted JSON, or as the text it is. */
export function Payload({ payload }: { readonly payload: unknown }) {
  return <pre tabIndex={0}>{visibleLines(pretty(payload))}</pre>
}
