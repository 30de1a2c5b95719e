/** Shows the parts that runs and certificates have in common: the head, a result with its timeline, facts, commands. */
import type { ComponentChildren } from 'preact'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Fact } from '../components/failure-cards.tsx'
import { Mark, type MarkKind } from '../components/mark.tsx'
import type { TimelineData } from './timeline-data.tsx'

interface ReportHeadProps {
  /** `scenario report`. */
  readonly kind: string
  readonly heading: string
  /** The outcome that colours the heading. */
  readonly tone?: string
  /** Below the heading. */
  readonly lead?: ComponentChildren
  /** Why it ended early; null when it did not. */
  readonly stopped: string | null
  readonly parts: readonly BarPart[]
  readonly children: ComponentChildren
}

export function ReportHead({ kind, heading, tone, lead, stopped, parts, children }: ReportHeadProps) {
  return (
    <header>
      <p class="report-brand">
        handover-sim <span>{kind}</span>
      </p>
      <h1 class={tone}>{heading}</h1>
      {lead}
      {stopped === null ? null : (
        <p class="report-notice warning">
          <strong>Stopped early.</strong> {visible(stopped)}
        </p>
      )}
      <OutcomeBar parts={parts} />
      {children}
    </header>
  )
}

export interface BarPart {
  readonly outcome: string
  readonly count: number
  /** As it ends a count: `3 passed`. */
  readonly text: string
}

const BAR_GAP = 0.4

/** A bar that is an SVG needs no style attribute, which the policy of the page forbids. */
function OutcomeBar({ parts }: { readonly parts: readonly BarPart[] }) {
  const shown = parts.filter(({ count }) => count > 0)
  let total = 0
  for (const { count } of shown) total += count
  if (total === 0) return null
  let end = 0
  return (
    <svg class="report-bar" role="img" aria-label={shown.map(({ count, text }) => `${count} ${text}`).join(', ')}>
      {shown.map(({ outcome, count }) => {
        const share = ((100 + BAR_GAP) * count) / total
        const x = `${end.toFixed(3)}%`
        end += share
        return <rect key={outcome} class={outcome} x={x} width={`${Math.max(0.1, share - BAR_GAP).toFixed(3)}%`} />
      })}
    </svg>
  )
}

interface PairsProps {
  readonly name: string
  readonly pairs: Readonly<Record<string, string>>
  /** More are counted. */
  readonly max?: number
}

export function Pairs({ name, pairs, max = 4 }: PairsProps) {
  const entries = Object.entries(pairs)
  if (entries.length === 0) return null
  return (
    <Fact name={name}>
      {entries.slice(0, max).map(([key, value]) => (
        <span key={key} class="result-pair">
          {visible(key)} <code>{visible(value)}</code>{' '}
        </span>
      ))}
      {entries.length > max ? `and ${entries.length - max} more` : null}
    </Fact>
  )
}

interface TableHeadProps {
  readonly names: readonly string[]
  /** Those whose column has numbers. */
  readonly numbers: readonly string[]
}

export function TableHead({ names, numbers }: TableHeadProps) {
  return (
    <thead>
      <tr>
        {names.map(name => (
          <th key={name} scope="col" class={numbers.includes(name) ? 'number' : undefined}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface ResultProps {
  /** Its address in the page. */
  readonly slug: string
  readonly outcome: string
  readonly mark: { readonly kind: MarkKind; readonly label: string }
  readonly name: ComponentChildren
  /** Below the name. */
  readonly place: string
  /** The first failure or finding, or why there is none. */
  readonly first: ComponentChildren
  readonly durationMs: number | null
  readonly isOpen: boolean
  /** Whether the filter of the page shows and hides it. */
  readonly isFiltered: boolean
  readonly children: ComponentChildren
}

/** A scenario or a check: a line that is always visible, in columns that line up over all results, and the rest below it. */
export function Result({ slug, outcome, mark, name, place, first, durationMs, ...props }: ResultProps) {
  const { isOpen, isFiltered, children } = props
  return (
    <details class={`result ${outcome}`} id={slug} data-outcome={isFiltered ? outcome : undefined} open={isOpen}>
      <summary>
        <Mark {...mark} />
        <h3 class="result-name">
          {name}
          <small class="result-place">{visible(place)}</small>
        </h3>
        <span class="result-first">{first}</span>
        <span class="result-took">{durationMs === null ? '' : formatMs(durationMs)}</span>
      </summary>
      <div class="result-body">{children}</div>
    </details>
  )
}

interface CommandLineProps {
  readonly name: string
  /** Empty for none. */
  readonly command: string
  /** For the name of the button that copies it. */
  readonly what: string
}

/** The command is copied as it is, and shown with its invisible characters. */
export function CommandLine({ name, command, what }: CommandLineProps) {
  if (command === '') return null
  return (
    <p class="result-rerun">
      <span>{name}</span> <code>{visible(command)}</code>{' '}
      <span class="result-copy scripted-only" data-text={command} data-what={what}>
        <CopyButton text={command} what={what} />
      </span>
    </p>
  )
}

interface TimelineSectionProps {
  /** Of the scenario or the check. */
  readonly name: string
  readonly timeline: TimelineData
}

const MISSING = {
  marked: 'Only the entries its failures point to are here: the report would be too large.',
  rows: 'The entries behind the rows are left out: the report would be too large.',
  nothing: 'The timeline is left out: the report would be too large.',
}

export function TimelineSection({ name, timeline: { level, rowCount, json, staticTable } }: TimelineSectionProps) {
  if (rowCount === 0) return null
  const withoutScript =
    staticTable === ''
      ? '<p>The timeline of a scenario that passed is drawn when scripts are allowed.</p>'
      : staticTable
  return (
    <section class="result-timeline">
      <h4>Timeline</h4>
      {level === 'whole' ? null : <p class="hint">{MISSING[level]}</p>}
      {level === 'nothing' ? null : (
        <>
          <div class="result-diagram" data-name={visible(name)} />
          {/* Both are rendered before, because their size decides what the report has. */}
          <script type="application/json" dangerouslySetInnerHTML={{ __html: json }} />
          <noscript dangerouslySetInnerHTML={{ __html: withoutScript }} />
        </>
      )}
    </section>
  )
}
