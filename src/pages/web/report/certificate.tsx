/** Renders a certificate as one HTML file: the level, checks with findings, all checks, what was exercised, its limits. */
import type { ComponentChildren } from 'preact'
import { groupBy } from '../../../base/objects.ts'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { Finding } from '../../../evaluation/finding.ts'
import { PROFILES } from '../../../running/certifier/check.ts'
import { ANSWER_CLASSES, type AnswerCounts, exercisedIn } from '../../../running/certifier/coverage.ts'
import {
  blockedText,
  type CertificateReport,
  type CheckReport,
  isExpectedFailure,
  LEVEL_TEXTS,
  leadingCauses,
  measurementLines,
  shownLevel,
  stoppedText,
  WORST_FIRST,
  worstFirst,
} from '../../../running/certifier/report.ts'
import { EntryRefList, type EntryRefs } from '../components/entry-ref.tsx'
import { Fact, TargetOutputView } from '../components/failure-cards.tsx'
import { Mark, type MarkKind } from '../components/mark.tsx'
import { moment } from '../model/formats.ts'
import { reportPage } from './page.tsx'
import { FilterPlace } from './result-filter.tsx'
import { type BarPart, CommandLine, Pairs, ReportHead, Result, TableHead, TimelineSection } from './result-parts.tsx'
import { linkTo } from './scenario-links.ts'
import { collectTimelineData, type TimelineData } from './timeline-data.tsx'

/** As they end a count: `3 passed`. */
const OUTCOME_NAMES = {
  pass: 'passed',
  fail: 'failed',
  warn: 'with a warning',
  info: 'with information',
  not_applicable: 'not applicable',
  blocked: 'blocked',
  inconclusive: 'inconclusive',
  error: 'ended by an internal error',
}

export function htmlCertificate(certificate: CertificateReport): string {
  const { checks, counts, version } = certificate
  // Those with something to read. The id of a check is its address in the page.
  const notable = worstFirst(checks).filter(({ findings, outcome }) => findings.length > 0 || outcome === 'error')
  // The check that shows the leading cause is open.
  const [leading] = leadingCauses(certificate)
  const opened = notable.findIndex(({ id, outcome }) => (leading ? id === leading.check : outcome === 'error'))
  const timelines = collectTimelineData(
    notable.map(({ id, journal, chats, findings }) => {
      const entrySeqs = findings.flatMap(finding => finding.entrySeqs)
      const source = { journal, conversations: chats, steps: [], failures: [{ step: null, entrySeqs }] }
      return { slug: id, source, marked: new Set(entrySeqs), isPassed: false }
    }),
  )
  const parts = WORST_FIRST.filter(outcome => counts[outcome] > 0).map(outcome => ({
    outcome,
    count: counts[outcome],
    text: OUTCOME_NAMES[outcome],
  }))
  const children = (
    <>
      <CertificateHead certificate={certificate} parts={parts} />
      {notable.length === 0 ? null : (
        <section aria-labelledby="findings-title">
          <h2 id="findings-title">Findings</h2>
          <div class="results">
            {notable.map((check, index) => (
              <CheckResult key={check.id} check={check} timeline={timelines[index]} isOpen={index === opened} />
            ))}
          </div>
        </section>
      )}
      <CheckTable certificate={certificate} notable={notable} parts={parts} />
      <NotExercised certificate={certificate} />
      <CoverageTables certificate={certificate} />
      <Varied certificate={certificate} />
      <section aria-labelledby="limits-title">
        <h2 id="limits-title">What this certificate does not show</h2>
        <ul class="certificate-limits">
          {LIMITS.map(text => (
            <li key={text}>{text}</li>
          ))}
        </ul>
        <p class="hint">
          <code>docs/reference/certification.md</code> of the package says more: what the outcomes and levels mean, and
          what is varied.
        </p>
      </section>
    </>
  )
  return reportPage({ title: levelHeading(certificate), version, noun: 'check', children })
}

const LIMITS = [
  'That the real platform behaves as its description says, or only in the ways that were varied here. Where the description is silent, the simulator assumes something.',
  'That the intermediary serves more chats at once than the checks open, or runs for weeks.',
  'That it is secure: the checks know common mistakes with signatures and keys, not every attack.',
  'Anything about the help desk, except what the agent driver shows.',
  'That a later version is as good: certify in CI, and attach the certificate to each release.',
]

interface CertificateProps {
  readonly certificate: CertificateReport
}

/** `Level resilient`, `No level: 2 of 40 checks failed, 5 are blocked`. */
function levelHeading({ level, counts, checks, levelObstacle }: CertificateReport): string {
  if (level !== null) return `Level ${level}`
  const blocked = counts.blocked === 0 ? '' : `, ${counts.blocked} ${counts.blocked === 1 ? 'is' : 'are'} blocked`
  if (counts.fail > 0) return `No level: ${counts.fail} of ${counted(checks.length, 'check')} failed${blocked}`
  return levelObstacle === 'unmet' ? 'No level yet' : 'No level'
}

function CertificateHead({ certificate, parts }: CertificateProps & { readonly parts: readonly BarPart[] }) {
  const { level, levelText, stopped, counts, target, profiles, seed, startedAt, durationMs, version } = certificate
  const { machine, limits, rotates, missing, exitCode, exitText } = certificate
  const levels = Object.entries(LEVEL_TEXTS)
  // All levels are listed, so that a reader knows what the one that is reached leaves open.
  const reached = levels.findIndex(([name]) => name === level)
  return (
    <ReportHead
      kind="certificate"
      heading={levelHeading(certificate)}
      tone={level !== null ? 'pass' : counts.fail > 0 ? 'fail' : 'skipped'}
      lead={
        <>
          <Causes certificate={certificate} />
          <p class="certificate-meaning">{visible(levelText)}</p>
        </>
      }
      stopped={stopped}
      parts={parts}
    >
      <p class="certificate-counts">
        {parts.map(({ outcome, count, text }) => (
          <span key={outcome} class={outcome}>
            <b>{count}</b> {text}
          </span>
        ))}
      </p>
      <ol class="certificate-levels" aria-label="Levels">
        {levels.map(([name, meaning], index) => (
          <li key={name} class={index <= reached ? 'pass' : 'skipped'}>
            <Mark kind={index <= reached ? 'pass' : 'skipped'} label={index <= reached ? 'reached' : 'not reached'} />
            <div>
              <b>{name}</b> <small>{meaning}</small>
            </div>
          </li>
        ))}
      </ol>
      <dl class="report-facts">
        <Fact name="Target">{visible(target)}</Fact>
        <Fact name="Profiles">{profiles.join(', ')}</Fact>
        <Fact name="Seed">{seed}</Fact>
        <Fact name="Started">{moment(startedAt)}</Fact>
        <Fact name="Took">{formatMs(durationMs)}</Fact>
        <Fact name="handover-sim">{visible(version)}</Fact>
        <Fact name="Node">{visible(`${machine.node}, ${machine.os}`)}</Fact>
        <Fact name="Acknowledgement within">{formatMs(limits.ackMs)}</Fact>
        <Fact name="Observed for">{formatMs(limits.quietMs)}</Fact>
        {rotates ? null : <Fact name="Unspecified behaviour">not varied</Fact>}
        {missing.length === 0 ? null : <Fact name="Without">{missing.join(', ')}</Fact>}
        <Fact name="Exit code">{[String(exitCode), visible(exitText)].filter(Boolean).join(', ')}</Fact>
      </dl>
    </ReportHead>
  )
}

/** The causes, each with what to do and, folded, the checks that it stopped. */
function Causes({ certificate }: CertificateProps) {
  const byId = new Map(certificate.checks.map(check => [check.id, check]))
  return leadingCauses(certificate).map(cause => {
    const { check: id, text, blocked, repeated } = cause
    const check = byId.get(id)
    const outcome = check?.outcome === 'warn' ? 'warn' : 'fail'
    const nameOf = (checkId: string) => {
      const how = repeated.length > 0 && blocked.includes(checkId) ? ': blocked' : ''
      return visible(`${checkId} ${byId.get(checkId)?.title ?? ''}${how}`)
    }
    return (
      <article key={id} class={`failure-card certificate-cause ${outcome}`}>
        <h2>
          <a href={linkTo(id)}>{id}</a> {visible(text)}
        </h2>
        <p>{visible(check?.findings[0]?.hint ?? '')}</p>
        <FoldedList summary={stoppedText(cause)} items={[...blocked, ...repeated].map(nameOf)} />
      </article>
    )
  })
}

const markOf = ({ outcome }: CheckReport): MarkKind => (outcome === 'not_applicable' ? 'skipped' : outcome)

/** The check and what it found. */
function CheckResult({ check, timeline, isOpen }: CheckResultProps) {
  const { id, title, passes, outcome, findings, reason, expectation, durationMs, decisiveText, avoidedText } = check
  const refs: EntryRefs = { href: seq => linkTo(id, seq) }
  const end = expectation?.until == null ? '' : ` until ${expectation.until}`
  const isExpired = expectation?.status === 'expired'
  return (
    <Result
      slug={id}
      outcome={outcome}
      mark={{ kind: markOf(check), label: OUTCOME_NAMES[outcome] }}
      name={
        <b>
          <span class="check-id">{id}</span> {visible(title)}
        </b>
      }
      place={isExpectedFailure(check) ? `${shownLevel(check)}, expected to fail` : shownLevel(check)}
      first={
        <>
          <span class="result-happened">{visible(findings[0]?.happened ?? reason ?? '')}</span>
          {findings.length > 1 ? <small>and {findings.length - 1} more</small> : null}
        </>
      }
      durationMs={durationMs}
      isOpen={isOpen}
      isFiltered={false}
    >
      {expectation === null ? null : (
        <p class="report-notice check-expected">
          {isExpired ? `This failure was expected${end} only:` : `This failure is expected${end}:`}{' '}
          {visible(expectation.because)}
        </p>
      )}
      {reason === null ? null : <p class="result-reason">{visible(reason)}</p>}
      <div class="failure-cards">
        {findings.map((finding, index) => (
          <FindingCard key={index} finding={finding} passes={passes} refs={refs} />
        ))}
      </div>
      <TargetOutputView output={check.targetOutput} />
      {avoidedText === null ? null : <p class="report-notice">{visible(avoidedText)}</p>}
      {decisiveText === null ? null : <p class="report-notice check-decisive">{visible(decisiveText)}</p>}
      <div>
        <CommandLine name="What it means, and how to fix it" command={check.helpCommand} what="the command for help" />
        <CommandLine name="Run it again" command={check.rerunCommand} what="the command" />
      </div>
      <dl class="check-definition pairs">
        <Fact name="Sends">{check.sends}</Fact>
        <Fact name="Observes">{check.observes}</Fact>
        <Fact name="Profile">{check.profile}</Fact>
        <Fact name="Rules">{check.rules.join(', ')}</Fact>
        <Pairs name="Chats" pairs={check.chats} />
      </dl>
      <VariedKnobs check={check} />
      {timeline === undefined ? null : <TimelineSection name={`${id} ${title}`} timeline={timeline} />}
    </Result>
  )
}

interface CheckResultProps {
  readonly check: CheckReport
  readonly timeline: TimelineData | undefined
  readonly isOpen: boolean
}

/** The outcome of each level in findings. */
const FINDING_OUTCOMES = { MUST: 'fail', SHOULD: 'warn', INFO: 'info' } as const

interface FindingCardProps {
  readonly finding: Finding
  /** The pass rule of the check. */
  readonly passes: string
  readonly refs: EntryRefs
}

function FindingCard({ finding: { level, code, happened, hint = '', entrySeqs }, passes, refs }: FindingCardProps) {
  const outcome = FINDING_OUTCOMES[level]
  return (
    <article class={`failure-card ${outcome}`}>
      <h4 class="failure-title">
        <Mark kind={outcome} label="" />
        <span>{level}</span>
        <code class="failure-place">{code}</code>
      </h4>
      <dl class="failure-facts pairs">
        <Fact name="happened" kind="failure-happened">
          {visible(happened)} <EntryRefList seqs={entrySeqs} refs={refs} />
        </Fact>
        <Fact name="expected">{visible(passes)}</Fact>
        <Fact name="try">{visible(hint)}</Fact>
      </dl>
    </article>
  )
}

/** The behaviours that differ from their defaults; those that decide the failure are marked. */
function VariedKnobs({ check: { rotated, decisive } }: { readonly check: CheckReport }) {
  const deciding = new Set(decisive.map(({ knob }) => knob))
  const knobs = Object.entries(rotated).map(([knob, value]) => {
    const isDeciding = deciding.has(knob)
    return (
      <span key={knob} class={isDeciding ? 'deciding' : undefined}>
        <code>{visible(`${knob}=${String(value)}`)}</code> {isDeciding ? 'decides' : ''}
      </span>
    )
  })
  const count = counted(knobs.length, 'unspecified behaviour')
  const summary = `${count} of the platform ${knobs.length === 1 ? 'was' : 'were'} varied here`
  return <FoldedList summary={summary} items={knobs} isOpen={deciding.size > 0} />
}

interface FoldedListProps {
  readonly summary: string
  readonly items: readonly ComponentChildren[]
  readonly isOpen?: boolean
}

function FoldedList({ summary, items, isOpen = false }: FoldedListProps) {
  if (items.length === 0) return null
  return (
    <details class="folded-list" open={isOpen}>
      <summary>{summary}</summary>
      <ul>
        {items.map((item, index) => (
          <li key={index}>{item}</li>
        ))}
      </ul>
    </details>
  )
}

interface CheckTableProps extends CertificateProps {
  /** Those with a section of their own. */
  readonly notable: readonly CheckReport[]
  readonly parts: readonly BarPart[]
}

/** All checks by profile, with the filter. */
function CheckTable({ certificate: { checks, profiles }, notable, parts }: CheckTableProps) {
  return (
    <section id="checks" class="report-table" aria-labelledby="checks-title" tabIndex={-1}>
      <div class="result-tools">
        <h2 id="checks-title">All checks</h2>
        <FilterPlace chips={[{ outcome: 'all', text: 'all', count: checks.length }, ...parts]} noun="check" />
      </div>
      <table class="check-table">
        <TableHead names={['Outcome', 'Check', 'Level', 'Rules', 'Took']} numbers={['Took']} />
        {profiles.map(profile => {
          const rows = checks.filter(check => check.profile === profile)
          if (rows.length === 0) return null
          return (
            <tbody key={profile} data-group={profile}>
              <tr class="check-profile">
                <th scope="rowgroup" colSpan={5}>
                  {profile}{' '}
                  <small>
                    {rows.filter(({ outcome }) => outcome === 'pass').length} of {rows.length} passed
                  </small>
                </th>
              </tr>
              {rows.map(check => {
                const { id, title, passes, outcome, rules, durationMs, reason } = check
                const name = visible(`${id} ${title}`)
                const measured = measurementLines(check).map(visible).join('; ')
                const isLinked = notable.includes(check)
                return (
                  <tr key={id} class={outcome} data-outcome={outcome}>
                    <td class="check-outcome">
                      <Mark kind={markOf(check)} label="" /> {OUTCOME_NAMES[outcome]}
                    </td>
                    <th scope="row">
                      {isLinked ? <a href={linkTo(id)}>{name}</a> : name}
                      <small>{visible(outcome === 'pass' || isLinked || reason === null ? passes : reason)}</small>
                      {measured === '' ? null : <small>{measured}</small>}
                    </th>
                    <td>{shownLevel(check)}</td>
                    <td>
                      {rules.map(rule => (
                        <span key={rule} class="check-rule">
                          {rule}{' '}
                        </span>
                      ))}
                    </td>
                    <td class="number">{durationMs === 0 ? '' : formatMs(durationMs)}</td>
                  </tr>
                )
              })}
            </tbody>
          )
        })}
      </table>
    </section>
  )
}

/** Checks by the reason why nothing is known about them. */
function NotExercised({ certificate: { checks, profiles, isPartial, expectations } }: CertificateProps) {
  const open = checks.filter(({ outcome }) => ['blocked', 'inconclusive', 'not_applicable'].includes(outcome))
  const rows: { reason: string; names: readonly string[] }[] = []
  for (const [reason, group] of groupBy(open, ({ reason, blockedBy }) =>
    blockedBy === null ? (reason ?? '') : blockedText(blockedBy),
  ))
    rows.push({ reason, names: group.map(({ id }) => id) })
  const leftOut = PROFILES.filter(profile => !profiles.includes(profile))
  if (leftOut.length > 0)
    rows.push({ reason: 'The profile was not checked: pass --profile, or an agent driver.', names: leftOut })
  if (isPartial) rows.push({ reason: 'Checks were left out with --only, --skip or --profile.', names: [] })
  const passing = expectations.filter(({ status }) => status === 'passed').map(({ check }) => check)
  if (passing.length > 0)
    rows.push({
      reason: 'It was expected to fail and passes: remove it from the file of expected failures.',
      names: passing,
    })
  if (rows.length === 0) return null
  return (
    <section class="report-table" aria-labelledby="open-title">
      <h2 id="open-title">What was not exercised</h2>
      <table class="causes">
        <tbody>
          {rows.map(({ reason, names }) => (
            <tr key={reason}>
              <th scope="row">{visible(reason)}</th>
              <td>{names.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function CoverageTables({ certificate: { coverage } }: CertificateProps) {
  const { endpoints, events, faults } = exercisedIn(coverage)
  const countTable = (head: string, rows: readonly AnswerCounts[]): CountTableProps => ({
    head,
    columns: ANSWER_CLASSES,
    rows: rows.map(({ name, answers: counts }) => ({ name, counts: ANSWER_CLASSES.map(kind => counts[kind]) })),
  })
  const tables: CountTableProps[] = [
    countTable(`Endpoint (${endpoints.count} of ${endpoints.of})`, coverage.endpoints),
    countTable(`Event (${events.count} of ${events.of})`, coverage.events),
    {
      head: 'Signature of events that checks sent',
      columns: ['Times'],
      rows: coverage.signatures.map(({ mode, events: count }) => ({ name: mode, counts: [count] })),
    },
    {
      head: `Fault (${faults.count} of ${faults.of})`,
      columns: ['Times'],
      rows: coverage.faults.map(({ side, effect, hits }) => ({ name: `${side} ${effect}`, counts: [hits] })),
    },
  ]
  return (
    <section class="report-table" aria-labelledby="coverage-title">
      <h2 id="coverage-title">What was exercised</h2>
      <div class="coverage">
        {tables.map(table => (
          <CountTable key={table.head} {...table} />
        ))}
      </div>
    </section>
  )
}

interface CountTableProps {
  readonly head: string
  readonly columns: readonly string[]
  readonly rows: readonly { readonly name: string; readonly counts: readonly number[] }[]
}

/** Rows that were never exercised are faint; in a table of one column their names stand below it. */
function CountTable({ head, columns, rows }: CountTableProps) {
  const isExercised = ({ counts }: CountTableProps['rows'][number]) => counts.some(count => count > 0)
  const never = columns.length > 1 ? [] : rows.filter(row => !isExercised(row)).map(({ name }) => name)
  return (
    <div>
      <table>
        <TableHead names={[head, ...columns]} numbers={columns} />
        <tbody>
          {rows
            .filter(row => columns.length > 1 || isExercised(row))
            .map(row => (
              <tr key={row.name} class={isExercised(row) ? undefined : 'unexercised'}>
                <th scope="row">{visible(row.name)}</th>
                {row.counts.map((count, index) => (
                  <td key={index} class={count === 0 ? 'number none' : 'number'}>
                    {count}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      {never.length === 0 ? null : <p class="hint">Not exercised: {never.join(', ')}.</p>}
    </div>
  )
}

const tierText = (tiers: CertificateReport['tiers'], knob: string) => {
  const [, tier] = Object.entries(tiers).find(([name]) => name === knob) ?? []
  return tier === undefined ? '' : ` (${tier})`
}

/** The values of each knob that occurred beside its default, with the number of checks. */
function Varied({ certificate: { checks, rotates, tiers } }: CertificateProps) {
  const knobs = new Map<string, Map<string, number>>()
  for (const { rotated } of checks)
    for (const [knob, value] of Object.entries(rotated)) {
      const values = knobs.get(knob) ?? new Map<string, number>()
      knobs.set(knob, values.set(String(value), (values.get(String(value)) ?? 0) + 1))
    }
  if (!rotates || knobs.size === 0) return null
  const items = [...knobs].map(([knob, values]) => (
    <span key={knob}>
      <code>{visible(knob)}</code>{' '}
      {[...values].map(([value, count]) => `${visible(value)} in ${counted(count, 'check')}`).join(', ')}
      {tierText(tiers, knob)}
    </span>
  ))
  const summary = `${counted(knobs.size, 'behaviour')} that the platform's description leaves open. Each check has a choice of its own.`
  return (
    <section aria-labelledby="varied-title">
      <h2 id="varied-title">What was varied</h2>
      <FoldedList summary={summary} items={items} />
    </section>
  )
}
