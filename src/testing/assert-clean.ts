/** Implements `assertClean`: fails a test for unexpected calls, contract findings and events that were not acknowledged. */

import { wallDelay } from '../base/runtime/clock.ts'
import type { Duration } from '../base/text/quantities.ts'
import type { Failure } from '../evaluation/evaluator/failure.ts'
import { evictedFailure } from '../evaluation/evaluator/step-evaluator.ts'
import type { Verdict, Warning } from '../evaluation/evaluator/verdict.ts'
import { FINDINGS } from '../evaluation/linter/lint.ts'
import { type CallId, ENDPOINTS } from '../platform/contract/endpoints.ts'
import type { EntryOf } from '../platform/journal/entry.ts'
import { settled } from '../platform/simulator/core.ts'
import { anything, invalidOption, list, validateOptions } from '../platform/simulator/options.ts'
import type { PlatformSimulator } from '../platform/simulator/simulator.ts'
import { EMPTY_FAILURE, failureOfWarning } from '../running/runner/results.ts'
import { settle } from '../running/runner/waiting.ts'
import { type AckLimit, type LimitedAction, withinAckLimit } from './ack-limit.ts'
import { expectationError } from './expectation-error.ts'
import { resetError } from './expectations.ts'
import { durationMs } from './options.ts'
import { type TestRun, testRunOf } from './test-run.ts'

/** Findings that the platform accepts: headings of docs/lint.md. */
export type FindingRule = 'unknown-fields' | 'sender-incomplete' | 'content-type' | 'end-without-takeover'

/** Options of `assertClean`. */
export interface CleanOptions {
  /** Calls that need no expectation, besides those that only read, and findings to ignore. */
  readonly allow?: readonly (CallId | FindingRule)[]
  /**
   * How long no call may arrive before the check, a duration on the wall clock. Default `300ms` with a server; in-process
   * `0s`, which only waits for work in progress.
   */
  readonly settle?: Duration
}

export async function assertClean(
  sim: PlatformSimulator,
  options: CleanOptions,
  callStack: string,
  limits: { readonly settleMs: number; readonly ack: AckLimit },
): Promise<void> {
  validateOptions('assertClean', options, { allow: list, settle: anything })
  const { allow = [], settle: written } = options
  checkAllowed(allow)
  const run = testRunOf(sim)
  const [label] = run.pending.values()
  if (label !== undefined)
    throw invalidOption('assertClean', `An expectation has not ended: ${label}. Await it before assertClean.`)
  const limited = { limit: limits.ack, what: 'assertClean', chatId: null, callStack: () => callStack }
  await waitUntilQuiet(run, durationMs('settle', written) ?? limits.settleMs, limited)
  if (run.resetSignal.aborted) throw resetError('assertClean', callStack)
  const [first, ...more] = failuresOf(run, allow)
  if (first !== undefined) throw expectationError(run, [first, ...more], callStack)
}

const isCall = (name: string): name is CallId => Object.hasOwn(ENDPOINTS, name)

const RULES: readonly string[] = Object.values(FINDINGS)

function checkAllowed(allow: readonly string[]): void {
  const wrong = allow.find(one => !Object.hasOwn(ENDPOINTS, one) && !RULES.includes(one))
  if (wrong === undefined) return
  const known = [...Object.keys(ENDPOINTS), ...RULES].join(', ')
  throw invalidOption('allow', `allow holds calls and findings (${known}), got ${JSON.stringify(wrong)}.`)
}

/** The maximum number of event loop turns in which continuations of the intermediary may make further calls. */
const MAX_TURNS = 50

async function waitUntilQuiet(run: TestRun, ms: number, limited: LimitedAction): Promise<void> {
  const { context, core, resetSignal, sim } = run
  const { journal } = core
  let last = -1
  for (let turn = 0; turn < MAX_TURNS && last !== journal.nextSeq; turn++) {
    last = journal.nextSeq
    await withinAckLimit(sim, limited, settled(core))
    await wallDelay(0, resetSignal)
  }
  if (ms === 0) return
  await settle(context, { quietMs: ms, awaitCall: false, signal: resetSignal })
}

function failuresOf(run: TestRun, allow: readonly string[]): Failure[] {
  const { failures, warnings } = verdictOf(run, allow.filter(isCall))
  const own = failures.filter(({ kind, step }) => !SCENARIO_ONLY.includes(kind) && !run.reported.has(step?.number ?? 0))
  const findings = warnings.filter(({ rule }) => RULES.includes(rule) && !allow.includes(rule))
  return [...own, ...failedDeliveries(run), ...findings.map(findingFailure), ...evictedEntries(run)]
}

/** Entries that were evicted before the first expectation may contain calls that no expectation claims. */
const evictedEntries = ({ evaluation: { index } }: TestRun): Failure[] =>
  index.firstSeq === 1 ? [] : [{ ...EMPTY_FAILURE, ...evictedFailure({ code: 'complete_journal' }, index) }]

/** A step number that no plan contains: it owns the calls that matchers found. */
const MATCHER_STEP = -1

/** Claims the calls that matchers found during the evaluation only, so that a later expectation can claim them. */
function verdictOf({ planBuilder, context, evaluation, matchedSeqs }: TestRun, allowed: readonly CallId[]): Verdict {
  const { index, claims } = evaluation
  planBuilder.allow(allowed)
  claims.assign(
    MATCHER_STEP,
    index.calls.filter(call => matchedSeqs.has(call.seq) && claims.ownerOf(call) === null),
  )
  const verdict = context.evaluator.finish()
  claims.assign(MATCHER_STEP, [])
  planBuilder.allow([])
  return verdict
}

/** These checks compare calls with what agents say, which only scenarios define. */
const SCENARIO_ONLY: readonly Failure['kind'][] = ['echo', 'leak']

const findingFailure = (finding: Warning): Failure =>
  failureOfWarning(finding, { kind: 'contract', expected: { code: 'no_finding', rule: finding.rule } })

/** Finds failed deliveries of events that no user action caused. */
function failedDeliveries(run: TestRun): Failure[] {
  const { evaluation, entries } = run
  const ofSteps = new Set([...evaluation.index.steps.keys()].map(number => evaluation.index.endOf(number)?.delivery_id))
  const last = new Map<string, EntryOf<'delivery'>>()
  for (const entry of entries) if (entry.kind === 'delivery' && !entry.duplicate) last.set(entry.delivery_id, entry)
  const failed = [...last.values()].filter(
    entry =>
      entry.outcome === 'failed' &&
      entry.faults === undefined &&
      (entry.sign ?? 'valid') === 'valid' &&
      entry.retry_in_ms === undefined &&
      !ofSteps.has(entry.delivery_id),
  )
  return failed.map(entry => ({
    ...EMPTY_FAILURE,
    ...undelivered(entry),
    conversation: run.conversationOf(entry.chat_id) || null,
  }))
}

const undelivered = ({ seq, event, status, failure }: EntryOf<'delivery'>) => ({
  kind: 'stimulus' as const,
  expected: { code: 'delivered', event } as const,
  happened: { code: 'delivery_failed', seq, event, status, ...(failure === undefined ? {} : { failure }) } as const,
  rules: ['WH1'],
  entrySeqs: [seq],
})
