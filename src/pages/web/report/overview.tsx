/** Shows what stands around the scenarios: verdict, facts, shared causes, failures of no scenario, warnings by rule. */
import { groupBy } from '../../../base/objects.ts'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { CauseReport } from '../../../evaluation/evaluator/wording/causes.ts'
import { exitCodeText, OUTCOME_TEXTS } from '../../../evaluation/evaluator/wording/outcomes.ts'
import type { RunReport, WarningReport } from '../../../evaluation/evaluator/wording/report.ts'
import { EntryDetails } from '../components/entry-details.tsx'
import { FailureCards } from '../components/failure-cards.tsx'
import { truncateEntry } from '../model/entry-sections.ts'
import { moment } from '../model/formats.ts'
import { linkTo } from './result-links.ts'
import { Fact, OutcomeBar } from './result-parts.tsx'
import { type LinkedScenario, OUTCOME_ORDER } from './scenario-links.ts'

interface RunProps {
  readonly result: RunReport
}

/** `2 of 6 scenarios failed`, `All 6 scenarios passed`. */
export function verdictHeading({ counts, scenarios, failures, stopped }: RunReport): string {
  const all = scenarios.length
  if (counts.fail > 0) return `${counts.fail} of ${counted(all, 'scenario')} failed`
  if (counts.error > 0)
    return `${counts.error} of ${counted(all, 'scenario')} could not be judged: an error around them`
  if (failures.length > 0) return `${counted(failures.length, 'failure')} outside of every scenario`
  if (stopped !== null) return `Stopped: ${counts.pass} of ${counted(all, 'scenario')} passed until then`
  if (counts.pass === 0) return all === 0 ? 'No scenario was played' : 'Nothing was decided'
  if (counts.pass < all) return `${counts.pass} of ${counted(all, 'scenario')} passed, none failed`
  return all === 1 ? 'The scenario passed' : `All ${all} scenarios passed`
}

export function Overview({ result }: RunProps) {
  const { stopped, target, seed, startedAt, durationMs, exitCode } = result
  return (
    <header>
      <p class="report-brand">
        handover-sim <span>scenario report</span>
      </p>
      <h1>{verdictHeading(result)}</h1>
      {stopped === null ? null : (
        <p class="report-stopped">
          <strong>Stopped early.</strong> {visible(stopped)}
        </p>
      )}
      <OutcomeBar
        parts={OUTCOME_ORDER.map(outcome => ({ outcome, count: result.counts[outcome], text: OUTCOME_TEXTS[outcome] }))}
      />
      <dl class="report-facts">
        <Fact name="Target">{visible(target)}</Fact>
        <Fact name="Seed">{seed ?? 'one for each shard'}</Fact>
        <Fact name="Started">{moment(startedAt)}</Fact>
        <Fact name="Took">{formatMs(durationMs)}</Fact>
        <Fact name="Exit code">{[exitCode, exitCodeText(exitCode)].filter(part => part !== undefined).join(', ')}</Fact>
      </dl>
    </header>
  )
}

const MAX_CARDS = 50
const MAX_ENTRIES = 50

export function OutsideFailures({ result: { failures, journal } }: RunProps) {
  if (failures.length === 0) return null
  const seqs = new Set(failures.flatMap(({ entrySeqs, nearest }) => [...entrySeqs, ...nearest.map(({ seq }) => seq)]))
  const entries = journal.filter(({ seq }) => seqs.has(seq)).slice(0, MAX_ENTRIES)
  const more = failures.length - MAX_CARDS
  return (
    <section class="report-outside" aria-labelledby="outside-title">
      <h2 id="outside-title">Outside of every scenario</h2>
      <FailureCards failures={failures.slice(0, MAX_CARDS)} level={3} />
      {more > 0 ? <p class="report-left-out">{more} more are left out here.</p> : null}
      {entries.map(entry => (
        <details key={entry.seq} class="report-entry">
          <summary>Entry #{entry.seq}</summary>
          <EntryDetails entry={truncateEntry(entry)} effects={[]} isStatic />
        </details>
      ))}
    </section>
  )
}

const MAX_SHARING = 12

/** The causes that several scenarios have. */
export function Causes({ result, linked }: RunProps & { readonly linked: readonly LinkedScenario[] }) {
  if (result.causes.length === 0) return null
  const byScenario = new Map(linked.map(one => [one.scenario, one]))
  const inOrder = result.scenarios.map(scenario => byScenario.get(scenario))
  return (
    <section class="report-table" aria-labelledby="causes-title">
      <h2 id="causes-title">Causes</h2>
      <table class="causes">
        <TableHead names={['Cause', 'Scenarios', 'In']} />
        <tbody>
          {result.causes.map(cause => (
            <CauseRow key={cause.text} cause={cause} sharing={cause.scenarios.flatMap(index => inOrder[index] ?? [])} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The second column has numbers. */
function TableHead({ names }: { readonly names: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map((name, index) => (
          <th key={name} scope="col" class={index === 1 ? 'number' : undefined}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface CauseRowProps {
  readonly cause: CauseReport
  readonly sharing: readonly LinkedScenario[]
}

function CauseRow({ cause: { text, hint }, sharing }: CauseRowProps) {
  const places = sharing.map(({ scenario, slug }) => ({ name: scenario.name, href: linkTo(slug) }))
  return (
    <tr>
      <th scope="row">
        {visible(text)}
        {hint === undefined ? null : <small>{visible(hint)}</small>}
      </th>
      <td class="number">{sharing.length}</td>
      <td>
        <Places places={places} max={MAX_SHARING} />
      </td>
    </tr>
  )
}

interface PlacesProps {
  readonly places: readonly { readonly name: string; readonly href: string }[]
  readonly max: number
}

function Places({ places, max }: PlacesProps) {
  return (
    <>
      <ul>
        {places.slice(0, max).map(({ name, href }) => (
          <li key={href}>
            <a href={href}>{visible(name)}</a>
          </li>
        ))}
      </ul>
      {places.length > max ? `and ${places.length - max} more` : null}
    </>
  )
}

interface LinkedWarning {
  readonly warning: WarningReport
  readonly linked: LinkedScenario
}

const MAX_PLACES = 6

export function Warnings({ scenarios }: { readonly scenarios: readonly LinkedScenario[] }) {
  const all = scenarios.flatMap(linked => linked.scenario.warnings.map(warning => ({ warning, linked })))
  if (all.length === 0) return null
  const rules = [...groupBy(all, ({ warning }) => warning.rule).values()].sort((a, b) => b.length - a.length)
  return (
    <section class="report-table" aria-labelledby="warnings-title">
      <h2 id="warnings-title">Warnings</h2>
      <table>
        <TableHead names={['Rule', 'Times', 'For example', 'In']} />
        <tbody>
          {rules.map(group => (
            <RuleRow key={group[0].warning.rule} group={group} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function RuleRow({ group }: { readonly group: readonly [LinkedWarning, ...LinkedWarning[]] }) {
  const { rule, message } = group[0].warning
  const places = [...groupBy(group, ({ linked }) => linked).values()].map(([{ linked, warning }]) => ({
    name: linked.scenario.name,
    href: linkTo(linked.slug, warning.entrySeqs[0]),
  }))
  return (
    <tr>
      <th scope="row">
        <code>{visible(rule)}</code>
      </th>
      <td class="number">{group.length}</td>
      <td>{visible(message)}</td>
      <td>
        <Places places={places} max={MAX_PLACES} />
      </td>
    </tr>
  )
}
