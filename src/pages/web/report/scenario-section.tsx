/** Shows a scenario: a line that is always visible, and below it failures, warnings, steps and timeline. */

import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { FailureReport, ScenarioReport } from '../../../evaluation/evaluator/wording/report.ts'
import { placeText } from '../../../evaluation/scenario/plan.ts'
import { EntryRefList, type EntryRefs } from '../components/entry-ref.tsx'
import { FailureCards } from '../components/failure-cards.tsx'
import { OutcomeMark } from '../components/mark.tsx'
import { StepList } from '../components/steps.tsx'
import { linkTo } from './result-links.ts'
import { CommandLine, Fact, TimelineSection } from './result-parts.tsx'
import type { LinkedScenario } from './scenario-links.ts'
import type { TimelineData } from './timeline-data.tsx'

export interface ScenarioSectionProps extends LinkedScenario {
  readonly timeline: TimelineData
  readonly isOpen: boolean
}

export function ScenarioSection({ scenario, slug, timeline, isOpen }: ScenarioSectionProps) {
  const { outcome, reason, failures, steps } = scenario
  const refs: EntryRefs = { href: seq => linkTo(slug, seq) }
  return (
    <details class={`result ${outcome}`} id={slug} data-outcome={outcome} open={isOpen}>
      <Summary scenario={scenario} />
      <div class="result-body">
        <Facts scenario={scenario} slug={slug} />
        {reason === null ? null : <p class="result-reason">{visible(reason)}</p>}
        <FailureCards failures={failures} refs={refs} level={4} />
        <ScenarioWarnings scenario={scenario} refs={refs} />
        <CommandLine name="Play it again" command={scenario.rerunCommand} what="the command" />
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
      <h3 class="result-name">
        <b>{visible(name)}</b>
        {instance > 1 ? <small> run {instance}</small> : null}
        <small class="result-place">{visible(place === null ? file : placeText(place))}</small>
      </h3>
      <span class="result-first">
        {first === undefined ? visible(reason ?? '') : <FirstFailure failure={first} others={failures.length - 1} />}
      </span>
      <span class="result-took">{outcome === 'skipped' ? '' : formatMs(durationMs)}</span>
    </summary>
  )
}

function FirstFailure({ failure, others }: { readonly failure: FailureReport; readonly others: number }) {
  return (
    <>
      <span class="result-happened">{visible(failure.happened)}</span>
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
      <div class="result-link">
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
        <span key={key} class="result-pair">
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
    <ul class="result-warnings" aria-label="Warnings">
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
