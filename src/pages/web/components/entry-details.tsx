/** Shows one journal entry: why it failed, what was checked, what was sent and answered, its cause and its effects. */
import './entries.css'
import type { ComponentChildren } from 'preact'
import { counted } from '../../../base/text/quantities.ts'
import { visible, visibleLines } from '../../../base/text/terminal-text.ts'
import { labelOf, lineOf } from '../../../evaluation/timeline/entry-line.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { explainEntry } from '../../../platform/wording/hints.ts'
import { factOf, fieldProblemOf, orderedFailureOf } from '../model/entry-facts.ts'
import { pretty, type Section, sectionsOf } from '../model/entry-sections.ts'
import { kindName, moment } from '../model/formats.ts'
import { BodyView } from './body-view.tsx'
import { EntryRef } from './entry-ref.tsx'
import { Fact } from './failure-cards.tsx'
import { Mark } from './mark.tsx'

export interface EntryDetailsProps {
  readonly entry: Entry
  /** The seqs of the entries that it caused. */
  readonly effects: readonly number[]
  /** Finds an entry by its seq, for the labels of cause and effects. */
  entryOf?(seq: number): Entry | undefined
  /** All attempts to send the event or to make the call. */
  readonly attempts?: readonly EntryOf<'api' | 'delivery'>[]
  /** Without it, references to other entries are text. */
  onSelect?(seq: number): void
  /** The level of its heading; the headings of its sections are one deeper. */
  readonly level?: 3 | 4
  /** Shows bodies as text without buttons, for a page without scripts. */
  readonly isStatic?: boolean
  /** Shows the knob of an assumption; without it the names are text. */
  onKnob?(name: string): void
  /** Beside the title, such as a button that closes it. */
  readonly tools?: ComponentChildren
  /** Replaces the hint on why it failed. */
  readonly advice?: ComponentChildren
  /** What the page offers for this entry, such as buttons. */
  readonly children?: ComponentChildren
}

interface JournalEntryProps extends Omit<EntryDetailsProps, 'effects' | 'entryOf'> {
  /** All entries of the journal. */
  readonly entries: readonly Entry[]
}

/** An entry among others: its effects and causes are found in them. */
export function JournalEntry({ entries, entry, ...props }: JournalEntryProps) {
  return (
    <EntryDetails
      key={entry.seq}
      entry={entry}
      effects={entries.filter(({ cause }) => cause === entry.seq).map(({ seq }) => seq)}
      entryOf={seq => entries.find(entry => entry.seq === seq)}
      {...props}
    />
  )
}

/** The characters of the response of a service that the explanation shows. */
const MAX_QUOTE_CHARS = 300
const MAX_EFFECTS = 12

export function EntryDetails(props: EntryDetailsProps) {
  const {
    entry,
    effects,
    entryOf,
    level = 3,
    isStatic = false,
    tools,
    children,
    advice,
    attempts = [],
    onSelect,
  } = props
  const line = lineOf(entry)
  const answer = line.answer?.short ?? ''
  const Heading = level === 3 ? 'h3' : 'h4'
  const caused = effects.slice(0, MAX_EFFECTS).flatMap(seq => entryOf?.(seq) ?? [])
  const fact = factOf(entry)
  const explained = explainEntry(entry)
  const problem = fieldProblemOf(entry)
  const ordered = orderedFailureOf(entry, caused, attempts)
  const otherAttempts = attempts.filter(({ seq }) => seq !== entry.seq)
  return (
    <section class="entry-details" aria-label={`Entry ${entry.seq}`} tabIndex={-1}>
      <header class="entry-head">
        <Heading>
          <span class="entry-seq">#{entry.seq}</span> <span class="entry-kind">{kindName(entry.kind)}</span>{' '}
          <bdi>{labelOf(line, 'wide')}</bdi>
        </Heading>
        {tools}
      </header>
      <p class="entry-meta">
        {moment(entry.time)}
        {answer === '' ? null : <span>{answer}</span>}
      </p>
      {ordered === null ? null : (
        <p class="entry-explanation ordered" role="note" aria-label="What your fault did">
          <span>
            {visible(ordered.text)}
            {ordered.seq === null ? null : (
              <>
                <EntryRef seq={ordered.seq} refs={{ onSelect }} />.
              </>
            )}
          </span>
        </p>
      )}
      {ordered !== null || (explained === null && problem === null && advice == null) ? null : (
        <div class="entry-explanation" role="note" aria-label="Why it failed">
          {problem === null ? (
            <p class="entry-why">{visible(explained?.why ?? `Answered ${answer}.`)}</p>
          ) : (
            <dl class="entry-problem pairs">
              <Fact name="Field">
                <code>{visible(problem.field)}</code>
              </Fact>
              <Fact name="Expected">{visible(problem.expected)}</Fact>
              <Fact name="Received">
                {problem.received === null ? 'nothing' : <code>{visible(problem.received)}</code>}
              </Fact>
            </dl>
          )}
          {entry.kind === 'delivery' && entry.response?.body ? (
            <blockquote>{visible(entry.response.body.slice(0, MAX_QUOTE_CHARS))}</blockquote>
          ) : null}
          {advice ?? (explained?.hint == null ? null : <p>{visible(explained.hint)}</p>)}
        </div>
      )}
      <div class="entry-bodies">
        {sectionsOf(entry).map(section => (
          <EntrySection key={section.title} section={section} heading={level === 3 ? 'h4' : 'h5'} isStatic={isStatic} />
        ))}
      </div>
      {children}
      <Links {...props} />
      {fact === null ? null : (
        <dl class="entry-facts pairs">
          <Fact name={fact.label} {...(fact.outcome && { kind: fact.outcome })}>
            {fact.outcome ? <Mark kind={fact.outcome === 'warn' ? 'error' : fact.outcome} label="" /> : null}{' '}
            {visible(fact.text)}
          </Fact>
        </dl>
      )}
      <Remarks {...props} />
      {otherAttempts.length === 0 ? null : (
        <div class="entry-section">
          <h4>{entry.kind === 'event' ? 'Attempts' : 'Other attempts'}</h4>
          <ul class="entry-remarks">
            {otherAttempts.map(attempt => (
              <li key={attempt.seq}>
                <EntryRef seq={attempt.seq} refs={{ onSelect }} /> {labelOf(lineOf(attempt))}:{' '}
                {lineOf(attempt).answer?.short}
              </li>
            ))}
          </ul>
        </div>
      )}
      <details class="entry-raw">
        <summary>The entry as JSON</summary>
        {isStatic ? <Payload payload={entry} /> : <BodyView payload={entry} label="Entry" />}
      </details>
    </section>
  )
}

/** Cause and effects with their labels. */
function Links({ entry, effects, entryOf, onSelect }: EntryDetailsProps) {
  const isFault = (seq: number) => entryOf?.(seq)?.kind === 'fault'
  const rows = {
    'Caused by': entry.cause === null ? [] : [entry.cause],
    'Hit by': effects.filter(isFault),
    Caused: effects.filter(seq => !isFault(seq)),
  }
  if (entry.cause === null && effects.length === 0) return null
  return (
    <dl class="entry-links pairs">
      {Object.entries(rows).map(([name, seqs]) =>
        seqs.length === 0 ? null : (
          <Fact key={name} name={name}>
            {seqs.slice(0, MAX_EFFECTS).map(seq => {
              const linked = entryOf?.(seq)
              return (
                <span key={seq} class="entry-link">
                  <EntryRef seq={seq} refs={{ onSelect }} />{' '}
                  {linked === undefined ? null : <bdi>{labelOf(lineOf(linked))}</bdi>}
                </span>
              )
            })}
            {seqs.length > MAX_EFFECTS ? <span class="entry-link">{seqs.length - MAX_EFFECTS} more</span> : null}
          </Fact>
        ),
      )}
    </dl>
  )
}

/** Findings with their rules, and assumptions with links to their knobs. */
function Remarks({ entry, onKnob }: EntryDetailsProps) {
  if (entry.kind !== 'api') return null
  const { findings, unspecified } = entry
  const assumptions = Object.entries(unspecified)
  return (
    <>
      {findings.length === 0 ? null : (
        <div class="entry-section">
          <h4>Findings</h4>
          <ul class="entry-remarks">
            {findings.map(({ rule, message }) => (
              <li key={rule + message}>
                <code>{visible(rule)}</code> {visible(message)}
              </li>
            ))}
          </ul>
        </div>
      )}
      {assumptions.length === 0 ? null : (
        <div class="entry-section">
          <h4>
            Assumed <small>the platform does not say it; a knob changes it</small>
          </h4>
          <ul class="entry-remarks">
            {assumptions.map(([name, value]) => (
              <li key={name}>
                {value === null || onKnob === undefined ? (
                  <span>{visible(name)}</span>
                ) : (
                  <button type="button" class="link" onClick={() => onKnob(name)}>
                    {visible(name)}
                  </button>
                )}
                {value === null ? null : (
                  <code>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</code>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

interface EntrySectionProps {
  readonly section: Section
  readonly heading: 'h4' | 'h5'
  readonly isStatic: boolean
}

function EntrySection({ section, heading: Heading, isStatic }: EntrySectionProps) {
  const { title, aside, headers = {}, payload, exact, truncatedFrom } = section
  const rows = Object.entries(headers)
  const label = `Body of ${visible(title)}`
  let body = null
  if (payload !== undefined && payload !== '')
    body = isStatic ? (
      <Payload payload={payload} />
    ) : (
      <BodyView payload={payload} label={label} exact={exact} truncatedFrom={truncatedFrom} />
    )
  return (
    <div class="entry-section">
      <Heading>
        {visible(title)} {aside === undefined ? null : <small>{visible(aside)}</small>}
      </Heading>
      {body}
      {rows.length === 0 ? null : (
        <details>
          <summary>{counted(rows.length, 'header')}</summary>
          <dl class="entry-headers pairs">
            {rows.map(([name, value]) => (
              <Fact key={name} name={visible(name)}>
                {visible(String(value))}
              </Fact>
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

/** A body as formatted JSON, or as the text it is. */
export function Payload({ payload }: { readonly payload: unknown }) {
  return <pre tabIndex={0}>{visibleLines(pretty(payload))}</pre>
}
