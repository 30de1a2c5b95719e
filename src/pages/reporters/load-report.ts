/** Shows a load while it runs; and its result as text, as JSON, and in the form that JUnit, TAP, GitHub's annotations and Markdown render. */
import { keysOf } from '../../base/objects.ts'
import { counted, formatDuration } from '../../base/text/quantities.ts'
import { formatMs, visible } from '../../base/text/terminal-text.ts'
import type { LoadProgress } from '../../running/load/load.ts'
import { type LoadReport, limitText, loadHeading, shownMs, TIME_HEADS, timeRows } from '../../running/load/report.ts'
import type { GroupResult } from '../../running/load/statistics.ts'
import { measuredText } from '../../running/load/thresholds.ts'
import { TIMING_TEXTS } from '../../running/load/timings.ts'
import { causeOf, detailLines, PLAIN_LAYOUT } from './failures.ts'
import type { Report, ReportItem, ReportTable } from './report-model.ts'

/** `120 pass, 3 fail`, without those that are 0. */
const verdictsText = ({ verdicts }: GroupResult): string =>
  keysOf(verdicts)
    .filter(outcome => verdicts[outcome] > 0)
    .map(outcome => `${verdicts[outcome]} ${outcome}`)
    .join(', ') || 'none ended'

function* aligned(rows: readonly (readonly string[])[]): Generator<string> {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  for (const row of rows)
    yield `  ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')}`.trimEnd()
}

/** The end of a load, for a terminal. */
export function* loadText(load: LoadReport): Generator<string> {
  const { all, withFaults, causes, outages, thresholds, started, durationMs, leftOut, mostActive, ownLimit } = load
  yield loadHeading(load)
  yield ''
  const counts = [`${started} began in ${formatMs(durationMs)}`, `at most ${mostActive} active`]
  if (leftOut > 0) counts.push(`${leftOut} of the warm-up left out`)
  yield `Conversations: ${counts.join(', ')}; ${verdictsText(all)}.`
  yield `Calls: ${all.calls}, ${all.refused} refused. Late starts: ${all.late}.`
  yield* aligned([[...TIME_HEADS], ...timeRows(all)])
  if (withFaults !== null) {
    yield `With faults: ${counted(withFaults.conversations, 'conversation')}; ${verdictsText(withFaults)}.`
    yield* aligned([[...TIME_HEADS], ...timeRows(withFaults)])
  }
  for (const { text, isMet, ...rest } of thresholds)
    yield `${isMet ? 'ok  ' : 'FAIL'}  ${text}: ${measuredText({ text, isMet, ...rest })}`
  if (load.steps.length > 0) yield limitText(load)
  for (const { from, seconds } of outages)
    yield `Outage: no event reached the webhook for ${seconds} s from ${from} on.`
  for (const { code, count } of causes) yield `${counted(count, 'conversation')} failed: ${code}`
  for (const { result, misrouted } of load.failed) {
    yield ''
    yield `FAILED ${visible(result.name)}`
    for (const line of detailLines(result, PLAIN_LAYOUT)) yield `  ${line}`
    for (const { text, from, to } of misrouted)
      yield `  Chat ${to} received the text ${JSON.stringify(text)} of chat ${from}.`
  }
  yield ''
  if (ownLimit !== null)
    yield `This machine can run ${Math.round(ownLimit)} such conversations a second (measured with the reference intermediary).`
  if (load.isBottleneck)
    yield 'This process was too busy to act in time, so slow times may be its own: fewer arrivals, or several machines.'
}

const LINE_EVERY_MS = 10_000

/** What happens while it runs. */
function progressLines({ atMs, durationMs, rate, active, started, all }: LoadProgress): string[] {
  const result = all.result()
  const seconds = formatDuration(Math.round(atMs / 1000) * 1000)
  const times = keysOf(TIMING_TEXTS).flatMap(timing => {
    const measured = result.timings[timing]
    const values = measured && `p50 ${shownMs(measured.p50)}, p99 ${shownMs(measured.p99)}`
    return values === null ? [] : [`${TIMING_TEXTS[timing]} ${values}`]
  })
  return [
    `${seconds} of ${formatDuration(durationMs)}, ${Math.round(rate * 10) / 10} arrivals a second`,
    `${started} began, ${active} active, ${verdictsText(result)}`,
    `${result.refused} calls refused, ${result.late} late starts`,
    ...times,
  ]
}

/** docs/how-to/load.md describes the fields. */
export function loadJson(load: LoadReport): string {
  const { all, withFaults, causes, failed, points, outages, thresholds, steps } = load
  return `${JSON.stringify({
    v: 1,
    type: 'load',
    version: load.version,
    started_at: load.startedAt,
    duration_ms: Math.round(load.durationMs),
    target: load.target,
    seed: load.seed,
    exit_code: load.exitCode,
    is_stopped: load.isStopped,
    is_bottleneck: load.isBottleneck,
    own_limit: load.ownLimit,
    arrivals: load.arrivals,
    users: load.users,
    scenarios: load.scenarios,
    started: load.started,
    left_out: load.leftOut,
    most_active: load.mostActive,
    all,
    with_faults: withFaults,
    thresholds: thresholds.map(({ isMet, ...rest }) => ({ ...rest, is_met: isMet })),
    steps: steps.map(({ rate, isMet }) => ({ rate, is_met: isMet })),
    causes,
    failed: failed.map(({ result, misrouted }) => ({
      name: result.name,
      chats: result.conversations,
      misrouted,
      failures: result.failures.map(({ kind, expected, happened }) => ({ kind, expected, happened })),
    })),
    outages,
    points: points.map(({ process, ...point }) => ({
      ...point,
      busy_share: Math.round(process.busyShare * 100) / 100,
      loop_delay_ms: Math.round(process.loopDelayMs),
    })),
  })}\n`
}

export function reportOfLoad(load: LoadReport): Report {
  const { all, withFaults, startedAt, durationMs, target, seed, version, thresholds, failed } = load
  const base = { startedAt, durationMs: 0, properties: {}, facts: {}, column: '', details: () => [] }
  const judged = thresholds.map(({ text, isMet, ...rest }): ReportItem => {
    const cause = isMet ? '' : `it was ${measuredText({ text, isMet, ...rest })}`
    return {
      ...{ ...base, suite: 'thresholds', className: 'load.thresholds', name: text, title: text },
      ...{ word: isMet ? 'PASS' : 'FAIL', status: isMet ? 'passed' : 'failure', cause, code: 'threshold' },
      ...{ annotation: [cause], hasDetails: false },
    }
  })
  const conversations = failed.map(({ result }): ReportItem => {
    const cause = causeOf(result)
    return {
      ...{ ...base, suite: result.file, className: 'load.conversations', name: result.name, title: result.name },
      ...{ word: 'FAIL', status: 'failure', cause, code: result.failures[0]?.kind ?? 'fail', annotation: [cause] },
      ...{ durationMs: result.durationMs, hasDetails: true, details: () => detailLines(result, PLAIN_LAYOUT) },
    }
  })
  const tableOf = (title: string, group: GroupResult): ReportTable => ({
    title,
    parts: [{ heads: TIME_HEADS, rows: timeRows(group) }],
  })
  return {
    ...{ command: 'handover-sim load', noun: 'threshold', startedAt, durationMs },
    stopped: load.isStopped ? 'A signal ended it.' : null,
    environment: { target, seed, version },
    items: [...judged, ...conversations],
    notable: [...judged, ...conversations].filter(({ status }) => status === 'failure'),
    heading: `Load: ${loadHeading(load)}`,
    summary: `${counted(all.conversations, 'conversation')}: ${verdictsText(all)}.`,
    causes: [],
    tables: [tableOf('Times', all), ...(withFaults === null ? [] : [tableOf('Times with faults', withFaults)])],
    facts: [],
  }
}

/** On a terminal one screen that changes, elsewhere a line every ten seconds. */
export function showLoadProgress(output: { write(text: string): void }, isTTY: boolean) {
  let drawn = 0
  let nextLineMs = LINE_EVERY_MS
  return {
    show(progress: LoadProgress): void {
      if (isTTY) {
        const lines = progressLines(progress)
        output.write(`${drawn === 0 ? '' : `\u001b[${drawn}A\u001b[J`}${lines.join('\n')}\n`)
        drawn = lines.length
      } else if (progress.atMs >= nextLineMs) {
        output.write(`${progressLines(progress).join(' | ')}\n`)
        nextLineMs = progress.atMs + LINE_EVERY_MS
      }
    },
  }
}
