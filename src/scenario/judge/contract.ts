/** Calls the platform itself turned down, for reasons of its contract: not by a fault, not by a state. */
import { ENDPOINTS } from '../../contract/endpoints.ts'
import { ERRORS, type ErrorCode } from '../../contract/errors.ts'
import { type Call, ruleOf } from './call.ts'
import type { Charge } from './charge.ts'
import { AVAILABILITY } from './facts.ts'
import type { Court } from './referee.ts'
import { listed } from './words.ts'

/** The caller could not have known better. */
const OF_STATE: readonly ErrorCode[] = ['precondition_failed', 'conflict', 'rate_limited', 'file_not_found']
const STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 422]

export function contractBreaches(court: Court): Charge[] {
  const breaches = court.facts.calls.filter(call => isBreach(call) && !isWanted(court, call))
  return grouped(breaches).map(calls => breach(court, calls))
}

function isBreach({ entry }: Call): boolean {
  if (entry.status < 400 || isFaulted(entry)) return false
  const { code } = refusalOf(entry)
  if (code !== undefined && Object.hasOwn(ERRORS, code)) return !OF_STATE.includes(code as ErrorCode)
  return STATUSES.includes(entry.status)
}

/** A fault answers in place of the platform, and rests on no assumption about it. */
const isFaulted = (entry: Call['entry']) =>
  'answer_lost' in entry || ('fault' in entry && Object.keys(entry.unspecified).length === 0)

interface Refusal {
  readonly code?: string
  readonly message?: string
}

const refusalOf = ({ response }: Call['entry']): Refusal =>
  (response as { error?: Refusal } | null | undefined)?.error ?? {}

/** An `expect` with `auth: invalid` asked for it. */
function isWanted({ ledger, expects }: Court, call: Call): boolean {
  const owner = ledger.ownerOf(call)
  const leaves = owner === null ? [] : (expects.get(owner)?.attempt?.way.leaves ?? [])
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

function breach({ facts }: Court, calls: readonly Call[]): Charge {
  const first = calls[0]!
  const { entry, endpoint, seq } = first
  const lane = facts.laneOf(first)
  const { code, message } = refusalOf(entry)
  const often = calls.length === 1 ? '' : ` (${calls.length} times: ${listed(calls.map(call => call.seq))})`
  const name = `${entry.method} ${entry.path}`
  return {
    at: seq,
    step: null,
    lane: lane === AVAILABILITY ? null : lane,
    severity: facts.plan.strict.contract,
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
