/** Finds calls that the platform refused for breaking its contract, and calls that `never` forbids. */

import { groupBy, isMap } from '../../base/objects.ts'
import { ERRORS, type ErrorCode } from '../../platform/contract/errors.ts'
import { interpolate } from '../scenario/interpolation.ts'
import type { CallPattern } from '../scenario/plan.ts'
import { type AttributedFailure, type Evaluation, nameOfConversation, sinceStart } from './evaluation.ts'
import type { Happened } from './failure.ts'
import { type Call, callReference, ruleOf } from './journal-index.ts'
import { fits } from './match.ts'
import { patternRef } from './references.ts'
import { failureDetails, interpolationProblem } from './step-evaluator.ts'

/** Errors that depend on the state of the platform, which the caller cannot know. */
const OF_STATE: readonly string[] = [
  'precondition_failed',
  'conflict',
  'rate_limited',
  'file_not_found',
] satisfies ErrorCode[]
const STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 422]

export function contractViolations(evaluation: Evaluation): AttributedFailure[] {
  const violations = evaluation.index.calls.filter(call => breaksContract(call.entry) && !isExpected(evaluation, call))
  return [...groupBy(violations, mistakeOf).values()].map(calls => violation(evaluation, calls))
}

/** Whether the platform refused the call for what the caller could know. */
export function breaksContract(entry: Call['entry']): boolean {
  if (entry.status < 400 || isFaulted(entry)) return false
  const { error } = refusalOf(entry)
  if (error !== null && Object.hasOwn(ERRORS, error)) return !OF_STATE.includes(error)
  return STATUSES.includes(entry.status)
}

/** A fault answers in place of the platform, and rests on no assumption about it. */
const isFaulted = (entry: Call['entry']) =>
  'answer_lost' in entry || ('faults' in entry && Object.keys(entry.unspecified).length === 0)

/** The error in the body of a refusal. */
export function refusalOf({ response }: Call['entry']): Pick<RefusedCall, 'error' | 'field' | 'message'> {
  const { code, field, message } = isMap(response) && isMap(response.error) ? response.error : {}
  return { error: textOrNull(code), field: textOrNull(field), message: textOrNull(message) }
}

type RefusedCall = Extract<Happened, { code: 'refused_call' }>

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** An `expect` with `auth: invalid` claimed it. */
function isExpected({ claims, expects }: Evaluation, call: Call): boolean {
  const owner = claims.ownerOf(call)
  const leaves = owner === null ? [] : (expects.get(owner)?.attempt.leaves ?? [])
  const keyed = call.entry.status === 401 || call.entry.status === 403
  return (
    keyed &&
    leaves.some(({ leaf: { auth, call: name } }) => auth === 'invalid' && (name === 'any' || name === call.endpoint))
  )
}

/** The same mistake in the same chat is reported once. */
function mistakeOf({ chatId, endpoint, entry }: Call): string {
  const { error, field } = refusalOf(entry)
  return JSON.stringify([chatId, endpoint ?? entry.path, entry.status, error, field])
}

function violation({ index }: Evaluation, calls: readonly [Call, ...Call[]]): AttributedFailure {
  const [first] = calls
  const { entry, endpoint, seq } = first
  const seqs = calls.map(call => call.seq)
  return {
    at: seq,
    step: null,
    conversation: nameOfConversation(index.conversationOf(first)),
    severity: index.plan.strict.contract,
    rule: 'contract',
    details: failureDetails(
      'contract',
      endpoint === null ? { code: 'known_path' } : { code: 'accepted_call', endpoint },
      { code: 'refused_call', call: callReference(first), status: entry.status, ...refusalOf(entry), seqs },
      { rules: rulesOf(first), entrySeqs: seqs },
    ),
  }
}

function rulesOf({ entry, endpoint }: Call): string[] {
  if (entry.status === 401) return ['A1', ruleOf(endpoint)]
  if (entry.status === 403) return [endpoint === 'chat' ? 'A3' : 'A2', ruleOf(endpoint)]
  return endpoint === null ? ['W7', 'V1'] : [ruleOf(endpoint)]
}

/** `never`: calls that must not arrive at any time of the play. */
export const forbiddenCalls = (evaluation: Evaluation): AttributedFailure[] =>
  evaluation.index.plan.never.flatMap(pattern => {
    const { index } = evaluation
    const [first, ...others] = index.calls.filter(call => matchesPattern(evaluation, pattern, call))
    if (first === undefined) return []
    const filled = patternRef(filledFor(evaluation, pattern, first))
    const afterMs = sinceStart(evaluation, first)
    const rest = others.map(({ seq }) => seq)
    return [
      {
        at: first.seq,
        step: null,
        conversation: nameOfConversation(index.conversationOf(first)),
        severity: 'fail',
        rule: 'never',
        details: failureDetails(
          'never',
          { code: 'never', pattern: filled },
          { code: 'forbidden_call', pattern: filled, call: callReference(first), afterMs, others: rest },
          { rules: [ruleOf(first.endpoint)], entrySeqs: [first.seq, ...rest] },
        ),
      },
    ]
  })

/** With the values of the chat the call is about. Throws `InterpolationError`. */
function filledFor({ index, variables }: Evaluation, pattern: CallPattern, call: Call): CallPattern {
  const conversation = index.conversationOf(call)
  const own = typeof conversation === 'string' ? conversation : (index.plan.conversations[0]?.name ?? '')
  return { ...pattern, body: pattern.body === null ? null : interpolate(pattern.body, variables.scopeOf(own)) }
}

function matchesPattern(evaluation: Evaluation, { call: name, body }: CallPattern, call: Call): boolean {
  const { index, options } = evaluation
  if (call.endpoint === null || (name !== 'any' && call.endpoint !== name)) return false
  if (index.ended !== null && call.readAt > index.ended.at_ms) return false
  const conversation = index.conversationOf(call)
  if (conversation === null || body === null) return conversation !== null
  // A value that was never captured matches nothing.
  let matches = false
  interpolationProblem(() => {
    matches = fits(filledFor(evaluation, { call: name, body }, call).body, call.body, options)
  })
  return matches
}
