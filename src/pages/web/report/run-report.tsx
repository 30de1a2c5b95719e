/** Renders a run as one HTML file: verdict, shared causes, failures of no scenario, scenarios, warnings by rule. */

import { groupBy } from '../../../base/objects.ts'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import { exitCodeText, OUTCOME_TEXTS } from '../../../evaluation/evaluator/outcomes.ts'
import type { RunResult } from '../../../evaluation/evaluator/verdict.ts'
import { findingText } from '../../../evaluation/finding.ts'
import { placeText } from '../../../evaluation/scenario/plan.ts'
import type { Coverage } from '../../../running/explorer/situations.ts'
import { CodeText } from '../components/code-text.tsx'
import { CoverageMap } from '../components/coverage-map.tsx'
import { EntryDetails } from '../components/entry-details.tsx'
import type { EntryRefs } from '../components/entry-ref.tsx'
import { Fact, FailureCards, TargetOutputView, WarningList } from '../components/failure-cards.tsx'
import { StepList } from '../components/steps.tsx'
import { truncateEntry } from '../model/entry-sections.ts'
import { moment } from '../model/formats.ts'
import { reportPage } from './page.tsx'
import { FilterPlace } from './result-filter.tsx'
import { type BarPart, CommandLine, Pairs, ReportHead, Result, TableHead, TimelineSection } from './result-parts.tsx'
import { type LinkedScenario, linkScenarios, linkTo, OUTCOME_ORDER } from './scenario-links.ts'
import { collectTimelineData, markedIn, scenarioTimeline, type TimelineData } from './timeline-data.tsx'

/** `coverage`: of an exploration. */
export function htmlReport(run: RunResult, coverage: Coverage | null = null): string {
  const { stopped, target, seed, startedAt, durationMs, exitCode, version, counts } = run
  const linked = linkScenarios(run.scenarios, run.causes)
  const timelines = collectTimelineData(linked.map(scenarioTimeline))
  const parts = OUTCOME_ORDER.map(outcome => ({ outcome, count: counts[outcome], text: OUTCOME_TEXTS[outcome] }))
  const heading = verdictHeading(run)
  const children = (
    <>
      <ReportHead kind="scenario report" heading={heading} stopped={stopped} parts={parts}>
        <dl class="report-facts">
          <Fact name="Target">{visible(target)}</Fact>
          <Fact name="Seed">{seed ?? 'one for each shard'}</Fact>
          <Fact name="Started">{moment(startedAt)}</Fact>
          <Fact name="Took">{formatMs(durationMs)}</Fact>
          <Fact name="Exit code">
            {[exitCode, exitCodeText(exitCode)].filter(part => part !== undefined).join(', ')}
          </Fact>
        </dl>
      </ReportHead>
      <Causes run={run} linked={linked} />
      <OutsideFailures run={run} />
      <Scenarios linked={linked} timelines={timelines} parts={parts} />
      <Warnings linked={linked} />
      {coverage === null ? null : <CoverageMap {...coverage} />}
    </>
  )
  return reportPage({ title: heading, version, noun: 'scenario', children })
}

/** `2 of 6 scenarios failed`, `All 6 scenarios passed`. */
function verdictHeading({ counts, scenarios, failures, stopped }: RunResult): string {
  const total = scenarios.length
  if (counts.fail > 0) return `${counts.fail} of ${counted(total, 'scenario')} failed`
  if (counts.error > 0) return `${counts.error} of ${counted(total, 'scenario')} ended with an error of the environment`
  if (failures.length > 0) return `${counted(failures.length, 'failure')} outside of every scenario`
  if (stopped !== null) return `Stopped: ${counts.pass} of ${counted(total, 'scenario')} passed until then`
  if (counts.pass === 0) return total === 0 ? 'No scenario was run' : 'No scenario has a verdict'
  if (counts.pass < total) return `${counts.pass} of ${counted(total, 'scenario')} passed, none failed`
  return total === 1 ? 'The scenario passed' : `All ${total} scenarios passed`
}

const MAX_CARDS = 50
const MAX_ENTRIES = 50

function OutsideFailures({ run: { failures, journal } }: { readonly run: RunResult }) {
  if (failures.length === 0) return null
  const seqs = markedIn(failures)
  const entries = journal.filter(({ seq }) => seqs.has(seq)).slice(0, MAX_ENTRIES)
  const more = failures.length - MAX_CARDS
  return (
    <section class="report-outside" aria-labelledby="outside-title">
      <h2 id="outside-title">Outside of every scenario</h2>
      <FailureCards failures={failures.slice(0, MAX_CARDS)} level={3} />
      {more > 0 ? <p class="hint">{more} more are left out here.</p> : null}
      {entries.map(entry => (
        <details key={entry.seq} class="report-entry">
          <summary>Entry #{entry.seq}</summary>
          <EntryDetails entry={truncateEntry(entry)} effects={[]} isStatic />
        </details>
      ))}
    </section>
  )
}

interface LinkedProps {
  readonly linked: readonly LinkedScenario[]
}

interface ScenariosProps extends LinkedProps {
  readonly timelines: readonly TimelineData[]
  readonly parts: readonly BarPart[]
  readonly title?: string
}

/** All of a run, or the failed ones of a load. */
export function Scenarios({ linked, timelines, parts, title = 'Scenarios' }: ScenariosProps) {
  const short = timelines.filter(({ level }) => level !== 'whole').length
  // The first scenario that failed is open.
  const opened = linked.findIndex(({ scenario: { outcome } }) => outcome === 'fail' || outcome === 'error')
  return (
    <section id="scenarios" aria-labelledby="scenarios-title" tabIndex={-1}>
      <div class="result-tools">
        <h2 id="scenarios-title">{title}</h2>
        <FilterPlace
          chips={[{ outcome: 'all', text: 'all', count: linked.length }, ...parts.filter(({ count }) => count > 0)]}
          noun="scenario"
        />
      </div>
      {short === 0 ? null : (
        <p class="hint">
          Of {counted(short, 'scenario')} not everything is in this report, which would be too large: payloads or the
          timeline are left out. The journal of the run has all of it (<code>--report journal=FILE</code>).
        </p>
      )}
      <div class="result-heads" aria-hidden="true">
        <span />
        <span>Scenario</span>
        <span>First failure</span>
        <span>Took</span>
      </div>
      <div class="results">
        {linked.map((link, index) => (
          <ScenarioResult key={link.slug} {...link} timeline={timelines[index]} isOpen={index === opened} />
        ))}
      </div>
    </section>
  )
}

/** The causes that several scenarios have. */
function Causes({ run, linked }: LinkedProps & { readonly run: RunResult }) {
  if (run.causes.length === 0) return null
  const slugs = new Map(linked.map(({ scenario, slug }) => [scenario, slug]))
  return (
    <section class="report-table" aria-labelledby="causes-title">
      <h2 id="causes-title">Causes</h2>
      <table class="causes">
        <TableHead names={['Cause', 'Scenarios', 'In']} numbers={['Scenarios']} />
        <tbody>
          {run.causes.map(({ text, hint, scenarios }) => {
            const sharing = scenarios.flatMap(index => run.scenarios[index] ?? [])
            const places = sharing.map(scenario => ({ name: scenario.name, href: linkTo(slugs.get(scenario) ?? '') }))
            return (
              <tr key={text}>
                <th scope="row">
                  <CodeText text={text} />
                  {hint === undefined ? null : <small>{visible(hint)}</small>}
                </th>
                <td class="number">{sharing.length}</td>
                <Places places={places} max={12} />
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

interface PlacesProps {
  readonly places: readonly { readonly name: string; readonly href: string }[]
  readonly max: number
}

function Places({ places, max }: PlacesProps) {
  return (
    <td>
      <ul>
        {places.slice(0, max).map(({ name, href }) => (
          <li key={href}>
            <a href={href}>{visible(name)}</a>
          </li>
        ))}
      </ul>
      {places.length > max ? `and ${places.length - max} more` : null}
    </td>
  )
}

function Warnings({ linked }: LinkedProps) {
  const warnings = linked.flatMap(link => link.scenario.warnings.map(warning => ({ warning, ...link })))
  if (warnings.length === 0) return null
  const rules = [...groupBy(warnings, ({ warning }) => warning.code).values()].sort((a, b) => b.length - a.length)
  return (
    <section class="report-table" aria-labelledby="warnings-title">
      <h2 id="warnings-title">Warnings</h2>
      <table>
        <TableHead names={['Rule', 'Times', 'For example', 'In']} numbers={['Times']} />
        <tbody>
          {rules.map(group => {
            const { warning: first } = group[0]
            const places = [...groupBy(group, ({ slug }) => slug).values()].map(([{ scenario, slug, warning }]) => ({
              name: scenario.name,
              href: linkTo(slug, warning.entrySeqs[0]),
            }))
            return (
              <tr key={first.code}>
                <th scope="row">
                  <code>{visible(first.code)}</code>
                </th>
                <td class="number">{group.length}</td>
                <td>{visible(findingText(first))}</td>
                <Places places={places} max={6} />
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

interface ScenarioResultProps extends LinkedScenario {
  readonly timeline: TimelineData | undefined
  readonly isOpen: boolean
}

const MAX_CAPTURE_CHARS = 80

function ScenarioResult({ scenario, slug, timeline, isOpen }: ScenarioResultProps) {
  const { outcome, name, file, place, instance, durationMs, reason, failures, steps, tags, spec, warnings } = scenario
  const [first] = failures
  const refs: EntryRefs = { href: seq => linkTo(slug, seq) }
  const captures: Record<string, string> = {}
  for (const [key, value] of Object.entries(scenario.captures))
    captures[key] = (JSON.stringify(value) ?? '').slice(0, MAX_CAPTURE_CHARS)
  let startMs = scenario.journal[0]?.at_ms ?? 0
  if (scenario.journal.length === 0)
    for (const step of steps) startMs = Math.min(startMs, step.startMs ?? startMs, step.endMs ?? startMs)
  return (
    <Result
      slug={slug}
      outcome={outcome}
      mark={{ kind: outcome, label: OUTCOME_TEXTS[outcome] }}
      name={
        <>
          <b>{visible(name)}</b>
          {instance > 1 ? <small> run {instance}</small> : null}
        </>
      }
      place={place === null ? file : placeText(place)}
      first={
        first === undefined ? (
          visible(reason?.text ?? '')
        ) : (
          <>
            <span class="result-happened">{visible(first.happened)}</span>
            <small>
              {visible(first.expected)}
              {failures.length > 1 ? ` (and ${failures.length - 1} more)` : ''}
            </small>
          </>
        )
      }
      durationMs={outcome === 'skipped' ? null : durationMs}
      isOpen={isOpen}
      isFiltered
    >
      <dl class="report-facts">
        <Fact name="Seed">{scenario.seed}</Fact>
        <Fact name="Clock">{visible(scenario.clock)}</Fact>
        <Fact name="Started">{scenario.startedAt.slice(11, 19)}</Fact>
        {tags.length === 0 ? null : <Fact name="Tags">{visible(tags.join(', '))}</Fact>}
        {spec.length === 0 ? null : <Fact name="Rules">{visible(spec.join(', '))}</Fact>}
        <Pairs name="Chats" pairs={scenario.conversations} />
        <Pairs name="Captured" pairs={captures} max={Infinity} />
        <div class="result-link">
          <dd>
            <a href={linkTo(slug)}>Link to this scenario</a>
          </dd>
        </div>
      </dl>
      {reason === null ? null : <p class="result-reason">{visible(reason.text)}</p>}
      <FailureCards failures={failures} refs={refs} level={4} />
      <TargetOutputView output={scenario.targetOutput} />
      <WarningList warnings={warnings} refs={refs} />
      <CommandLine name="Run it again" command={scenario.rerunCommand} what="the command" />
      {steps.length === 0 ? null : (
        <section>
          <h4>Steps</h4>
          <StepList steps={steps} startMs={startMs} refs={refs} />
        </section>
      )}
      {timeline === undefined ? null : <TimelineSection name={name} timeline={timeline} />}
    </Result>
  )
}
