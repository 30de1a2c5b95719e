/** Renders CTRF (Common Test Report Format): a test for each scenario or check, with the details of a failure as its trace. */
import { visible } from '../../base/text/terminal-text.ts'
import type { Report, ReportItem } from './report-model.ts'

/** Of the format, which has no other. */
const SPEC_VERSION = '0.0.0'

export function ctrfReport({ command, items, startedAt, durationMs, environment, stopped }: Report): string {
  const tests = items.map(testOf)
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0, other: 0 }
  for (const { status } of tests) counts[status]++
  const suites = new Set(items.map(({ suite }) => suite)).size
  const document = {
    reportFormat: 'CTRF',
    specVersion: SPEC_VERSION,
    generatedBy: 'handover-sim',
    results: {
      tool: { name: command, version: String(environment.version) },
      summary: { tests: tests.length, ...counts, suites, ...timesOf(startedAt, durationMs) },
      tests,
      environment: {
        extra: { ...visibleValues(environment), ...(stopped === null ? {} : { stopped: visible(stopped) }) },
      },
    },
  }
  return `${JSON.stringify(document)}\n`
}

/** A warning and an expected failure are `other`: they ran, did not pass, and do not fail the run. */
function testOf(item: ReportItem) {
  const { name, suite, status, isTodo, word, place, cause, skipReason } = item
  const isFailed = status === 'failure' || status === 'error'
  const message = status === 'skipped' ? skipReason : cause
  return {
    name: visible(name),
    status: status === 'passed' ? status : isFailed ? 'failed' : isTodo ? 'other' : 'skipped',
    rawStatus: word.toLowerCase(),
    ...timesOf(item.startedAt, item.durationMs),
    suite: [visible(suite)],
    ...(message ? { message: visible(message) } : {}),
    ...(isFailed ? { trace: item.details().join('\n') } : {}),
    ...(place === undefined ? {} : { filePath: visible(place.file) }),
    ...(place?.line ? { line: place.line } : {}),
    labels: visibleValues(item.properties),
  } as const
}

/** In milliseconds since 1970. */
function timesOf(startedAt: string, durationMs: number) {
  const start = Date.parse(startedAt)
  const duration = Math.round(durationMs)
  return { start, stop: start + duration, duration }
}

/** Leaves out empty values. */
function visibleValues(values: Readonly<Record<string, string | number>>) {
  const shown: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(values))
    if (value !== '') shown[name] = typeof value === 'string' ? visible(value) : value
  return shown
}
