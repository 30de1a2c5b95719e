/** Rules about the order of the calls and events of one chat. */
import { isMap } from '../../base/objects.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import { callRef, type History, isFaulty, perChat, succeeded } from './rule.ts'

/** A new handover request allows messages again, such as a notice that all agents are busy. */
export const messageAfterEnd = perChat('message-after-end', chat => {
  let endSeq: number | null = null
  return chat.flatMap(entry => {
    if (entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') endSeq = null
    if (entry.kind !== 'api' || !succeeded(entry)) return []
    if (entry.endpoint === 'end') endSeq = entry.seq
    if (entry.endpoint === 'start') endSeq = null
    if (endSeq === null || !REACHES_USER.has(entry.endpoint)) return []
    return [{ details: { call: callRef(entry), endSeq }, entrySeqs: [endSeq, entry.seq] }]
  })
})

const REACHES_USER = new Set<string | null>(['message', 'typing_start'])
export const startTwice = perChat('start-twice', chat => {
  let first: EntryOf<'api'> | null = null
  return chat.flatMap(entry => {
    if (entry.kind !== 'api' || !succeeded(entry)) return []
    if (entry.endpoint === 'end') first = null
    if (entry.endpoint !== 'start') return []
    const before = first
    first = entry
    if (before === null || isFaulty(before)) return []
    return [{ details: { call: callRef(entry), startSeq: before.seq }, entrySeqs: [before.seq, entry.seq] }]
  })
})

/** Only after the agent left, because a scenario may stop in the middle of a conversation. */
export const chatNeverEnded = perChat('chat-never-ended', chat => {
  const started = chat.findLast(entry => isCall(entry, 'start'))
  const left = chat.findLast(entry => entry.kind === 'driver' && entry.verb === 'leave' && entry.outcome === 'ok')
  if (started === undefined || left === undefined || left.seq < started.seq) return []
  if (chat.some(entry => entry.seq > started.seq && isCall(entry, 'end'))) return []
  const refused = chat.filter(entry => entry.kind === 'api' && entry.endpoint === 'end' && entry.seq > left.seq)
  const details = { leaveSeq: left.seq, refusedEnds: refused.length }
  return [{ details, entrySeqs: [started.seq, left.seq, ...refused.map(({ seq }) => seq)] }]
})

const isCall = (entry: Entry, endpoint: string) =>
  entry.kind === 'api' && entry.endpoint === endpoint && succeeded(entry)

/** A longer timeout does not help when the agent stops typing. */
const LONGEST_TIMEOUT_MS = 60_000

export const typingNeverStopped = perChat('typing-never-stopped', (chat, history) => {
  const endings = new Set<string | null>(['typing_stop', ...clearingCalls(history)])
  let shown: EntryOf<'api'> | null = null
  for (const entry of chat) {
    if (entry.kind !== 'api' || !succeeded(entry)) continue
    if (entry.endpoint === 'typing_start')
      shown = (timeoutOf(entry) ?? Number.POSITIVE_INFINITY) > LONGEST_TIMEOUT_MS ? entry : null
    else if (endings.has(entry.endpoint)) shown = null
  }
  return shown === null
    ? []
    : [{ details: { call: callRef(shown), timeoutMs: timeoutOf(shown) }, entrySeqs: [shown.seq] }]
})

/** The effective knob `typing.clearOn`, which the scenario or the run sets. */
function clearingCalls({ plan, entries }: History): readonly string[] {
  const { config } = entries.find(entry => isRunEvent(entry, 'scenario_started')) ?? plan
  const set = config['typing.clearOn']
  return Array.isArray(set) ? set.map(String) : typeof set === 'string' ? set.split(',') : ['end']
}

const timeoutOf = ({ request: { body } }: EntryOf<'api'>): number | null =>
  isMap(body) && typeof body.timeout === 'number' ? body.timeout : null

/** The answer to a webhook and a call made right after it may be recorded in either order. */
const MARGIN_MS = 50

const CAUSES_CALLS = new Set(['REQUESTING TAKEOVER', 'MESSAGE FROM USER'])

export const callBeforeAck = perChat('call-before-ack', chat => {
  const calls = chat.filter(entry => entry.kind === 'api')
  return chat.filter(isPlainDelivery).flatMap(delivery => {
    const call = calls.find(one => one.follows === delivery.cause && isAnsweredDuring(one, delivery))
    if (call === undefined) return []
    const { event, seq: deliverySeq } = delivery
    const earlyMs = Math.round(delivery.at_ms - call.at_ms)
    return [{ details: { call: callRef(call), event, deliverySeq, earlyMs }, entrySeqs: [call.seq, deliverySeq] }]
  })
})

/** Manual events, resent events and events changed by a fault cause no calls. */
const isPlainDelivery = (entry: Entry): entry is EntryOf<'delivery'> =>
  entry.kind === 'delivery' &&
  CAUSES_CALLS.has(entry.event) &&
  !entry.triggered &&
  !entry.resent &&
  entry.faults === undefined

/** Whether the webhook answered after it had made this call and received the answer. `at_ms` of an entry is its end. */
export function isAnsweredDuring(call: EntryOf<'api'>, delivery: EntryOf<'delivery'>): boolean {
  const calledMs = call.at_ms - call.duration_ms
  const sentMs = delivery.at_ms - delivery.duration_ms
  return calledMs >= sentMs && calledMs + MARGIN_MS <= delivery.at_ms && call.at_ms <= delivery.at_ms
}

/** A webhook that times out has received the event, and may still be working on it when the event comes again. */
export const ackSlowerThanRetry = perChat('ack-slower-than-retry', chat => {
  const attempts = chat.filter(entry => entry.kind === 'delivery').filter(({ duplicate }) => duplicate !== true)
  return attempts.flatMap(({ delivery_id: id, event, failure, retry_in_ms: retryMs, seq: deliverySeq }) => {
    const repeatedSeq = attempts.find(one => one.delivery_id === id && one.seq > deliverySeq)?.seq
    if (failure?.code !== 'timeout' || retryMs === undefined || repeatedSeq === undefined) return []
    const details = { event, timeoutMs: failure.timeout_ms, retryMs, deliverySeq, repeatedSeq }
    return [{ details, entrySeqs: [deliverySeq, repeatedSeq] }]
  })
})

const READS = new Set<string | null>(['transcript', 'chat'])
/** More reads than this within this time, with no event between them, are polling. */
const MOST_READS = 3
const POLLING_WINDOW_MS = 10_000

export const transcriptPolling = perChat('transcript-polling', chat => {
  const run = longestRun(chat)
  const [first] = run
  const last = run.at(-1)
  if (first === undefined || last === undefined || run.length <= MOST_READS) return []
  const details = { call: callRef(first), reads: run.length, withinMs: last.at_ms - first.at_ms }
  return [{ details, entrySeqs: run.map(({ seq }) => seq) }]
})

/** The longest run of reads within the window that no event interrupts. */
function longestRun(chat: readonly Entry[]): readonly EntryOf<'api'>[] {
  let longest: readonly EntryOf<'api'>[] = []
  let run: EntryOf<'api'>[] = []
  for (const entry of chat) {
    if (entry.kind === 'event' || entry.kind === 'user' || (entry.kind === 'api' && !READS.has(entry.endpoint)))
      run = []
    if (entry.kind !== 'api' || !READS.has(entry.endpoint)) continue
    run = [...run, entry].filter(({ at_ms }) => entry.at_ms - at_ms <= POLLING_WINDOW_MS)
    if (run.length > longest.length) longest = run
  }
  return longest
}
