/** Shows failures: what was expected, what happened, a hint, and the nearest calls with their differences. */
import './failures.css'
import type { ComponentChildren } from 'preact'
import { counted } from '../../../base/text/quantities.ts'
import { visible } from '../../../base/text/terminal-text.ts'
import { targetOutputHeading } from '../../../evaluation/evaluator/outcomes.ts'
import type { Warning } from '../../../evaluation/evaluator/verdict.ts'
import { type Failure, findingText, type NearMiss } from '../../../evaluation/finding.ts'
import { placeText } from '../../../evaluation/scenario/plan.ts'
import type { TargetOutput } from '../../../platform/journal/run-failures.ts'
import { offsetText } from '../model/formats.ts'
import { Differences } from './differences.tsx'
import { EntryRef, EntryRefList, type EntryRefs } from './entry-ref.tsx'
import { Mark } from './mark.tsx'

const KINDS = {
  expect: 'an expected call is missing',
  none: 'a forbidden call',
  sees: 'the agent does not see the message as expected',
  check: 'the chat is not in the expected state',
  stimulus: 'a step failed',
  driver: 'the agent driver refused',
  unexpected: 'an unexpected call',
  contract: 'a call that violates the contract',
  never: 'a violated invariant',
  times: 'too many calls, or too close together',
  echo: "the user's own text was sent back",
  leak: 'a text appeared in another chat',
  late: 'a call after the end of the scenario',
  lint: 'a warning, treated as a failure',
  stopped: 'interrupted',
  evicted: 'evicted entries',
  scenario: 'unusable scenario',
  environment: 'an environment error',
  internal: 'an internal error of handover-sim',
} satisfies Record<Failure['kind'], string>

export interface FailureCardsProps {
  readonly failures: readonly Failure[]
  readonly refs?: EntryRefs
  /** The level of their headings. */
  readonly level: 3 | 4
}

export function FailureCards({ failures, refs, level }: FailureCardsProps) {
  if (failures.length === 0) return null
  return (
    <div class="failure-cards">
      {failures.map((failure, index) => (
        <FailureCard key={index} failure={failure} refs={refs} level={level} />
      ))}
    </div>
  )
}

/** The last lines that the intermediary printed. */
export function TargetOutputView({ output }: { readonly output: TargetOutput | undefined }) {
  if (output === undefined) return null
  const heading = visible(targetOutputHeading(output))
  if (output.lines.length === 0) return <p class="hint">{heading}</p>
  return (
    <details class="target-output" open>
      <summary>{heading}</summary>
      <pre tabIndex={0}>{output.lines.map(visible).join('\n')}</pre>
    </details>
  )
}

interface FailureCardProps extends Pick<FailureCardsProps, 'refs' | 'level'> {
  readonly failure: Failure
}

function FailureCard({ failure, refs, level }: FailureCardProps) {
  const { kind, soft, expected, happened, entrySeqs, hint, step, conversation, rules } = failure
  const [first, ...otherMisses] = failure.nearest
  const Heading = level === 3 ? 'h3' : 'h4'
  const place: string[] = []
  if (step !== null) place.push(`step ${step.number}/${step.of}${step.name === null ? '' : ` ${step.name}`}`)
  if (step?.place != null) place.push(placeText(step.place))
  if (conversation !== null && conversation !== 'main') place.push(`chat ${conversation}`)
  if (rules.length > 0) place.push(`rule ${rules.join(', ')}`)
  if (soft) place.push('soft')
  return (
    <article class={`failure-card${soft ? ' soft' : ''}`}>
      <Heading class="failure-title">
        <Mark kind={kind === 'environment' || kind === 'internal' ? 'error' : 'fail'} label="failed" />
        <span class="failure-kind">
          {failure.code === 'item_too_often' ? 'the agent sees a message too often' : KINDS[kind]}
        </span>
        <span class="failure-place">
          {place.map(part => (
            <span key={part}>{visible(part)}</span>
          ))}
        </span>
      </Heading>
      <dl class="failure-facts pairs">
        <Fact name="expected">{visible(expected)}</Fact>
        <Fact name="happened" kind="failure-happened">
          {visible(first === undefined ? happened : happened.replace(/; nearest: .*$/s, ''))}{' '}
          <EntryRefList seqs={entrySeqs} refs={refs} />
        </Fact>
        {hint === undefined ? null : <Fact name="hint">{visible(hint)}</Fact>}
      </dl>
      {first === undefined ? null : (
        <div class="near-misses">
          <p class="near-misses-title">Nearest</p>
          <NearMissView miss={first} refs={refs} />
          {otherMisses.length === 0 ? null : (
            <details>
              <summary>{counted(otherMisses.length, 'other')}</summary>
              {otherMisses.map(miss => (
                <NearMissView key={`${miss.seq} ${miss.what}`} miss={miss} refs={refs} />
              ))}
            </details>
          )}
        </div>
      )}
    </article>
  )
}

/** One pair of a list of facts. */
export function Fact({ name, children, kind }: FactProps) {
  return (
    <div class={kind}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

export interface FactProps {
  readonly name: string
  readonly kind?: string
  readonly children: ComponentChildren
}

function NearMissView({ miss, refs }: { readonly miss: NearMiss } & Pick<FailureCardsProps, 'refs'>) {
  const { seq, what, afterMs, why, differences } = miss
  return (
    <div class="near-miss">
      <p>
        <EntryRef seq={seq} refs={refs} /> {visible(what)} <span class="near-miss-at">{offsetText(afterMs)} s</span>{' '}
        <span class="near-miss-why">{visible(why)}</span>
      </p>
      <Differences differences={differences} />
    </div>
  )
}

interface WarningListProps extends Pick<FailureCardsProps, 'refs'> {
  readonly warnings: readonly Warning[]
}

export function WarningList({ warnings, refs }: WarningListProps) {
  if (warnings.length === 0) return null
  return (
    <ul class="warning-list" aria-label="Warnings">
      {warnings.map((warning, index) => (
        <li key={index}>
          <code>{visible(warning.code)}</code> {visible(findingText(warning))}
          {warning.conversation === null ? '' : ` (chat ${visible(warning.conversation)})`}{' '}
          <EntryRefList seqs={warning.entrySeqs} refs={refs} />
        </li>
      ))}
    </ul>
  )
}
