/**
 * Evaluates checks by what passes between a simulator and an intermediary outside of a certification, with the functions that
 * the checks report with. What no ordinary traffic shows stays unseen until the check runs.
 */

import { isMap } from '../../base/objects.ts'
import type { Finding } from '../../evaluation/finding.ts'
import { type InboxItem, isDriverCall } from '../../evaluation/scenario/run-events.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { isComparable } from '../../platform/webhooks/refusal-evidence.ts'
import { type ProbeCode, probeFix, probeText } from '../../platform/webhooks/signature-probes.ts'
import { CheckChat, expectAcknowledged } from './chat.ts'
import { reportEarlyCalls } from './checks/acknowledgement.ts'
import { reportTypingRefused, reportUnknownRefused } from './checks/events.ts'
import { checkCalls, expectSender, reportCallsAfterEnd } from './checks/handover.ts'
import { endsByItself, reportEndlessTyping } from './checks/optional-capabilities.ts'
import { type Forgery, reportForged, reportRefusedSignature } from './checks/signature.ts'
import { type ChatCall, type CheckContext, CheckEndedError, createCheckContext, createLimits } from './context.ts'
import { compareSamples, messageIn, type ReceivedText, type Sample } from './exchange.ts'
import { isAccepted } from './observe.ts'

/** What a piece of traffic shows about a check. unknown: an earlier mistake is not shown any more. */
export interface Sighting {
  readonly check: string
  readonly state: 'right' | 'wrong' | 'unknown'
  /** Milliseconds, as `at_ms` of entries: the latest sighting of a check decides. */
  readonly atMs: number
  readonly seq: number
  readonly chatId: string | null
  /** Null unless it is wrong. */
  readonly finding: Finding | null
}

type Delivery = EntryOf<'delivery'>

/** What the agent saw of a chat. */
export interface InboxRead {
  /** The latest entry before it, or its own. */
  readonly seq: number
  readonly at_ms: number
  readonly items: readonly InboxItem[]
}

interface Traffic {
  readonly check: CheckContext
  readonly chat: CheckChat
  readonly entries: readonly Entry[]
  readonly deliveries: readonly Delivery[]
  readonly calls: readonly ChatCall[]
  /** Oldest first. */
  readonly reads: readonly InboxRead[]
  /** Milliseconds since the entry. */
  ageOf(entry: { readonly at_ms: number }): number
  right(entry: { readonly seq: number }): void
  unknown(entry: { readonly seq: number }): void
}

type Evaluate = (traffic: Traffic) => void

const LIMITS = createLimits()
/** Statuses with which intermediaries refuse signatures. */
const SIGNATURE_STATUSES: readonly (number | null)[] = [400, 401, 403]
const isRequestOrMessage = ({ event }: Delivery) => event === 'REQUESTING TAKEOVER' || event === 'MESSAGE FROM USER'
const isOfPlatform = ({ event }: Delivery) => Object.hasOwn(WEBHOOK_EVENTS, event)

/** Mistakes with the body, which SIG-07 is about. The others are about key, hash and encoding: SIG-01. */
const BODY_MISTAKES: readonly string[] = [
  ...['restringified-json', 'compact-ascii', 'empty-body', 'stringified-object', 'newline', 'latin1', 'ascii'],
]

/** Reports what an accepted trial of a diagnosis shows. */
function reportProbes({ check, deliveries }: Traffic, isAbout: (code: string) => boolean): void {
  for (const { seq, probe, status } of deliveries) {
    if (probe === undefined || probe.code === 'valid' || probe.code === 'none' || !isAbout(probe.code)) continue
    if (status === null || status >= 300) continue
    const code = probe.code as ProbeCode
    const mistake = probeText({ code, detail: probe.detail })
    check.report('MUST', 'mistake-accepted', {
      happened: `The webhook ${mistake}: it accepted #${seq}, which has this mistake.`,
      hint: probeFix(code),
      details: { code, detail: probe.detail },
      entries: [{ seq }],
    })
  }
}

/** Whether other bytes would result when JSON.stringify wrote the parsed body again. */
function changesWhenRewritten({ request: { body } }: Delivery): boolean {
  try {
    return JSON.stringify(JSON.parse(body)) !== body
  } catch {
    return false
  }
}

const forgeryOf: { readonly [Sign in string]?: readonly [check: string, forgery: Forgery] } = {
  none: ['SIG-02', 'none'],
  'wrong-key': ['SIG-03', 'wrong-key'],
  tampered: ['SIG-04', 'tampered'],
  truncated: ['SIG-05', 'truncated'],
  hex: ['SIG-05', 'hex'],
}

const evaluateForgeries =
  (id: string): Evaluate =>
  ({ check, deliveries, right }) => {
    for (const answer of deliveries) {
      const [about, forgery] = forgeryOf[answer.sign ?? ''] ?? []
      if (about !== id || forgery === undefined) continue
      if (answer.status !== null && answer.status >= 400 && answer.status < 500) right(answer)
      else reportForged(check, { forgery, answer, effect: null, level: forgery === 'hex' ? 'SHOULD' : 'MUST' })
    }
  }

/** The calls of each handover: from its start to the next request. */
function handoversIn({ entries }: Traffic): ChatCall[][] {
  const handovers: ChatCall[][] = []
  let isOpen = false
  for (const entry of entries) {
    if (entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') isOpen = false
    if (entry.kind !== 'api') continue
    if (entry.endpoint === 'start' && isAccepted(entry) && !isOpen) {
      handovers.push([])
      isOpen = true
    }
    handovers.at(-1)?.push(entry)
  }
  return handovers
}

const callsOf = (calls: readonly ChatCall[], endpoint: ChatCall['endpoint']) =>
  calls.filter(call => call.endpoint === endpoint && isAccepted(call))

const sampleOf = (text: string, name: string): Sample => ({ name, token: text, text })
const COMPARED_TEXTS = 5

/** By the id of the check. */
const EVALUATIONS: Readonly<Record<string, Evaluate>> = {
  'SIG-01': traffic => {
    const { check, deliveries, right, unknown } = traffic
    for (const answer of deliveries) {
      const { probe, status } = answer
      // The mistake is one of SIG-07, which says it.
      if (probe !== undefined && isAccepted(answer) && BODY_MISTAKES.includes(probe.code)) unknown(answer)
      if (!isOfPlatform(answer) || !isComparable(answer)) continue
      if (status === 200 && isRequestOrMessage(answer)) right(answer)
      else if (status === 401 || status === 403 || (status === 400 && isRequestOrMessage(answer)))
        reportRefusedSignature(check, answer, null)
    }
    reportProbes(traffic, code => !BODY_MISTAKES.includes(code))
  },
  'SIG-02': evaluateForgeries('SIG-02'),
  'SIG-03': evaluateForgeries('SIG-03'),
  'SIG-04': evaluateForgeries('SIG-04'),
  'SIG-05': evaluateForgeries('SIG-05'),
  'SIG-07': traffic => {
    for (const answer of traffic.deliveries) {
      if (!isRequestOrMessage(answer) || !isComparable(answer) || answer.status !== 200) continue
      if (changesWhenRewritten(answer)) traffic.right(answer)
      else traffic.unknown(answer)
    }
    reportProbes(traffic, code => BODY_MISTAKES.includes(code))
  },
  'ACK-01': ({ check, deliveries, right }) => {
    for (const answer of deliveries) {
      if (!isRequestOrMessage(answer) || !isComparable(answer) || answer.outcome === 'skipped') continue
      if (answer.status === 200) right(answer)
      else if (!SIGNATURE_STATUSES.includes(answer.status)) endsCheck(() => expectAcknowledged(check, answer))
    }
  },
  'ACK-04': ({ check, chat, deliveries, calls, right }) => {
    for (const answer of deliveries) {
      if (!isRequestOrMessage(answer) || answer.triggered || answer.resent || answer.status !== 200) continue
      const following = calls.find(({ follows }) => follows === answer.cause)
      if (following !== undefined && reportEarlyCalls(check, chat, answer)) right(following)
    }
  },
  'EVT-01': ({ check, deliveries, right }) => {
    for (const answer of deliveries) {
      if (isOfPlatform(answer) || !isComparable(answer) || answer.outcome === 'skipped') continue
      if (isAccepted(answer)) right(answer)
      else if (!SIGNATURE_STATUSES.includes(answer.status)) reportUnknownRefused(check, answer)
    }
  },
  'EVT-03': ({ check, deliveries, right }) => {
    for (const answer of deliveries) {
      if (isRequestOrMessage(answer) || !isOfPlatform(answer) || !isComparable(answer)) continue
      if (isAccepted(answer)) right(answer)
      else if (!SIGNATURE_STATUSES.includes(answer.status) && answer.outcome !== 'skipped')
        reportTypingRefused(check, answer)
    }
  },
  'FLW-01': ({ chat, entries, calls, ageOf, right }) => {
    for (const start of callsOf(calls, 'start')) right(start)
    const accepts = entries.filter(isDriverCall).filter(({ verb, outcome }) => verb === 'accept' && outcome === 'ok')
    const last = accepts.at(-1)
    if (last === undefined || ageOf(last) < LIMITS.effectMs || calls.some(call => isAfter(call, last, 'start'))) return
    chat.reportMissingCall('start', `the agent accepted (${last.how})`)
  },
  'FLW-02': ({ check, entries, reads, ageOf, right }) => {
    const last = reads.at(-1)
    if (last === undefined) return
    const received: ReceivedText[] = []
    for (const { text } of last.items) if (typeof text === 'string') received.push({ text, seq: last.seq })
    const sent = new Map<number, EntryOf<'user'>>()
    for (const entry of entries) if (entry.kind === 'user' && entry.text) sent.set(entry.seq, entry)
    const forwarded: Sample[] = []
    for (const entry of entries) {
      if (entry.kind !== 'event' || entry.event !== 'MESSAGE FROM USER' || entry.seq > last.seq) continue
      const user = sent.get(entry.cause ?? 0)
      const isDue = ageOf(entry) - ageOf(last) > LIMITS.effectMs
      const text = user?.text_for_agent ?? user?.text
      if (text && (isDue || received.some(one => one.text.includes(text)))) forwarded.push(sampleOf(text, 'a message'))
    }
    if (forwarded.length > 0 && compareTexts(check, 'to_agent', forwarded, received)) right(last)
  },
  'FLW-03': ({ check, chat, entries, calls, ageOf, right }) => {
    const messages = callsOf(calls, 'message')
    const received = messages.map(call => ({ text: messageIn(call), seq: call.seq }))
    const written: Sample[] = []
    for (const entry of entries.filter(isDriverCall)) {
      const text = typeof entry.text === 'string' ? entry.text : ''
      if (entry.verb !== 'says' || entry.outcome !== 'ok' || text === '') continue
      if (ageOf(entry) > LIMITS.effectMs || received.some(one => one.text.includes(text)))
        written.push(sampleOf(text, 'a message'))
    }
    const areUnchanged = compareTexts(check, 'to_user', written, received)
    expectSender(check, chat)
    const last = messages.at(-1)
    if (last !== undefined && areUnchanged && check.reported.findings.length === 0) right(last)
  },
  'FLW-04': traffic => {
    for (const calls of handoversIn(traffic)) {
      const [end] = callsOf(calls, 'end')
      if (end === undefined) continue
      const before = traffic.check.reported.findings.length
      reportCallsAfterEnd(traffic.check, calls)
      if (traffic.check.reported.findings.length === before) traffic.right(end)
    }
  },
  'FLW-05': traffic => {
    const { check, calls, right } = traffic
    checkCalls(check, calls)
    const isClean = check.reported.findings.every(({ level }) => level === 'INFO')
    const end = callsOf(calls, 'end').at(-1)
    if (isClean && end !== undefined && callsOf(calls, 'start').length > 0) right(end)
  },
  'FLW-06': traffic => {
    const complete = handoversIn(traffic).flatMap(calls => callsOf(calls, 'end').slice(0, 1))
    if (complete.length > 1) traffic.right(complete.at(-1)!)
  },
  'TYP-01': ({ check, calls, ageOf, right }) => {
    for (const call of callsOf(calls, 'typing_start')) {
      const end = calls.find(({ endpoint, seq }) => seq > call.seq && ENDS_OF_TYPING.includes(endpoint))
      if (endsByItself(call) || end !== undefined) right(end ?? call)
      else if (ageOf(call) > LIMITS.typingMs) reportEndlessTyping(check, call)
    }
  },
  'ATT-01': ({ reads, deliveries, right }) => {
    const names = new Set<unknown>()
    for (const { event, status, request } of deliveries)
      if (event === 'MESSAGE FROM USER' && status === 200) for (const name of fileNamesIn(request.body)) names.add(name)
    for (const read of reads) {
      const shown = read.items.flatMap(({ attachments = [] }) => attachments)
      if (names.size > 0 && shown.some(({ name }) => names.has(name))) right(read)
    }
  },
}

const ENDS_OF_TYPING: readonly ChatCall['endpoint'][] = ['typing_stop', 'message', 'end']

const isAfter = (call: ChatCall, entry: { readonly seq: number }, endpoint: ChatCall['endpoint']): boolean =>
  // The call may come before the answer of the driver.
  call.endpoint === endpoint && call.seq > entry.seq - CALLS_BEFORE_ANSWER
const CALLS_BEFORE_ANSWER = 20

function compareTexts(
  check: CheckContext,
  direction: 'to_agent' | 'to_user',
  samples: readonly Sample[],
  received: readonly ReceivedText[],
): boolean {
  return compareSamples(check, { level: 'MUST', direction, samples: samples.slice(-COMPARED_TEXTS) }, received)
}

function fileNamesIn(body: string): unknown[] {
  try {
    const payload: unknown = JSON.parse(body)
    const files = isMap(payload) && Array.isArray(payload.attachments) ? payload.attachments : []
    return files.map(file => (isMap(file) ? file.name : undefined))
  } catch {
    return []
  }
}

/** Runs what may end a check after it has reported. */
function endsCheck(report: () => void): void {
  try {
    report()
  } catch (error) {
    if (!(error instanceof CheckEndedError)) throw error
  }
}

/** The latest entries of a chat that are evaluated. */
const MOST_ENTRIES = 500

/** What the entries of one chat show about all checks. */
export function evaluateChat(sim: PlatformSimulator, chatOfPlatform: Chat, lastRead: InboxRead | null): Sighting[] {
  const { journal } = coreOf(sim)
  const chatId = chatOfPlatform.id
  const entries = journal.query({ chatId }).slice(-MOST_ENTRIES)
  const reads: InboxRead[] = []
  for (const entry of entries)
    if (isDriverCall(entry) && entry.verb === 'inbox' && entry.outcome === 'ok')
      reads.push({ seq: entry.seq, at_ms: entry.at_ms, items: entry.items ?? [] })
  if (lastRead !== null) reads.push(lastRead)
  const traffic = {
    entries,
    reads,
    deliveries: entries.filter(entry => entry.kind === 'delivery'),
    calls: entries.filter(entry => entry.kind === 'api'),
    ageOf: (entry: { readonly at_ms: number }) => journal.atMs - entry.at_ms,
  }
  const sightings: Sighting[] = []
  for (const [id, evaluate] of Object.entries(EVALUATIONS))
    sightings.push(
      ...sightingsOf(sim, id, chatId, entries, (check, saw) => {
        const chat = new CheckChat(check, chatOfPlatform, chatId)
        evaluate({
          ...traffic,
          check,
          chat,
          right: entry => saw('right', entry),
          unknown: entry => saw('unknown', entry),
        })
      }),
    )
  return sightings
}

/** What entries that belong to no chat show: calls about availability, and calls that the platform could not assign. */
export function evaluateOthers(sim: PlatformSimulator, entries: readonly Entry[]): Sighting[] {
  const calls = entries.filter(entry => entry.kind === 'api')
  const wrong = sightingsOf(sim, 'FLW-05', null, entries, check => checkCalls(check, calls))
  const closing = sightingsOf(sim, 'AVL-01', null, entries, (_check, saw) => {
    const isAbout = (call: ChatCall, value: string) =>
      isMap(call.request.body) && call.request.body.availability === value
    const sent = callsOf(calls, 'availability')
    const closed = sent.find(call => isAbout(call, 'CLOSED'))
    const opened = sent.findLast(call => isAbout(call, 'OPEN'))
    if (closed !== undefined && opened !== undefined && opened.seq > closed.seq) saw('right', opened)
  })
  return [...wrong, ...closing]
}

type Saw = (state: 'right' | 'unknown', entry: { readonly seq: number }) => void

/** Runs an evaluation, and turns what it reported and saw into sightings. */
function sightingsOf(
  sim: PlatformSimulator,
  check: string,
  chatId: string | null,
  entries: readonly Entry[],
  evaluate: (context: CheckContext, saw: Saw) => void,
): Sighting[] {
  const context = createCheckContext({
    ...{ sim, driver: null, limits: LIMITS, seed: 0, hasWire: true, url: sim.baseUrl },
    signal: new AbortController().signal,
    chatOpened: () => {},
  })
  const times = new Map<number, number>()
  for (const { seq, at_ms } of entries) times.set(seq, at_ms)
  const sightings: Sighting[] = []
  const add = (state: Sighting['state'], seq: number, finding: Finding | null) =>
    sightings.push({ check, state, seq, chatId, finding, atMs: times.get(seq) ?? 0 })
  endsCheck(() => evaluate(context, (state, { seq }) => add(state, seq, null)))
  for (const finding of context.reported.findings)
    if (finding.level !== 'INFO') add('wrong', Math.max(0, ...finding.entrySeqs), finding)
  return sightings
}
