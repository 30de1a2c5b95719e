/** Shows what the checks exercised: endpoints and events by their answers, signatures, and faults. */

import { visible } from '../../../base/text/terminal-text.ts'
import { ANSWER_CLASSES, type AnswerCounts, type Coverage, exercisedIn } from '../../../running/certifier/coverage.ts'

interface CoverageProps {
  readonly coverage: Coverage
}

export function CoverageTables({ coverage }: CoverageProps) {
  const { endpoints, events, faults } = exercisedIn(coverage)
  return (
    <section class="report-table" aria-labelledby="coverage-title">
      <h2 id="coverage-title">What was exercised</h2>
      <div class="coverage">
        <AnswerTable head="Endpoint" of={endpoints} rows={coverage.endpoints} />
        <AnswerTable head="Event" of={events} rows={coverage.events} />
        <CountTable
          head="Signature of events that checks sent"
          counts={coverage.signatures.map(({ mode, events: count }) => ({ name: mode, count }))}
        />
        <CountTable
          head={`Fault (${faults.count} of ${faults.of})`}
          counts={coverage.faults.map(({ side, effect, hits }) => ({ name: `${side} ${effect}`, count: hits }))}
        />
      </div>
    </section>
  )
}

interface AnswerTableProps {
  readonly head: string
  /** How many rows were exercised. */
  readonly of: { readonly count: number; readonly of: number }
  readonly rows: readonly AnswerCounts[]
}

function AnswerTable({ head, of, rows }: AnswerTableProps) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">
            {head} ({of.count} of {of.of})
          </th>
          {ANSWER_CLASSES.map(name => (
            <th key={name} scope="col" class="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, answers }) => (
          <CountRow key={name} name={name} counts={ANSWER_CLASSES.map(one => answers[one])} />
        ))}
      </tbody>
    </table>
  )
}

interface CountTableProps {
  readonly head: string
  readonly counts: readonly { readonly name: string; readonly count: number }[]
}

/** Names what never occurred below the table, because there is much of it. */
function CountTable({ head, counts }: CountTableProps) {
  const never = counts.filter(({ count }) => count === 0).map(({ name }) => name)
  return (
    <div>
      <table>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <th scope="col" class="number">
              Times
            </th>
          </tr>
        </thead>
        <tbody>
          {counts
            .filter(({ count }) => count > 0)
            .map(({ name, count }) => (
              <CountRow key={name} name={name} counts={[count]} />
            ))}
        </tbody>
      </table>
      {never.length === 0 ? null : <p class="report-left-out">Not exercised: {never.join(', ')}.</p>}
    </div>
  )
}

/** A row that was never exercised is faint. */
function CountRow({ name, counts }: { readonly name: string; readonly counts: readonly number[] }) {
  return (
    <tr class={counts.some(count => count > 0) ? undefined : 'unexercised'}>
      <th scope="row">{visible(name)}</th>
      {counts.map((count, index) => (
        <td key={index} class={count === 0 ? 'number none' : 'number'}>
          {count}
        </td>
      ))}
    </tr>
  )
}
