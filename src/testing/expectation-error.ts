/** Builds the error of a failed expectation: the report of the scenario runner, and the failures as data. */

import type { AttemptResult, Failure } from '../evaluation/evaluator/failure.ts'
import type { StepVerdict } from '../evaluation/evaluator/verdict.ts'
import { describeFailure } from '../evaluation/evaluator/wording/report.ts'
import { isStimulus, type PlannedStep } from '../evaluation/scenario/plan.ts'
import type { TimelineSource } from '../evaluation/timeline/timeline.ts'
import { diagramOf } from '../pages/reporters/diagram.ts'
import { failureLines } from '../pages/reporters/failures.ts'
import { type ColorLevel, createTheme, type Layout } from '../pages/reporters/theme.ts'
import type { Entry } from '../platform/journal/entry.ts'
import { coreOf } from '../platform/simulator/simulator.ts'
import { presentEntry } from '../platform/wording/entry.ts'
import type { Environment } from '../running/agent-driver/driver.ts'
import { isIntercepted } from './interceptors/intercepted-routes.ts'
import type { TestRun } from './test-run.ts'

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

/** `callStack`: the stack frames of the test that expects. */
export function expectationError(
  run: TestRun,
  found: readonly [Failure, ...Failure[]],
  callStack: string,
): ExpectationError {
  const [first, ...more] = found
  const failures = [withConnectionHint(run, first), ...more] as const
  const message = `${reportLines(run, failures).join('\n')}\n`
  const error = new ExpectationError(message, failures)
  error.stack = `${error.name}: ${message}${callStack}`
  return error
}

/** Adds to a missing call that it may have gone to the network, when no call reached a simulator without a port. */
function withConnectionHint({ sim, entries }: TestRun, failure: Failure): Failure {
  const { hint } = failure
  if ('url' in sim || entries.some(({ kind }) => kind === 'api') || isIntercepted(sim.baseUrl)) return failure
  const { baseUrl: url } = sim
  if (hint?.code === 'platform_address') return { ...failure, hint: { code: 'nothing_intercepts', url, refused: null } }
  if (hint?.code !== 'event_refused' || !hasFailed(hint.result)) return failure
  return { ...failure, hint: { code: 'nothing_intercepts', url, refused: hint.result } }
}

/** A webhook whose own call fails throws, or answers with a server error. */
const hasFailed = ({ failure, status }: AttemptResult): boolean =>
  failure?.code === 'function_threw' || (status !== null && status >= 500)

/** Returns the frames above `method`. Called before the first `await`, while the test is still on the stack. */
export const stackAbove = (method: (...args: never[]) => unknown): string => captureStackAbove(method)()

/** Captures the frames above `method`, and formats them only when the result is called: formatting takes long. */
export function captureStackAbove(method: (...args: never[]) => unknown): () => string {
  const error: { stack?: string } = new Error()
  Error.captureStackTrace?.(error, method)
  return () => (error.stack ?? '').replace(/^Error.*\n/, '')
}

const COLUMNS = 100

/** Renders failures, the steps they name, and the timeline. */
export function reportLines(run: TestRun, found: readonly Failure[]): string[] {
  const { secrets } = coreOf(run.sim)
  const failures = secrets.redactDeep(found)
  const layout: Layout = { columns: COLUMNS, theme: createTheme(colorLevel()) }
  const hard = failures.map(failure => ({ ...describeFailure(outsideChats(failure), 'test'), soft: false }))
  const lines = hard.flatMap(failure => failureLines(failure, layout))
  const timeline = diagramOf(timelineSourceOf(run, hard), COLUMNS).map(({ text, shade }) => layout.theme[shade](text))
  return [...lines, ...legend(run, failures), ...skippedEntries(run), '', ...timeline.map(withoutMarkNumbers)].map(
    line => secrets.redact(line.trimEnd()),
  )
}

/** Removes the conversation from failures of the bot, which belong to no chat. */
function outsideChats(failure: Failure): Failure {
  const { step, conversation } = failure
  if (conversation !== '' && step?.conversation !== '') return failure
  return { ...failure, conversation: null, step: step && { ...step, conversation: 'main' } }
}

/** Notes between two entries have no number in the journal. */
const withoutMarkNumbers = (line: string) => line.replace(/#\d+\.5/, found => ' '.repeat(found.length))

/** `step 2 is says "Hei"`, for the numbers the failures name. */
function legend({ evaluation }: TestRun, failures: readonly Failure[]): string[] {
  const own = failures.map(({ step }) => step?.number)
  const numbers = new Set(failures.flatMap(({ happened, nearest }) => namedSteps([happened, nearest])))
  const steps = [...numbers].filter(number => !own.includes(number)).map(number => evaluation.index.steps.get(number))
  const named = steps.filter((step): step is PlannedStep => step !== undefined)
  return named.map(({ number, label }) => `  step ${number} is ${label}`)
}

/** The step numbers that failures name without a label. */
function namedSteps(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'step' && typeof inner === 'number' ? [inner] : namedSteps(inner),
  )
}

const skippedEntries = ({ skippedEntries: count }: TestRun): string[] =>
  count === 0
    ? []
    : [`  ${count} older entries are ignored: they came before a restore, or were evicted (journalLimit, memoryLimit)`]

function timelineSourceOf(run: TestRun, failures: TimelineSource['failures']): TimelineSource {
  const { sim, entries, evaluation, context } = run
  const { secrets } = coreOf(sim)
  const header = String(sim.config()['webhook.signatureHeader'])
  const steps = [...evaluation.index.steps.values()].map(step =>
    stepVerdict(step, evaluation.claims.claimedBy(step.number)),
  )
  return {
    journal: entries
      .filter(entry => !isDuplicateEntry(run, entry))
      .map(entry => secrets.redactDeep(presentEntry(entry, header))),
    failures,
    steps,
    conversations: Object.fromEntries([...context.conversations].map(([name, { id }]) => [name, id])),
  }
}

/** A user action has an entry of its own, besides the notes of its step. */
function isDuplicateEntry({ evaluation }: TestRun, entry: Entry): boolean {
  if (entry.kind !== 'note' || !/^step_(started|ended)$/.test(entry.note)) return false
  const step = evaluation.index.steps.get(Number(entry.step))
  return step !== undefined && isStimulus(step)
}

/** A timeline reads only number, conversation and claims. */
const stepVerdict = (step: PlannedStep, claimed: readonly { readonly seq: number }[]): StepVerdict => ({
  ...step,
  of: step.number,
  outcome: 'pass',
  startMs: null,
  endMs: null,
  claimed: claimed.map(({ seq }) => seq),
})

/** Colors only with FORCE_COLOR, because programs compare and log the message. */
function colorLevel(): ColorLevel {
  const env: Environment = (globalThis as { process?: { env?: Environment } }).process?.env ?? {}
  if (env.NO_COLOR || !env.FORCE_COLOR) return 0
  return env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false' ? 0 : 1
}
