/** Defines rules about the order of the calls and events of one chat. */
import { isMap } from '../../base/objects.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import { callRef, isFaulty, type LinterRule, succeeded } from './rule.ts'

type Call = EntryOf<'api'>

/** A new handover request allows messages again, such as a notice that all agents are busy. */
export const messageAfterEnd: LinterRule<'message-after-end'> = {
  id: 'message-after-end',
  *findInChat(chat) {
    let endSeq: number | null = null
    for (const entry of chat) {
      if (entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') endSeq = null
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      if (entry.endpoint === 'end') endSeq = entry.seq
      if (entry.endpoint === 'start') endSeq = null
      if (endSeq !== null && (entry.endpoint === 'message' || entry.endpoint === 'typing_start'))
        yield { details: { call: callRef(entry), endSeq }, entrySeqs: [endSeq, entry.seq] }
    }
  },
}

export const startTwice: LinterRule<'start-twice'> = {
  id: 'start-twice',
  *findInChat(chat) {
    let first: Call | null = null
    for (const entry of chat) {
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      if (entry.endpoint === 'end') first = null
      if (entry.endpoint !== 'start') continue
      if (first !== null && !isFaulty(first))
        yield { details: { call: callRef(entry), startSeq: first.seq }, entrySeqs: [first.seq, entry.seq] }
      first = entry
    }
  },
}

/** Only after the agent left, because a scenario may stop in the middle of a conversation. */
export const chatNeverEnded: LinterRule<'chat-never-ended'> = {
  id: 'chat-never-ended',
  *findInChat(chat) {
    let start: Call | null = null
    let leaveSeq: number | null = null
    let refusedSeqs: number[] = []
    for (const entry of chat) {
      if (entry.kind === 'driver' && entry.verb === 'leave' && entry.outcome === 'ok') {
        leaveSeq = entry.seq
        refusedSeqs = []
      }
      if (entry.kind !== 'api') continue
      if (entry.endpoint === 'end' && succeeded(entry)) start = null
      if (entry.endpoint === 'end' && !succeeded(entry)) refusedSeqs.push(entry.seq)
      if (entry.endpoint === 'start' && succeeded(entry)) {
        start = entry
        leaveSeq = null
      }
    }
    if (start === null || leaveSeq === null) return
    const details = { leaveSeq, refusedEnds: refusedSeqs.length }
    yield { details, entrySeqs: [start.seq, leaveSeq, ...refusedSeqs] }
  },
}

/** A longer timeout does not help when the agent stops typing. */
const MAX_TIMEOUT_MS = 60_000

export const typingNeverStopped: LinterRule<'typing-never-stopped'> = {
  id: 'typing-never-stopped',
  *findInChat(chat, { plan, entries }) {
    // The effective knob `typing.clearOn`, which the scenario or the run sets.
    const { config } = entries.find(entry => isRunEvent(entry, 'scenario_started')) ?? plan
    const clearOn = config['typing.clearOn']
    const clearing = Array.isArray(clearOn) ? clearOn : typeof clearOn === 'string' ? clearOn.split(',') : ['end']
    let shown: { readonly call: Call; readonly timeoutMs: number | null } | null = null
    for (const entry of chat) {
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      const { endpoint, request } = entry
      if (endpoint === 'typing_stop' || clearing.includes(endpoint)) shown = null
      if (endpoint !== 'typing_start') continue
      const timeoutMs = isMap(request.body) && typeof request.body.timeout === 'number' ? request.body.timeout : null
      shown = timeoutMs === null || timeoutMs > MAX_TIMEOUT_MS ? { call: entry, timeoutMs } : null
    }
    if (shown !== null)
      yield { details: { call: callRef(shown.call), timeoutMs: shown.timeoutMs }, entrySeqs: [shown.call.seq] }
  },
}

/** The answer to a webhook and a call made right after it may be recorded in either order. */
const MARGIN_MS = 50

export const callBeforeAck: LinterRule<'call-before-ack'> = {
  id: 'call-before-ack',
  *findInChat(chat) {
    const calls = chat.filter(entry => entry.kind === 'api')
    for (const delivery of chat) {
      if (delivery.kind !== 'delivery') continue
      const { event, seq: deliverySeq } = delivery
      // Manual events, resent events and events changed by a fault cause no calls.
      if (event !== 'REQUESTING TAKEOVER' && event !== 'MESSAGE FROM USER') continue
      if (delivery.triggered || delivery.resent || delivery.faults !== undefined) continue
      const call = calls.find(one => one.follows === delivery.cause && isAnsweredDuring(one, delivery))
      if (call === undefined) continue
      const earlyMs = Math.round(delivery.at_ms - call.at_ms)
      yield { details: { call: callRef(call), event, deliverySeq, earlyMs }, entrySeqs: [call.seq, deliverySeq] }
    }
  },
}

/** Whether the webhook answered after it had made this call and received the answer. `at_ms` of an entry is its end. */
export function isAnsweredDuring(call: Call, delivery: EntryOf<'delivery'>): boolean {
  const calledMs = call.at_ms - call.duration_ms
  const sentMs = delivery.at_ms - delivery.duration_ms
  return calledMs >= sentMs && calledMs + MARGIN_MS <= delivery.at_ms && call.at_ms <= delivery.at_ms
}

/** A webhook that times out has received the event, and may still be working on it when the event comes again. */
export const ackSlowerThanRetry: LinterRule<'ack-slower-than-retry'> = {
  id: 'ack-slower-than-retry',
  *findInChat(chat) {
    const attempts: EntryOf<'delivery'>[] = []
    for (const entry of chat) if (entry.kind === 'delivery' && entry.duplicate !== true) attempts.push(entry)
    for (const { delivery_id: id, event, failure, retry_in_ms: retryMs, seq: deliverySeq } of attempts) {
      const repeatedSeq = attempts.find(one => one.delivery_id === id && one.seq > deliverySeq)?.seq
      if (failure?.code !== 'timeout' || retryMs === undefined || repeatedSeq === undefined) continue
      const details = { event, timeoutMs: failure.timeout_ms, retryMs, deliverySeq, repeatedSeq }
      yield { details, entrySeqs: [deliverySeq, repeatedSeq] }
    }
  },
}

/** More reads than this within this time, with no event between them, are polling. */
const MAX_READS = 3
const POLLING_WINDOW_MS = 10_000

export const transcriptPolling: LinterRule<'transcript-polling'> = {
  id: 'transcript-polling',
  *findInChat(chat: readonly Entry[]) {
    let longest: readonly Call[] = []
    let reads: Call[] = []
    for (const entry of chat) {
      const isRead = entry.kind === 'api' && (entry.endpoint === 'transcript' || entry.endpoint === 'chat')
      if (isRead) reads = [...reads, entry].filter(({ at_ms }) => entry.at_ms - at_ms <= POLLING_WINDOW_MS)
      else if (entry.kind === 'api' || entry.kind === 'event' || entry.kind === 'user') reads = []
      if (reads.length > longest.length) longest = reads
    }
    const [first] = longest
    const last = longest.at(-1)
    if (first === undefined || last === undefined || longest.length <= MAX_READS) return
    const details = { call: callRef(first), reads: longest.length, withinMs: last.at_ms - first.at_ms }
    yield { details, entrySeqs: longest.map(({ seq }) => seq) }
  },
}
