/**
 * Lists the rules by which traffic outside of a certification shows something about a check. What no ordinary traffic shows
 * stays unseen until the check runs.
 */

import { isMap } from '../../base/objects.ts'
import {
  type CallEntry,
  type ChatEvent,
  type ChatHistory,
  type DeliveryEntry,
  History,
  type InboxRead,
  isAccepted,
} from '../../evaluation/history.ts'
import { callAfterUserLeft } from '../../evaluation/rules/call-after-user-left.ts'
import { callBeforeAck } from '../../evaluation/rules/call-before-ack.ts'
import {
  ageOf,
  type Facts,
  isProof,
  judge,
  type Mistake,
  type Observation,
  type Rule,
  right,
  unclear,
} from '../../evaluation/rules/rule.ts'
import { typingNeverStopped } from '../../evaluation/rules/typing-never-stopped.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import { isComparable } from '../../platform/webhooks/refusal-evidence.ts'
import { type ProbeCode, probeFix, probeText } from '../../platform/webhooks/signature-probes.ts'
import { missingCall, noAnswer, refusedEvent } from './chat.ts'
import { CONVERSATION_RULES } from './checks/conversation.ts'
import { refusedTyping, refusedUnknown } from './checks/events.ts'
import { CALL_RULES, END_RULES, SENDER_RULES } from './checks/handover.ts'
import { acceptedForgery, type Forgery, refusedSignature } from './checks/signature.ts'
import { changedTexts, messageIn, type ReceivedText, type Sample } from './exchange.ts'

/** Statuses with which intermediaries refuse signatures. */
const SIGNATURE_STATUSES: readonly (number | null)[] = [400, 401, 403]
const isRequestOrMessage = ({ event }: DeliveryEntry) =>
  event === 'REQUESTING TAKEOVER' || event === 'MESSAGE FROM USER'
const isOfPlatform = ({ event }: DeliveryEntry) => Object.hasOwn(WEBHOOK_EVENTS, event)

const attemptsIn = ({ events }: ChatHistory): DeliveryEntry[] =>
  events.flatMap(({ attempts }) => attempts).sort((a, b) => a.seq - b.seq)

const acceptedCalls = ({ calls }: ChatHistory, endpoint: CallEntry['endpoint']): CallEntry[] =>
  calls.map(({ call }) => call).filter(call => call.endpoint === endpoint && isAccepted(call))

/** A rule about each attempt to deliver an event. */
const ofAttempts = (judgeAttempt: (attempt: DeliveryEntry, facts: Facts) => Observation | null): Rule => ({
  id: 'event-refused',
  level: 'MUST',
  *judgeChat(chat, facts) {
    for (const attempt of attemptsIn(chat)) {
      const observation = judgeAttempt(attempt, facts)
      if (observation !== null) yield observation
    }
  },
})

/** Mistakes with the body, which SIG-07 is about. The others are about key, hash and encoding: SIG-01. */
const BODY_MISTAKES: readonly string[] = [
  ...['restringified-json', 'compact-ascii', 'empty-body', 'stringified-object', 'newline', 'latin1', 'ascii'],
]

/** What an accepted trial of a diagnosis shows. */
const acceptedProbe = (isAbout: (code: string) => boolean): Rule =>
  ofAttempts(({ seq, probe, status }) => {
    if (probe === undefined || probe.code === 'valid' || probe.code === 'none' || !isAbout(probe.code)) return null
    if (status === null || status >= 300) return null
    const code = probe.code as ProbeCode
    const mistake = probeText({ code, detail: probe.detail })
    return {
      code: 'mistake-accepted',
      happened: `The webhook ${mistake}: it accepted #${seq}, which has this mistake.`,
      hint: probeFix(code),
      details: { code, detail: probe.detail },
      entries: [{ seq }],
    }
  })

const validSignature = ofAttempts(attempt => {
  const { probe, status } = attempt
  // The mistake is one of SIG-07, which says it.
  if (probe !== undefined && isAccepted(attempt) && BODY_MISTAKES.includes(probe.code)) return unclear(attempt)
  if (!isOfPlatform(attempt) || !isComparable(attempt)) return null
  if (status === 200 && isRequestOrMessage(attempt)) return right(attempt)
  if (status === 401 || status === 403 || (status === 400 && isRequestOrMessage(attempt)))
    return refusedSignature(attempt, null)
  return null
})

/** Whether other bytes would result when JSON.stringify wrote the parsed body again. */
function changesWhenRewritten({ request: { body } }: DeliveryEntry): boolean {
  try {
    return JSON.stringify(JSON.parse(body)) !== body
  } catch {
    return false
  }
}

const rawBody = ofAttempts(attempt => {
  if (!isRequestOrMessage(attempt) || !isComparable(attempt) || attempt.status !== 200) return null
  return changesWhenRewritten(attempt) ? right(attempt) : unclear(attempt)
})

const forgeryRefused = (...signs: readonly Forgery[]): Rule =>
  ofAttempts(answer => {
    const forgery = signs.find(sign => sign === answer.sign)
    if (forgery === undefined) return null
    const level = forgery === 'hex' ? 'SHOULD' : 'MUST'
    return acceptedForgery({ forgery, answer, effect: null, level }) ?? right(answer)
  })

const acknowledged = ofAttempts((attempt, { hasAnswered }) => {
  if (!isRequestOrMessage(attempt) || !isComparable(attempt) || attempt.outcome === 'skipped') return null
  if (attempt.status === 200) return right(attempt)
  if (SIGNATURE_STATUSES.includes(attempt.status)) return null
  if (attempt.status !== null) return refusedEvent(attempt)
  return { ...noAnswer(attempt, hasAnswered), entries: [attempt] }
})

const unknownAccepted = ofAttempts(attempt => {
  if (isOfPlatform(attempt) || !isComparable(attempt) || attempt.outcome === 'skipped') return null
  if (isAccepted(attempt)) return right(attempt)
  return SIGNATURE_STATUSES.includes(attempt.status) ? null : refusedUnknown(attempt)
})

const typingAccepted = ofAttempts(attempt => {
  if (isRequestOrMessage(attempt) || !isOfPlatform(attempt) || !isComparable(attempt)) return null
  if (isAccepted(attempt)) return right(attempt)
  if (SIGNATURE_STATUSES.includes(attempt.status) || attempt.outcome === 'skipped') return null
  return refusedTyping(attempt)
})

/** The call may come before the answer of the driver. */
const CALLS_BEFORE_ANSWER = 20

const startAfterAccept: Rule = {
  id: 'call-missing',
  level: 'MUST',
  *judgeChat(chat, facts) {
    for (const start of acceptedCalls(chat, 'start')) yield right(start)
    const accept = chat.agentActs.findLast(({ verb, outcome }) => verb === 'accept' && outcome === 'ok')
    if (accept === undefined || ageOf(facts, accept) < facts.effectMs) return
    const isStarted = chat.calls.some(
      ({ call }) => call.endpoint === 'start' && call.seq > accept.seq - CALLS_BEFORE_ANSWER,
    )
    if (!isStarted) yield missingCall('start', `the agent accepted (${accept.how})`, facts.effectMs, [accept])
  },
}

const COMPARED_TEXTS = 5
const toSample = (text: string): Sample => ({ name: 'a message', token: text, text })

/** What of the newest texts arrived changed or not at all. */
const textMistakes = (
  direction: 'to_agent' | 'to_user',
  samples: readonly Sample[],
  received: readonly ReceivedText[],
  { effectMs }: Facts,
  chat: ChatHistory,
): Mistake[] =>
  changedTexts(
    { level: 'MUST', direction, samples: samples.slice(-COMPARED_TEXTS) },
    received,
    effectMs,
    chat.entries.slice(-1),
  )

const userTextsSeen: Rule = {
  id: 'text-missing',
  level: 'MUST',
  *judgeChat(chat, facts) {
    const read: InboxRead | undefined = facts.inbox ?? chat.reads.at(-1)
    if (read === undefined) return
    const received: ReceivedText[] = []
    for (const { text } of read.items) if (typeof text === 'string') received.push({ text, seq: read.seq })
    const isDue = ({ entry }: ChatEvent) => entry !== null && read.askedAt - entry.at_ms > facts.effectMs
    const samples: Sample[] = []
    for (const event of chat.events) {
      const { name, entry, act } = event
      if (name !== 'MESSAGE FROM USER' || entry === null || entry.seq > read.seq) continue
      const text = act?.text_for_agent ?? act?.text
      if (text && (isDue(event) || received.some(candidate => candidate.text.includes(text))))
        samples.push(toSample(text))
    }
    const mistakes = textMistakes('to_agent', samples, received, facts, chat)
    yield* mistakes
    if (samples.length > 0 && mistakes.length === 0) yield right(read)
  },
}

const agentTextsSent: Rule = {
  id: 'text-missing',
  level: 'MUST',
  *judgeChat(chat, facts) {
    const received = acceptedCalls(chat, 'message').map(call => ({ text: messageIn(call), seq: call.seq }))
    const samples: Sample[] = []
    for (const act of chat.agentActs) {
      const { verb, outcome, text = '' } = act
      if (verb !== 'says' || outcome !== 'ok' || text === '') continue
      const isDue = ageOf(facts, act) > facts.effectMs
      if (isDue || received.some(candidate => candidate.text.includes(text))) samples.push(toSample(text))
    }
    yield* textMistakes('to_user', samples, received, facts, chat)
  },
}

/** The mistakes of these rules; without any, the entry is the proof. */
const cleanUntil = (rules: readonly Rule[], findProof: (chat: ChatHistory) => CallEntry | undefined): Rule => ({
  id: 'clean',
  level: 'MUST',
  *judgeChat(chat, facts) {
    let isClean = true
    for (const { rule, observation } of judge(rules, new History(chat.entries), facts)) {
      if (isProof(observation)) continue
      const mistake = { code: rule.id, level: rule.level, ...observation }
      isClean &&= mistake.level === 'INFO'
      yield mistake
    }
    const proof = isClean ? findProof(chat) : undefined
    if (proof !== undefined) yield right(proof)
  },
})

/** The last end of a chat that was taken over. */
const wholeHandover = (chat: ChatHistory) =>
  acceptedCalls(chat, 'start').length > 0 ? acceptedCalls(chat, 'end').at(-1) : undefined

const secondHandover: Rule = {
  id: 'second-handover',
  level: 'MUST',
  *judgeChat({ calls }) {
    const ends = calls.filter(({ call, before }) => call.endpoint === 'end' && isAccepted(call) && before === 'agent')
    const last = ends.at(-1)
    if (last !== undefined && ends.length > 1) yield right(last.call)
  },
}

const closedAndOpened: Rule = {
  id: 'availability',
  level: 'MUST',
  *judgeAll({ calls }) {
    const sent = calls.filter(call => call.endpoint === 'availability' && isAccepted(call))
    const isAbout = ({ request: { body } }: CallEntry, value: string) => isMap(body) && body.availability === value
    const closed = sent.find(call => isAbout(call, 'CLOSED'))
    const opened = sent.findLast(call => isAbout(call, 'OPEN'))
    if (closed !== undefined && opened !== undefined && opened.seq > closed.seq) yield right(opened)
  },
}

const filesShown: Rule = {
  id: 'file-shown',
  level: 'MUST',
  *judgeChat(chat, { inbox }) {
    const names = new Set<unknown>()
    for (const { event, status, request } of attemptsIn(chat))
      if (event === 'MESSAGE FROM USER' && status === 200) for (const name of fileNamesIn(request.body)) names.add(name)
    if (names.size === 0) return
    for (const read of inbox === null ? chat.reads : [...chat.reads, inbox]) {
      const shown = read.items.flatMap(({ attachments = [] }) => attachments)
      if (shown.some(({ name }) => names.has(name))) yield right(read)
    }
  },
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

/** By the id of the check. */
export const TRAFFIC_RULES: Readonly<Record<string, readonly Rule[]>> = {
  'SIG-01': [validSignature, acceptedProbe(code => !BODY_MISTAKES.includes(code))],
  'SIG-02': [forgeryRefused('none')],
  'SIG-03': [forgeryRefused('wrong-key')],
  'SIG-04': [forgeryRefused('tampered')],
  'SIG-05': [forgeryRefused('truncated', 'hex')],
  'SIG-07': [rawBody, acceptedProbe(code => BODY_MISTAKES.includes(code))],
  'ACK-01': [acknowledged],
  'ACK-04': [callBeforeAck],
  'EVT-01': [unknownAccepted],
  'EVT-03': [typingAccepted],
  'FLW-01': [startAfterAccept],
  'FLW-02': [userTextsSeen],
  'FLW-03': [cleanUntil([agentTextsSent, ...SENDER_RULES], chat => acceptedCalls(chat, 'message').at(-1))],
  'FLW-04': END_RULES,
  'FLW-05': [cleanUntil(CALL_RULES, wholeHandover)],
  'FLW-06': [secondHandover],
  'FLW-08': CONVERSATION_RULES,
  'FLW-09': [callAfterUserLeft],
  'TYP-01': [typingNeverStopped],
  'ATT-01': [filesShown],
}

/** For entries that name no chat: calls about availability, and calls that the platform could not assign. */
export const RULES_WITHOUT_CHAT: Readonly<Record<string, readonly Rule[]>> = {
  'FLW-05': CALL_RULES,
  'AVL-01': [closedAndOpened],
}
