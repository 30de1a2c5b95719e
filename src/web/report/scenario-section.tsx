/** Shows a scenario: a line that is always visible, and below it failures, warnings, steps and timeline. */
import type { FailureReport, ScenarioReport } from '../../evaluator/wording/report.ts'
import { placeText } from '../../scenario/plan.ts'
import { formatMs, visible } from '../../text/terminal-text.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { EntryRefList, type EntryRefs } from '../components/entry-ref.tsx'
import { FailureCards } from '../components/failure-cards.tsx'
import { OutcomeMark } from '../components/mark.tsx'
import { StepList } from '../components/steps.tsx'
import { Fact } from './overview.tsx'
import { type LinkedScenario, linkTo } from './scenario-links.ts'
import type { TimelineData } from './timeline-data.tsx'

export interface ScenarioSectionProps extends LinkedScenario {
  readonly timeline: TimelineData
  readonly isOpen: boolean
}

export function ScenarioSection({ scenario, slug, timeline, isOpen }: ScenarioSectionProps) {
  const { outcome, reason, failures, steps } = scenario
  const refs: EntryRefs = { href: seq => linkTo(slug, seq) }
  return (
    <details class={`scenario ${outcome}`} id={slug} data-outcome={outcome} open={isOpen}>
      <Summary scenario={scenario} />
      <div class="scenario-body">
        <Facts scenario={scenario} slug={slug} />
        {reason === null ? null : <p class="scenario-reason">{visible(reason)}</p>}
        <FailureCards failures={failures} refs={refs} level={4} />
        <ScenarioWarnings scenario={scenario} refs={refs} />
        <RerunCommand scenario={scenario} />
        {steps.length === 0 ? null : (
          <section>
            <h4>Steps</h4>
            <StepList steps={steps} startMs={startOf(scenario)} refs={refs} />
          </section>
        )}
        <TimelineSection name={scenario.name} timeline={timeline} />
      </div>
    </details>
  )
}

interface ScenarioProps {
  readonly scenario: ScenarioReport
}

function startOf({ journal, steps }: ScenarioReport): number {
  const times = steps.flatMap(({ startMs, endMs }) => [startMs, endMs]).filter(ms => ms !== null)
  return journal[0]?.at_ms ?? Math.min(...times, 0)
}

/** Mark, name, place and first failure, in columns that line up over all scenarios. */
function Summary({ scenario: { outcome, name, file, place, failures, reason, durationMs, instance } }: ScenarioProps) {
  const [first] = failures
  return (
    <summary>
      <OutcomeMark outcome={outcome} />
      <h3 class="scenario-name">
        <b>{visible(name)}</b>
        {instance > 1 ? <small> run {instance}</small> : null}
        <small class="scenario-place">{visible(place === null ? file : placeText(place))}</small>
      </h3>
      <span class="scenario-first">
        {first === undefined ? visible(reason ?? '') : <FirstFailure failure={first} others={failures.length - 1} />}
      </span>
      <span class="scenario-took">{outcome === 'skipped' ? '' : formatMs(durationMs)}</span>
    </summary>
  )
}

function FirstFailure({ failure, others }: { readonly failure: FailureReport; readonly others: number }) {
  return (
    <>
      <span class="scenario-happened">{visible(failure.happened)}</span>
      <small>
        {visible(failure.expected)}
        {others > 0 ? ` (and ${others} more)` : ''}
      </small>
    </>
  )
}

function Facts({ scenario, slug }: ScenarioProps & { readonly slug: string }) {
  const { seed, clock, startedAt, tags, spec, conversations, captures } = scenario
  return (
    <dl class="report-facts">
      <Fact name="Seed">{seed}</Fact>
      <Fact name="Clock">{visible(clock)}</Fact>
      <Fact name="Started">{startedAt.slice(11, 19)}</Fact>
      {tags.length === 0 ? null : <Fact name="Tags">{visible(tags.join(', '))}</Fact>}
      {spec.length === 0 ? null : <Fact name="Rules">{visible(spec.join(', '))}</Fact>}
      <Pairs name="Chats" pairs={Object.entries(conversations)} max={MAX_CHATS} />
      <Pairs name="Captured" pairs={capturedPairs(captures)} max={Infinity} />
      <div class="scenario-link">
        <dd>
          <a href={linkTo(slug)}>Link to this scenario</a>
        </dd>
      </div>
    </dl>
  )
}

interface PairsProps {
  readonly name: string
  readonly pairs: readonly (readonly [name: string, value: string])[]
  /** More are counted. */
  readonly max: number
}

function Pairs({ name, pairs, max }: PairsProps) {
  if (pairs.length === 0) return null
  return (
    <Fact name={name}>
      {pairs.slice(0, max).map(([key, value]) => (
        <span key={key} class="scenario-pair">
          {visible(key)} <code>{visible(value)}</code>{' '}
        </span>
      ))}
      {pairs.length > max ? `and ${pairs.length - max} more` : null}
    </Fact>
  )
}

const MAX_CHATS = 4
const LONGEST = 80

const capturedPairs = (captures: ScenarioReport['captures']) =>
  Object.entries(captures).map(([name, value]) => [name, (JSON.stringify(value) ?? '').slice(0, LONGEST)] as const)

function ScenarioWarnings({ scenario: { warnings }, refs }: ScenarioProps & { readonly refs: EntryRefs }) {
  if (warnings.length === 0) return null
  return (
    <ul class="scenario-warnings" aria-label="Warnings">
      {warnings.map(({ rule, message, conversation, entrySeqs }) => (
        <li key={`${rule} ${conversation} ${entrySeqs}`}>
          <code>{visible(rule)}</code> {visible(message)}
          {conversation === null ? '' : ` (chat ${visible(conversation)})`}{' '}
          <EntryRefList seqs={entrySeqs} refs={refs} />
        </li>
      ))}
    </ul>
  )
}

/** The command is copied as it is, and shown with its invisible characters. */
function RerunCommand({ scenario: { rerunCommand } }: ScenarioProps) {
  if (rerunCommand === '') return null
  return (
    <p class="scenario-rerun">
      <span>Play it again</span> <code>{visible(rerunCommand)}</code>{' '}
      <span class="scenario-copy scripted-only" data-text={rerunCommand}>
        <CopyButton text={rerunCommand} what="the command" />
      </span>
    </p>
  )
}

interface TimelineSectionProps {
  readonly name: string
  readonly timeline: TimelineData
}

const MISSING = {
  marked: 'Only the entries its failures point to are kept: the report would be too large.',
  rows: 'The entries behind the rows are left out: the report would be too large.',
  nothing: 'The timeline is left out: the report would be too large.',
}

function TimelineSection({ name, timeline: { level, rowCount, json, staticTable } }: TimelineSectionProps) {
  if (rowCount === 0) return null
  return (
    <section class="scenario-timeline">
      <h4>Timeline</h4>
      {level === 'whole' ? null : <p class="report-left-out">{MISSING[level]}</p>}
      {level === 'nothing' ? null : (
        <>
          <div class="scenario-diagram" data-name={visible(name)} />
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
