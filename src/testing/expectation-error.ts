/** Builds the error of a failed expectation: the report of the scenario runner, and the failures as data. */

import { sentence } from '../base/text/error-text.ts'
import { seqsOf } from '../evaluation/evaluator/journal-index.ts'
import type { RefusedEvent } from '../evaluation/evaluator/stimulus.ts'
import type { StepVerdict } from '../evaluation/evaluator/verdict.ts'
import { type Failure, hintFields } from '../evaluation/finding.ts'
import type { TimelineSource } from '../evaluation/timeline/timeline.ts'
import { diagramOf } from '../pages/reporters/diagram.ts'
import { failureLines } from '../pages/reporters/failures.ts'
import { type ColorLevel, createTheme, type Layout } from '../pages/reporters/theme.ts'
import { coreOf } from '../platform/simulator/simulator.ts'
import { presentEntry } from '../platform/wording/entry.ts'
import type { Environment } from '../running/agent-driver/driver.ts'
import { isIntercepted } from './interceptors/intercepted-routes.ts'
import type { TestJournal } from './test-journal.ts'

/** An expectation of a test failed. The message is a report; `failure` and `failures` contain the same as data. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError'
  /** The first failure, which is most likely the cause of the others. */
  readonly failure: Failure
  readonly failures: readonly Failure[]
  constructor(message: string, failures: readonly [Failure, ...Failure[]]) {
    super(message)
    this.failure = failures[0]
    this.failures = failures
  }
}

/** Creates the error of failures. `callStack`: the stack frames of the test that expects. */
export function expectationError(
  journal: TestJournal,
  unredacted: readonly [Failure, ...Failure[]],
  callStack: string,
): ExpectationError {
  const [first, ...more] = unredacted
  const failures = [withConnectionHint(journal, first), ...more] as const
  const message = `${reportLines(journal, failures).join('\n')}\n`
  const error = new ExpectationError(message, failures)
  error.stack = `${error.name}: ${message}${callStack}`
  return error
}

/** Adds to a missing call that it may have gone to the network, when no call reached a simulator without a port. */
function withConnectionHint({ sim, index }: TestJournal, failure: Failure): Failure {
  if ('url' in sim || index.calls.length > 0 || isIntercepted(sim.baseUrl)) return failure
  const { hintCode, hint = '', details } = failure
  const refused = details.refused as RefusedEvent | undefined
  // A webhook whose own call fails throws, or answers with a server error.
  const isOwnCall = refused?.failure === 'function_threw' || (refused?.status ?? 0) >= 500
  if (hintCode !== 'platform_address' && !(hintCode === 'event_refused' && isOwnCall)) return failure
  const before = hintCode === 'event_refused' ? `${sentence(hint)} ` : ''
  const text = `${before}No call reached the simulator: does the intermediary call ${sim.baseUrl}, and is intercept(sim) or handlers(sim) in force?`
  return { ...failure, ...hintFields({ code: 'nothing_intercepts', text }) }
}

const COLUMNS = 100

/** Renders failures, the expectations they name, and the timeline. */
export function reportLines(journal: TestJournal, unredacted: readonly Failure[]): string[] {
  const { secrets } = coreOf(journal.sim)
  const failures = secrets.redactDeep(unredacted)
  const layout: Layout = { columns: COLUMNS, theme: createTheme(colorLevel()) }
  const lines = failures.flatMap(failure => failureLines(failure, layout))
  // `step 2 is expect end`, for the numbers the failures name.
  const numbers = new Set(failures.flatMap(({ nearest }) => nearest.flatMap(({ steps }) => steps)))
  for (const { step } of failures) numbers.delete(step?.number ?? 0)
  for (const number of numbers) {
    const expectation = journal.expectations.get(number)
    if (expectation !== undefined) lines.push(`  step ${number} is ${expectation.label}`)
  }
  const { skippedEntries: count } = journal
  if (count > 0)
    lines.push(
      `  ${count} older entries are ignored: they came before a restore, or were evicted (journalLimit, memoryLimit)`,
    )
  lines.push('')
  for (const { text, shade } of diagramOf(createTimelineSource(journal, failures), COLUMNS))
    lines.push(layout.theme[shade](text))
  return lines.map(line => secrets.redact(line.trimEnd()))
}

function createTimelineSource(journal: TestJournal, failures: TimelineSource['failures']): TimelineSource {
  const { sim, index, expectations, expects, names } = journal
  const { secrets } = coreOf(sim)
  const header = String(sim.config()['webhook.signatureHeader'])
  const steps: StepVerdict[] = []
  for (const { number, id, name, label, conversation, place } of expectations.values()) {
    const claimed = seqsOf(expects.get(number)?.claimed ?? [])
    const ref = { number, of: expectations.size, id, name, label, conversation, place }
    steps.push({ ...ref, outcome: 'pass', startMs: null, endMs: null, claimed })
  }
  return {
    journal: index.entries.map(entry => secrets.redactDeep(presentEntry(entry, header))),
    failures,
    steps,
    conversations: Object.fromEntries([...names].map(([id, name]) => [name, id])),
  }
}

/** Colors only with FORCE_COLOR, because programs compare and log the message. */
function colorLevel(): ColorLevel {
  const env: Environment = (globalThis as { process?: { env?: Environment } }).process?.env ?? {}
  if (env.NO_COLOR || !env.FORCE_COLOR) return 0
  return env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false' ? 0 : 1
}
