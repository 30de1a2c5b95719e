/**
 * Guesses what the agent did from the calls of the intermediary: `start` shows that the agent accepted, a message while an
 * agent has the chat that the agent wrote, `end` that the agent left. Other calls are the intermediary's own.
 */
import { isMap } from '../../base/objects.ts'
import { type ChatStatus, statusAfter } from '../../evaluation/history.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { Step } from '../../evaluation/scenario/format/step.ts'
import { AGENT_WORDS } from '../../evaluation/scenario/format/step.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { beganMs, hasFailed, isExpectable, isSameCall, type RecordedCall } from './recorded-calls.ts'

export type AgentStep = NonNullable<Step['agent']>

export interface AgentActs {
  /** The step of the agent before the call with this seq. */
  readonly before: ReadonlyMap<number, AgentStep>
  /** Calls that belong to the call before them: both were made because of one act. */
  readonly joined: ReadonlySet<number>
  /** Calls without an agent: the intermediary made them by itself. */
  readonly byItself: ReadonlySet<number>
}

/** Calls that usually follow an act of an agent. */
const CALLS_OF_AGENTS: readonly string[] = ['message', 'end', 'typing_start', 'typing_stop']
/** A call that comes so soon after another one, or after an act, was made because of the same act. */
const SOON_MS = 2_000

/** `entries`: of one chat, or those of no chat. */
export function guessAgentActs(entries: readonly Entry[]): AgentActs {
  const acts = { before: new Map<number, AgentStep>(), joined: new Set<number>(), byItself: new Set<number>() }
  // An agent driver journals the acts themselves.
  const isDriven = entries.some(isDriverAct)
  let status: ChatStatus = 'unknown'
  let isTyping = false
  /** When the user or the agent did something last, and the calls since then. */
  let lastActMs = 0
  let last: RecordedCall | null = null
  let sinceAct: RecordedCall[] = []

  for (const [index, entry] of entries.entries()) {
    const isTaken: boolean = status === 'agent'
    status = statusAfter(status, entry)
    if (entry.kind === 'user' || isDriverAct(entry)) {
      lastActMs = entry.at_ms
      last = null
      sinceAct = []
    } else if (entry.kind === 'note') {
      if (entry.note === 'typing_hidden') isTyping = false
    } else if (entry.kind === 'api' && isExpectable(entry)) {
      const call = entry
      const previous: RecordedCall | null = last
      last = call
      const isRetry = previous !== null && hasFailed(previous) && isSameCall(previous, call)
      const wasTyping: boolean = isTyping
      if (call.endpoint.startsWith('typing_')) isTyping = call.endpoint === 'typing_start'
      if (isRetry) continue

      // The intermediary often hides the indicator itself when the agent sends a message or leaves.
      if (call.endpoint === 'typing_stop') {
        const next = nextCall(entries, index)
        if (next !== null && ['message', 'end'].includes(next.endpoint) && beganMs(next) - call.at_ms < SOON_MS) {
          sinceAct.push(call)
          acts.joined.add(next.seq)
          continue
        }
        if (previous?.endpoint === 'message' && beganMs(call) - previous.at_ms < SOON_MS) {
          acts.joined.add(call.seq)
          continue
        }
      }

      const step = isDriven ? null : agentStepFor(call, isTaken, wasTyping)
      if (step === null) {
        sinceAct.push(call)
        if (CALLS_OF_AGENTS.includes(call.endpoint) && !isTaken && !isDriven) acts.byItself.add(call.seq)
        continue
      }
      // Calls that are much nearer to this one than to the act before were made because of the same act.
      const actMs: number = lastActMs
      const isOfAnotherAct = (earlier: RecordedCall): boolean => {
        const sinceMs = beganMs(earlier) - actMs
        const isNear = sinceMs > SOON_MS && beganMs(call) - earlier.at_ms < sinceMs / 4
        return !isNear && !(earlier.endpoint === 'typing_stop' && acts.joined.has(call.seq))
      }
      const first: RecordedCall | undefined = sinceAct[sinceAct.findLastIndex(isOfAnotherAct) + 1]
      acts.before.set(first?.seq ?? call.seq, step)
      lastActMs = call.at_ms
      sinceAct = []
    }
  }
  return acts
}

/** Null for a call that no act of an agent explains. */
function agentStepFor(call: RecordedCall, isTaken: boolean, isTyping: boolean): AgentStep | null {
  const body = isMap(call.request.body) ? call.request.body : {}
  if (call.endpoint === 'availability') return body.availability === 'CLOSED' ? 'away' : 'back'
  if (call.endpoint === 'start') return isTaken ? null : 'accept'
  if (!isTaken) return null
  if (call.endpoint === 'message') return { says: escapePlaceholders(String(body.message ?? '')) }
  if (call.endpoint === 'typing_start') return 'type'
  if (call.endpoint === 'typing_stop') return isTyping ? 'stop' : null
  return call.endpoint === 'end' ? 'leave' : null
}

/** The next call of the chat, unless the user acts before it. */
function nextCall(entries: readonly Entry[], index: number): RecordedCall | null {
  for (let next = index + 1; next < entries.length; next++) {
    const entry = entries[next]
    if (entry?.kind === 'user') return null
    if (entry?.kind === 'api' && isExpectable(entry)) return entry
  }
  return null
}

const DRIVER_ACTS: readonly string[] = [...AGENT_WORDS, 'says']

/** An act that an agent driver performed. */
export const isDriverAct = (entry: Entry): entry is EntryOf<'driver'> =>
  entry.kind === 'driver' && (DRIVER_ACTS.includes(String(entry.verb)) || String(entry.verb).startsWith('does.'))

/** The step of an act that an agent driver performed. */
export function driverStep(entry: EntryOf<'driver'>): AgentStep {
  const verb = String(entry.verb)
  if (verb.startsWith('does.'))
    return { does: verb.slice('does.'.length), ...(isMap(entry.with) && { with: escapePlaceholders(entry.with) }) }
  return AGENT_WORDS.find(word => word === verb) ?? { says: escapePlaceholders(String(entry.text ?? '')) }
}
