/** Shows the checks with findings: what happened, what was expected, what to try, and the timeline that shows it. */

import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import { type CheckReport, type FindingReport, isExpectedFailure } from '../../../running/certifier/report.ts'
import { EntryRefList, type EntryRefs } from '../components/entry-ref.tsx'
import { Mark } from '../components/mark.tsx'
import { linkTo } from '../report/result-links.ts'
import { CommandLine, Fact, TimelineSection } from '../report/result-parts.tsx'
import type { TimelineData, TimelineInput } from '../report/timeline-data.tsx'
import { CHECK_OUTCOME_NAMES, FINDING_OUTCOMES, markOf, slugOf } from './outcomes.ts'

export function checkTimeline(check: CheckReport): TimelineInput {
  const { journal, chats, findings } = check
  const seqs = findings.flatMap(({ entrySeqs }) => entrySeqs)
  const failures = [{ step: null, entrySeqs: seqs }]
  const source = { journal, conversations: chats, steps: [], failures }
  return { slug: slugOf(check), source, marked: new Set(seqs), isPassed: false }
}

export interface NotableChecksProps {
  readonly checks: readonly CheckReport[]
  readonly timelines: readonly TimelineData[]
}

export function NotableChecks({ checks, timelines }: NotableChecksProps) {
  if (checks.length === 0) return null
  const opened = checks.findIndex(({ outcome }) => outcome === 'fail' || outcome === 'error')
  return (
    <section aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      <div class="results">
        {checks.map((check, index) => {
          const timeline = timelines[index]
          return timeline === undefined ? null : (
            <CheckSection key={check.id} check={check} timeline={timeline} isOpen={index === opened} />
          )
        })}
      </div>
    </section>
  )
}

interface CheckProps {
  readonly check: CheckReport
}

interface CheckSectionProps extends CheckProps {
  readonly timeline: TimelineData
  readonly isOpen: boolean
}

function CheckSection({ check, timeline, isOpen }: CheckSectionProps) {
  const { id, outcome, findings, reason, decisiveText, title, helpCommand, rerunCommand } = check
  const refs: EntryRefs = { href: seq => linkTo(slugOf(check), seq) }
  return (
    <details class={`result ${outcome}`} id={slugOf(check)} open={isOpen}>
      <Summary check={check} />
      <div class="result-body">
        <Expectation check={check} />
        {reason === null ? null : <p class="result-reason">{visible(reason)}</p>}
        <div class="failure-cards">
          {findings.map((finding, index) => (
            <FindingCard key={index} finding={finding} refs={refs} />
          ))}
        </div>
        {decisiveText === null ? null : <p class="check-decisive">{visible(decisiveText)}</p>}
        <div>
          <CommandLine name="What it means, and how to fix it" command={helpCommand} what="the command for help" />
          <CommandLine name="Run it again" command={rerunCommand} what="the command" />
        </div>
        <Definition check={check} />
        <VariedKnobs check={check} />
        <TimelineSection name={`${id} ${title}`} timeline={timeline} />
      </div>
    </details>
  )
}

/** In columns that line up over all checks. */
function Summary({ check }: CheckProps) {
  const { id, title, level, outcome, findings, reason, durationMs } = check
  return (
    <summary>
      <Mark kind={markOf(outcome)} label={CHECK_OUTCOME_NAMES[outcome]} />
      <h3 class="result-name">
        <b>
          <span class="check-id">{id}</span> {visible(title)}
        </b>
        <small class="result-place">{isExpectedFailure(check) ? `${level}, expected to fail` : level}</small>
      </h3>
      <span class="result-first">
        <span class="result-happened">{visible(findings[0]?.happened ?? reason ?? '')}</span>
        {findings.length > 1 ? <small>and {findings.length - 1} more</small> : null}
      </span>
      <span class="result-took">{formatMs(durationMs)}</span>
    </summary>
  )
}

interface FindingCardProps {
  readonly finding: FindingReport
  readonly refs: EntryRefs
}

function FindingCard({ finding: { level, code, happened, expected, next, entrySeqs }, refs }: FindingCardProps) {
  const outcome = FINDING_OUTCOMES[level]
  return (
    <article class={`failure-card ${outcome}`}>
      <h4 class="failure-title">
        <Mark kind={outcome} label="" />
        <span>{level}</span>
        <code class="failure-place">{code}</code>
      </h4>
      <dl class="failure-facts">
        <div class="failure-happened">
          <dt>happened</dt>
          <dd>
            {visible(happened)} <EntryRefList seqs={entrySeqs} refs={refs} />
          </dd>
        </div>
        <div>
          <dt>expected</dt>
          <dd>{visible(expected)}</dd>
        </div>
        <div>
          <dt>try</dt>
          <dd>{visible(next)}</dd>
        </div>
      </dl>
    </article>
  )
}

/** What the file of expected failures says about it. */
function Expectation({ check: { expectation } }: CheckProps) {
  if (expectation === null) return null
  const { status, because, until } = expectation
  const end = until === null ? '' : ` until ${until}`
  const head = status === 'expired' ? `This failure was expected${end} only:` : `This failure is expected${end}:`
  return (
    <p class="check-expected">
      {head} {visible(because)}
    </p>
  )
}

function Definition({ check: { sends, observes, passes, profile, rules, chats } }: CheckProps) {
  const names = Object.keys(chats).length
  return (
    <dl class="check-definition">
      <Fact name="Sends">{sends}</Fact>
      <Fact name="Observes">{observes}</Fact>
      <Fact name="Passes">{passes}</Fact>
      <Fact name="Profile">{profile}</Fact>
      <Fact name="Rules">{rules.join(', ')}</Fact>
      {names === 0 ? null : (
        <Fact name="Chats">
          {Object.entries(chats)
            .slice(0, MAX_CHATS)
            .map(([name, chatId]) => (
              <span key={name} class="result-pair">
                {visible(name)} <code>{visible(chatId)}</code>{' '}
              </span>
            ))}
          {names > MAX_CHATS ? `and ${names - MAX_CHATS} more` : null}
        </Fact>
      )}
    </dl>
  )
}

const MAX_CHATS = 4

/** The behaviours that differ from their defaults; those that decide the failure are marked. */
function VariedKnobs({ check: { rotated, decisive } }: CheckProps) {
  const knobs = Object.entries(rotated)
  if (knobs.length === 0) return null
  const deciding = new Set(decisive.map(({ knob }) => knob))
  const [mustOpen, count] = [deciding.size > 0, knobs.length]
  return (
    <details class="check-varied" open={mustOpen}>
      <summary>
        {count === 1 ? '1 unspecified behaviour of the platform was' : `${count} unspecified behaviours were`} varied
        here
      </summary>
      <ul>
        {knobs.map(([knob, value]) => (
          <li key={knob} class={deciding.has(knob) ? 'deciding' : undefined}>
            <code>{visible(`${knob}=${String(value)}`)}</code>
            {deciding.has(knob) ? ' decides' : ''}
          </li>
        ))}
      </ul>
    </details>
  )
}
