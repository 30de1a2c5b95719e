/** Renders a load as one HTML file: thresholds, times, curves by time and by rate, and the first conversations that failed. */
import { keysOf } from '../../../base/objects.ts'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import { OUTCOME_TEXTS } from '../../../evaluation/evaluator/outcomes.ts'
import type { LoadPoint } from '../../../running/load/load.ts'
import { type LoadReport, limitText, loadHeading, shownMs, TIME_HEADS, timeRows } from '../../../running/load/report.ts'
import { measuredText } from '../../../running/load/thresholds.ts'
import { TIMING_TEXTS } from '../../../running/load/timings.ts'
import { Fact } from '../components/failure-cards.tsx'
import { moment } from '../model/formats.ts'
import { reportPage } from './page.tsx'
import { ReportHead, TableHead } from './result-parts.tsx'
import { Scenarios } from './run-report.tsx'
import { linkScenarios, OUTCOME_ORDER } from './scenario-links.ts'
import { collectTimelineData, scenarioTimeline } from './timeline-data.tsx'

export function htmlLoad(load: LoadReport): string {
  const { all, withFaults, thresholds, outages, causes, points, version } = load
  const linked = linkScenarios(
    load.failed.map(({ result }) => result),
    [],
  )
  const timelines = collectTimelineData(linked.map(scenarioTimeline))
  const heading = loadHeading(load)
  const parts = OUTCOME_ORDER.map(outcome => ({
    ...{ outcome, count: all.verdicts[outcome], text: OUTCOME_TEXTS[outcome] },
  }))
  const times = points.map(({ at_s }) => at_s)
  const children = (
    <>
      <ReportHead
        kind="load report"
        heading={visible(heading)}
        tone={load.exitCode === 0 ? 'pass' : load.exitCode === 1 ? 'fail' : 'inconclusive'}
        stopped={load.isStopped ? 'A signal ended it, so the results are partial.' : null}
        parts={parts}
      >
        <dl class="report-facts">
          <Fact name="Target">{visible(load.target)}</Fact>
          <Fact name="Arrivals">{load.arrivals}</Fact>
          <Fact name="Conversations">{`${load.started}, at most ${load.mostActive} active`}</Fact>
          <Fact name="Calls">{`${all.calls}, ${all.refused} refused`}</Fact>
          <Fact name="Late starts">{all.late}</Fact>
          <Fact name="Seed">{load.seed}</Fact>
          <Fact name="Started">{moment(load.startedAt)}</Fact>
          <Fact name="Took">{formatMs(load.durationMs)}</Fact>
        </dl>
        {load.isBottleneck ? <p class="hint">The process that made the load was too busy to act in time.</p> : null}
        {load.steps.length > 0 ? <p>{limitText(load)}</p> : null}
        {load.ownLimit === null ? null : (
          <p class="hint">{`This machine can run ${Math.round(load.ownLimit)} such conversations a second.`}</p>
        )}
      </ReportHead>
      <Table
        id="thresholds"
        title="Thresholds"
        heads={['Fails the load', 'Measured', 'Result']}
        rows={thresholds.map(threshold => [
          threshold.text,
          measuredText(threshold),
          threshold.isMet ? 'not crossed' : 'crossed',
        ])}
      />
      <Table id="times" title="Times" heads={TIME_HEADS} rows={timeRows(all)} />
      {withFaults === null ? null : (
        <Table
          id="faults"
          title={`Times of ${counted(withFaults.conversations, 'conversation')} with faults`}
          heads={TIME_HEADS}
          rows={timeRows(withFaults)}
        />
      )}
      {points.length < 2 ? null : (
        <section aria-labelledby="curves-title">
          <h2 id="curves-title">Curves</h2>
          <div class="load-curves">
            {keysOf(TIMING_TEXTS).map(timing => (
              <Curve
                key={timing}
                title={`${TIMING_TEXTS[timing]}, by time`}
                x={times}
                unitX="s"
                lines={[
                  { name: 'p50', values: points.map(({ p50 }) => p50[timing]) },
                  { name: 'p99', values: points.map(({ p99 }) => p99[timing]) },
                ]}
                shown={shownMs}
              />
            ))}
            <Curve
              title="active conversations, by time"
              x={times}
              unitX="s"
              lines={[{ name: 'active', values: points.map(({ active }) => active) }]}
              shown={String}
            />
            <Curve
              title="failed and refused, by time"
              x={times}
              unitX="s"
              lines={[
                { name: 'failed', values: points.map(({ failed }) => failed) },
                { name: 'refused', values: points.map(({ refused }) => refused) },
              ]}
              shown={String}
            />
            <Curve title="user to agent, by arrival rate" {...byRate(points)} unitX="/s" shown={shownMs} />
          </div>
        </section>
      )}
      {outages.length === 0 ? null : (
        <Table
          id="outages"
          title="Outages of the webhook"
          heads={['From', 'Seconds']}
          rows={outages.map(({ from, seconds }) => [moment(from), String(seconds)])}
        />
      )}
      {causes.length === 0 ? null : (
        <Table
          id="causes"
          title="Why conversations failed"
          heads={['First failure', 'Conversations']}
          rows={causes.map(({ code, count }) => [code, String(count)])}
        />
      )}
      {linked.length === 0 ? null : (
        <Scenarios linked={linked} timelines={timelines} parts={[]} title="The first conversations that failed" />
      )}
    </>
  )
  return reportPage({ title: heading, version, noun: 'scenario', children })
}

interface TableProps {
  readonly id: string
  readonly title: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

function Table({ id, title, heads, rows }: TableProps) {
  const numbers = heads.slice(1)
  return (
    <section class="report-table load-table" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <table>
        <TableHead names={heads} numbers={numbers} />
        <tbody>
          {rows.map(([name = '', ...cells]) => (
            <tr key={name}>
              <th scope="row">{visible(name)}</th>
              {cells.map((cell, index) => (
                <td key={index} class="number">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface CurveProps {
  readonly title: string
  readonly x: readonly number[]
  readonly unitX: string
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
  shown(value: number): string
}

const WIDTH = 480
const HEIGHT = 120

/** Lines over one axis, with the highest value named. */
function Curve({ title, x, unitX, lines, shown }: CurveProps) {
  const values = lines.flatMap(line => line.values.filter(value => value !== null))
  const highest = Math.max(0, ...values)
  // Nothing to see: no value, only zeros, or a single point.
  if (highest === 0 || x.length < 2) return null
  const lastX = Math.max(...x)
  const text = lines.map(({ name, values: own }) => `${name} up to ${shown(Math.max(...own.map(value => value ?? 0)))}`)
  return (
    <figure class="load-curve">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 20}`} role="img" aria-label={`${title}: ${text.join(', ')}`}>
        <line x1="0" y1={HEIGHT} x2={WIDTH} y2={HEIGHT} />
        {lines.map(({ name, values: own }, index) => {
          const points = own.flatMap((value, at) =>
            value === null
              ? []
              : `${(((x[at] ?? 0) / lastX) * WIDTH).toFixed(1)},${(HEIGHT - (value / highest) * (HEIGHT - 14)).toFixed(1)}`,
          )
          return <polyline key={name} class={`line-${index + 1}`} points={points.join(' ')} />
        })}
        <text x="0" y="10">
          {shown(highest)}
        </text>
        <text x={WIDTH} y={HEIGHT + 16} text-anchor="end">
          {`${lastX}${unitX}`}
        </text>
      </svg>
      <p class="hint">{text.join(', ')}</p>
    </figure>
  )
}

/** The points in the order of their rates, those of one rate as their worst. */
function byRate(points: readonly LoadPoint[]): Pick<CurveProps, 'x' | 'lines'> {
  const pointRates = points.map(({ rate }) => Math.round(rate * 10) / 10).filter(rate => rate > 0)
  const rates = [...new Set(pointRates)].sort((a, b) => a - b)
  const worst = (name: 'p50' | 'p99') =>
    rates.map(rate => {
      const values = points
        .filter(point => Math.round(point.rate * 10) / 10 === rate)
        .flatMap(point => point[name].user_to_agent ?? [])
      return values.length === 0 ? null : Math.max(...values)
    })
  return {
    x: rates,
    lines: [
      { name: 'p50', values: worst('p50') },
      { name: 'p99', values: worst('p99') },
    ],
  }
}
