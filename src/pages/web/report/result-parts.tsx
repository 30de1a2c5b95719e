/** Shows the parts that scenarios and checks have in common: facts, a bar of outcomes, a command, a timeline. */
import type { ComponentChildren } from 'preact'
import { visible } from '../../../base/text/terminal-text.ts'
import { CopyButton } from '../components/copy-button.tsx'
import type { TimelineData } from './timeline-data.tsx'

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
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
export function OutcomeBar({ parts }: { readonly parts: readonly BarPart[] }) {
  const shown = parts.filter(({ count }) => count > 0)
  const all = shown.reduce((sum, { count }) => sum + count, 0)
  if (all === 0) return null
  const share = (count: number) => ((100 + BAR_GAP) * count) / all
  const before = (index: number) => shown.slice(0, index).reduce((sum, { count }) => sum + share(count), 0)
  return (
    <svg class="report-bar" role="img" aria-label={shown.map(({ count, text }) => `${count} ${text}`).join(', ')}>
      {shown.map(({ outcome, count }, index) => (
        <rect
          key={outcome}
          class={outcome}
          x={`${before(index).toFixed(3)}%`}
          width={`${Math.max(0.1, share(count) - BAR_GAP).toFixed(3)}%`}
        />
      ))}
    </svg>
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
  marked: 'Only the entries its failures point to are kept: the report would be too large.',
  rows: 'The entries behind the rows are left out: the report would be too large.',
  nothing: 'The timeline is left out: the report would be too large.',
}

export function TimelineSection({ name, timeline: { level, rowCount, json, staticTable } }: TimelineSectionProps) {
  if (rowCount === 0) return null
  return (
    <section class="result-timeline">
      <h4>Timeline</h4>
      {level === 'whole' ? null : <p class="report-left-out">{MISSING[level]}</p>}
      {level === 'nothing' ? null : (
        <>
          <div class="result-diagram" data-name={visible(name)} />
          <Rendered as="script" type="application/json" markup={json} />
          <Rendered as="noscript" markup={staticTable === '' ? NOT_STATIC : staticTable} />
        </>
      )}
    </section>
  )
}

const NOT_STATIC = '<p>The timeline of a scenario that passed is drawn when scripts are allowed.</p>'

interface RenderedProps {
  readonly as: 'script' | 'noscript'
  readonly type?: string
  readonly markup: string
}

/** Markup that is made before, because its size decides what the report has: JSON for a script, or rendered components. */
function Rendered({ as: Tag, type, markup }: RenderedProps) {
  return <Tag type={type} dangerouslySetInnerHTML={{ __html: markup }} />
}
