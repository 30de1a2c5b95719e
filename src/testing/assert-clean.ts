/** Implements `assertClean`: fails a test for unexpected calls, contract findings and events that were not acknowledged. */

import { wallDelay } from '../base/runtime/clock.ts'
import type { Duration } from '../base/text/quantities.ts'
import { explainedSeqs, lintFailure } from '../evaluation/evaluator/compute-verdict.ts'
import { type EvaluatedStep, evictedFailure, internalFailure } from '../evaluation/evaluator/step-evaluator.ts'
import { ackResult, failedWorkFailure } from '../evaluation/evaluator/stimulus.ts'
import { contractViolations, unexpectedCalls } from '../evaluation/evaluator/unclaimed-calls.ts'
import { createOrphan, type Failure, type FailureDetails } from '../evaluation/finding.ts'
import type { DeliveryEntry } from '../evaluation/history.ts'
import { FINDINGS } from '../evaluation/rules/accepted-with-finding.ts'
import { lint } from '../evaluation/rules/lint.ts'
import { type CallId, ENDPOINTS } from '../platform/contract/endpoints.ts'
import { settled } from '../platform/simulator/core.ts'
import { anything, invalidOption, list, validateOptions } from '../platform/simulator/options.ts'
import type { PlatformSimulator } from '../platform/simulator/simulator.ts'
import { failureText } from '../platform/wording/failures.ts'
import { settle } from '../running/runner/waiting.ts'
import { type AckLimit, withinAckLimit } from './chat.ts'
import { expectationError } from './expectation-error.ts'
import { resetError } from './expectations.ts'
import { durationMs } from './options.ts'
import { type TestJournal, testJournalOf } from './test-journal.ts'

/** Findings that the platform accepts: headings of docs/reference/lint.md. */
export type FindingRule =
  | 'unknown-fields'
  | 'empty-fields'
  | 'sender-incomplete'
  | 'content-type'
  | 'end-without-takeover'

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

/** The maximum number of event loop turns in which continuations of the intermediary may make further calls. */
const MAX_TURNS = 50
const RULES: readonly string[] = Object.values(FINDINGS)

export async function assertClean(
  sim: PlatformSimulator,
  options: CleanOptions,
  callStack: string,
  limits: { readonly settleMs: number; readonly ack: AckLimit },
): Promise<void> {
  validateOptions('assertClean', options, { allow: list, settle: anything })
  const { allow = [] } = options
  for (const name of allow) {
    if (isCall(name) || RULES.includes(name)) continue
    const names = [...Object.keys(ENDPOINTS), ...RULES].join(', ')
    throw invalidOption('allow', `allow takes calls and findings (${names}), got ${JSON.stringify(name)}.`)
  }
  const tests = testJournalOf(sim)
  if (tests.openLabel !== undefined)
    throw invalidOption(
      'assertClean',
      `An expectation is still waiting: ${tests.openLabel}. Await it before assertClean.`,
    )

  // Waits until the intermediary is quiet.
  const { core, resetSignal } = tests
  const limited = { limit: limits.ack, what: 'assertClean', chatId: null, callStack: () => callStack }
  let last = -1
  for (let turn = 0; turn < MAX_TURNS && last !== core.journal.nextSeq; turn++) {
    last = core.journal.nextSeq
    await withinAckLimit(sim, limited, settled(core))
    await wallDelay(0, resetSignal)
  }
  const quietMs = durationMs('settle', options.settle) ?? limits.settleMs
  if (quietMs > 0) await settle(tests, { quietMs, awaitCall: false, signal: resetSignal })
  if (resetSignal.aborted) throw resetError('assertClean', callStack)

  tests.read()
  const [first, ...more] = [...callFailures(tests, allow.filter(isCall)), ...otherFailures(tests, allow)]
  if (first !== undefined) throw expectationError(tests, [first, ...more], callStack)
}

const isCall = (name: string): name is CallId => Object.hasOwn(ENDPOINTS, name)

/** Owns the calls that matchers found: a number that no expectation has. */
const MATCHER = -1

/** User actions that were not acknowledged, unexpected and refused calls, internal errors: in the order they occurred. */
function callFailures(tests: TestJournal, allowed: readonly CallId[]): Failure[] {
  const { index, claims, guard, matchedSeqs } = tests
  const failures: { at: number; step: EvaluatedStep | null; conversation: string | null; details: FailureDetails }[] =
    []
  for (const { entry, act, attempts } of index.history.events) {
    if (entry === null || act === null || attempts.some(isFaulted)) continue
    const event = { id: entry.delivery_id, ack: 200, isAsync: true, isReplay: false, start: act, end: entry } as const
    const details = ackResult(index, event, true).failure
    if (details !== undefined)
      failures.push({ at: entry.seq, step: null, conversation: tests.nameOf(act.chat_id), details })
  }
  // Claims the calls that matchers found during this check only, so that a later expectation can claim them.
  const matched = index.calls.filter(call => matchedSeqs.has(call.seq) && claims.ownerOf(call) === null)
  claims.assign(MATCHER, [], matched)
  tests.allow(allowed)
  failures.push(...contractViolations(tests))
  const reported = new Set(tests.explainedSeqs)
  for (const { details } of failures) for (const seq of explainedSeqs(details)) reported.add(seq)
  failures.push(...unexpectedCalls(tests, reported))
  claims.assign(MATCHER, matched, [])
  const notes = [
    ...index.internalErrors.map(note => ({ note, details: internalFailure(note) })),
    ...index.failedWork.map(note => ({ note, details: failedWorkFailure(note) })),
  ]
  for (const { note, details } of notes) {
    const conversation = index.history.conversationOf(note.chat_id)
    failures.push({ at: note.seq, step: null, conversation, details })
  }
  // Patterns that were too slow when calls were compared with an expectation that had been met.
  for (const number of guard.slow.keys()) {
    const details = guard.failureOf(number)
    const step = tests.expectations.get(number ?? 0) ?? null
    if (details === null || tests.reportedNumbers.has(number)) continue
    failures.push({ at: Number.MAX_SAFE_INTEGER, step, conversation: step?.conversation ?? null, details })
  }
  failures.sort((a, b) => a.at - b.at)
  return failures.map(({ details, step, conversation }) => tests.attribute(details, step, conversation))
}

/** An event that a fault lost or changed needs no answer. */
const isFaulted = ({ outcome, faults }: DeliveryEntry): boolean => outcome === 'failed' && faults !== undefined

/** Failed events that no user action caused, contract findings, and evicted entries. */
function otherFailures(tests: TestJournal, allow: readonly string[]): Failure[] {
  const { index } = tests
  const failures: Failure[] = []
  for (const { act, attempts } of index.history.events) {
    const last = attempts.findLast(({ duplicate }) => !duplicate)
    if (act !== null || last === undefined || last.outcome === 'delivered') continue
    const { seq, event, status, failure, faults, sign = 'valid', retry_in_ms, chat_id } = last
    if (faults !== undefined || sign !== 'valid' || retry_in_ms !== undefined) continue
    failures.push(
      createOrphan('stimulus', {
        code: 'delivery_failed',
        expected: `${event} acknowledged by the webhook`,
        happened:
          status === null
            ? `#${seq} ${event} was not delivered: ${failureText(failure)}`
            : `the webhook answered ${status} to #${seq} ${event}`,
        details: { event, status, failure },
        rules: ['WH1'],
        entrySeqs: [seq],
        conversation: tests.nameOf(chat_id) || null,
      }),
    )
  }
  for (const finding of lint({ config: {}, steps: [], finally: [] }, index.history)) {
    const { code } = finding
    if (!RULES.includes(code) || allow.includes(code)) continue
    const expected = `no finding of the platform; allow: [${JSON.stringify(code)}] permits it`
    failures.push(lintFailure('contract', finding, expected))
  }
  // An evicted entry may be a call that no expectation claims.
  if (!tests.isComplete(null))
    failures.push(
      tests.attribute(evictedFailure('a journal with every entry since the beginning', tests.firstSeq), null),
    )
  return failures
}
