/** Calls the platform itself turned down, for reasons of its contract: not by a fault, not by a state. */
import { ENDPOINTS } from '../contract/endpoints.ts'
import { ERRORS, type ErrorCode } from '../contract/errors.ts'
import type { CallPattern } from '../scenario/action.ts'
import { InterpolationError, interpolate } from '../scenario/interpolation.ts'
import { type Call, ruleOf, shortName } from './call.ts'
import type { Evaluation } from './evaluation.ts'
import { AVAILABILITY } from './journal-index.ts'
import { fits } from './matching/match.ts'
import type { AttributedFailure } from './step-evaluator.ts'
import { listed, offset, patternText } from './wording.ts'

/** The caller could not have known better. */
const OF_STATE: readonly ErrorCode[] = ['precondition_failed', 'conflict', 'rate_limited', 'file_not_found']
const STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 422]

export function contractViolations(evaluation: Evaluation): AttributedFailure[] {
  const violations = evaluation.index.calls.filter(call => isViolation(call) && !isWanted(evaluation, call))
  return grouped(violations).map(calls => violation(evaluation, calls))
}

function isViolation({ entry }: Call): boolean {
  if (entry.status < 400 || isFaulted(entry)) return false
  const { code } = refusalOf(entry)
  if (code !== undefined && Object.hasOwn(ERRORS, code)) return !OF_STATE.includes(code as ErrorCode)
  return STATUSES.includes(entry.status)
}

/** A fault answers in place of the platform, and rests on no assumption about it. */
const isFaulted = (entry: Call['entry']) =>
  'answer_lost' in entry || ('faults' in entry && Object.keys(entry.unspecified).length === 0)

interface Refusal {
  readonly code?: string
  readonly message?: string
}

const refusalOf = ({ response }: Call['entry']): Refusal =>
  (response as { error?: Refusal } | null | undefined)?.error ?? {}

/** An `expect` with `auth: invalid` asked for it. */
function isWanted({ claims, expects }: Evaluation, call: Call): boolean {
  const owner = claims.ownerOf(call)
  const leaves = owner === null ? [] : (expects.get(owner)?.attempt?.alternative.leaves ?? [])
  const keyed = call.entry.status === 401 || call.entry.status === 403
  return (
    keyed && leaves.some(({ auth, call: name }) => auth === 'invalid' && (name === 'any' || name === call.endpoint))
  )
}

/** The same mistake in the same chat is told once. */
function grouped(calls: readonly Call[]): Call[][] {
  const groups = new Map<string, Call[]>()
  for (const call of calls) {
    const { code, message } = refusalOf(call.entry)
    const key = JSON.stringify([call.chatId, call.endpoint ?? call.entry.path, call.entry.status, code, message])
    groups.set(key, [...(groups.get(key) ?? []), call])
  }
  return [...groups.values()]
}

function violation({ index }: Evaluation, calls: readonly Call[]): AttributedFailure {
  const first = calls[0]!
  const { entry, endpoint, seq } = first
  const conversation = index.conversationOf(first)
  const { code, message } = refusalOf(entry)
  const often = calls.length === 1 ? '' : ` (${calls.length} times: ${listed(calls.map(call => call.seq))})`
  const name = `${entry.method} ${entry.path}`
  return {
    at: seq,
    step: null,
    conversation: conversation === AVAILABILITY ? null : conversation,
    severity: index.plan.strict.contract,
    rule: 'contract',
    told: {
      kind: 'contract',
      wanted:
        endpoint === null
          ? 'a path of the platform'
          : `${endpoint} as the platform takes it: ${ENDPOINTS[endpoint].summary}`,
      happened: `#${seq} ${name} was refused with ${entry.status}${code === undefined ? '' : ` ${code}`}${message === undefined ? '' : `: ${message}`}${often}`,
      rules: rulesOf(first),
      nearest: [],
      marks: calls.map(call => call.seq),
    },
  }
}

function rulesOf({ entry, endpoint }: Call): string[] {
  if (entry.status === 401) return ['A1', ruleOf(endpoint)]
  if (entry.status === 403) return [endpoint === 'chat' ? 'A3' : 'A2', ruleOf(endpoint)]
  return endpoint === null ? ['W7', 'V1'] : [ruleOf(endpoint)]
}

export const brokenInvariants = (evaluation: Evaluation): AttributedFailure[] =>
  evaluation.index.plan.never.flatMap(pattern => ofPattern(evaluation, pattern))

function ofPattern(evaluation: Evaluation, pattern: CallPattern): AttributedFailure[] {
  const { index } = evaluation
  const calls = index.calls.filter(call => isMeant(evaluation, pattern, call))
  const [first] = calls
  if (first === undefined) return []
  const conversation = index.conversationOf(first)
  const seqs = calls.map(({ seq }) => seq)
  const more = calls.length === 1 ? '' : `, and ${calls.length - 1} more (${listed(seqs.slice(1))})`
  return [
    {
      at: first.seq,
      step: null,
      conversation: conversation === AVAILABILITY ? null : conversation,
      severity: 'fail',
      rule: 'never',
      told: {
        kind: 'never',
        wanted: `never ${patternText(filledFor(evaluation, pattern, first))}`,
        happened: `${shortName(first)} came at ${offset(first.readAt - (index.started?.at_ms ?? 0))}${more}`,
        rules: [ruleOf(first.endpoint)],
        nearest: [],
        marks: seqs,
      },
    },
  ]
}

/** With the values of the chat the call is about. Throws `InterpolationError`. */
function filledFor({ index, variables }: Evaluation, pattern: CallPattern, call: Call): CallPattern {
  const conversation = index.conversationOf(call)
  const own = typeof conversation === 'string' ? conversation : (index.plan.conversations[0]?.name ?? '')
  return { ...pattern, body: pattern.body === null ? null : interpolate(pattern.body, variables.scopeOf(own)) }
}

function isMeant(evaluation: Evaluation, { call: name, body }: CallPattern, call: Call): boolean {
  const { index, options } = evaluation
  if (call.endpoint === null || (name !== 'any' && call.endpoint !== name)) return false
  if (index.ended !== null && call.readAt > index.ended.at_ms) return false
  const conversation = index.conversationOf(call)
  if (conversation === null || body === null) return conversation !== null
  try {
    return fits(filledFor(evaluation, { call: name, body }, call).body, call.body, options)
  } catch (error) {
    // A value that was never captured: there was nothing it could have been like.
    if (error instanceof InterpolationError) return false
    throw error
  }
}
