/** Tracks what a recording shows about each chat: who may have it, its bot, its language, and what was sent. */
import { isMap } from '../../base/objects.ts'
import { hashWords } from '../../base/runtime/random.ts'
import type { Attempt, Call, ObservedEvent, Place } from './observation.ts'

/** Who answers in a chat: the bot, the bot with a handover request pending, or an agent. */
export type Status = 'bot' | 'pending' | 'agent'

const ALL: readonly Status[] = ['bot', 'pending', 'agent']

/** The time of a typing indicator, as far as the recording shows it. */
export interface TypingKnowledge {
  /** When typing_start was answered. */
  readonly sinceMs: number
  /** It ends between these two: the platform counts from some moment of the call. */
  readonly fromMs: number
  readonly untilMs: number
  /** The same of an earlier typing_start; null without one. */
  readonly earlier: { readonly fromMs: number; readonly untilMs: number } | null
  /** Calls that may hide the indicator before its end. */
  readonly causes: Set<'end' | 'message'>
  /** Whether the platform has sent AGENT TYPING START for it. */
  isAnnounced: boolean
}

/** A text by which it is recognized, because texts of many chats would need much memory. */
export interface TextMark {
  readonly length: number
  readonly hash: number
}

export const markOf = (text: string): TextMark => ({ length: text.length, hash: hashWords(text, 0)[0] })

export const isText = (text: string, { length, hash }: TextMark): boolean =>
  text.length === length && markOf(text).hash === hash

export interface ChatKnowledge {
  readonly id: string
  /** What the chat may be: all three at the beginning of a recording. */
  statuses: readonly Status[]
  /** The latest call or event that changed it, and what the chat was before. */
  change: {
    readonly startMs: number
    readonly endMs: number
    readonly before: readonly Status[]
    /** Since when it was that. */
    readonly sinceMs: number
  } | null
  botId: number | null
  language: string | null
  source: string | null
  supportsAttachments: boolean | null
  /** Whether no event waited when the latest handover began. */
  wasFreeAtStart: boolean
  languageCodes: readonly string[]
  /** The texts of messages by agents, by message id. */
  readonly sent: Map<string, TextMark>
  typing: TypingKnowledge | null
  /** A typing call that waits for its event, and how many other events have come since. */
  awaitedTyping: { readonly place: Place; readonly endMs: number; events: number } | null
  /** When the latest typing event began. */
  typingEventMs: number
  /** How often the latest event was repeated. */
  repetition: number
  /** The latest attempt to deliver an event. */
  attempt: (Pick<Attempt, 'startMs' | 'endMs' | 'status' | 'answerHeaders' | 'url'> & { readonly hash: number }) | null
  /** Events that came one right after the other while the webhook was slow, oldest first. */
  queued: { readonly text: TextMark; readonly place: Place }[]
  /** How many messages the transcript of the pending request had. */
  messagesBeforeRequest: number | null
  /** Whether a message of the user came as an event since the request. */
  hasForwarded: boolean
  /** The id of the message with which the latest handover began. */
  startMessageId: string | null
  /** How much the user has written, while a transcript shows it and nothing has happened since. */
  userTexts: { readonly count: number; readonly points: number; readonly units: number } | null
  /** When the recording last showed a message in the chat; null before. */
  lastMessageMs: number | null
  /** Evidence that holds unless the next call shows that the chat was changing. */
  deferred: { readonly endMs: number; readonly see: () => void }[]
}

const MAX_SENT = 50

export const createChatKnowledge = (id: string): ChatKnowledge => ({
  id,
  statuses: ALL,
  change: null,
  botId: null,
  language: null,
  source: null,
  supportsAttachments: null,
  wasFreeAtStart: false,
  languageCodes: [],
  sent: new Map(),
  typing: null,
  awaitedTyping: null,
  typingEventMs: Number.NEGATIVE_INFINITY,
  repetition: 0,
  attempt: null,
  queued: [],
  messagesBeforeRequest: null,
  hasForwarded: false,
  startMessageId: null,
  userTexts: null,
  lastMessageMs: null,
  deferred: [],
})

/** What the chat may have been when something began: during a call that changes it, both what it was and what it is. */
export function statusesAt({ statuses, change }: ChatKnowledge, startMs: number): readonly Status[] {
  if (change === null || startMs >= change.endMs) return statuses
  if (startMs < change.sinceMs) return ALL
  if (startMs < change.startMs) return change.before
  return ALL.filter(one => statuses.includes(one) || change.before.includes(one))
}

/** Whether the chat can only have been one of these. */
export const isOnly = (statuses: readonly Status[], ...wanted: Status[]): boolean =>
  statuses.every(one => wanted.includes(one))

/** Whether the latest event was accepted before. One that was not, or is not recorded, may hold up the next ones. */
export const isQueueFree = ({ attempt }: ChatKnowledge, startMs: number): boolean =>
  attempt?.status === 200 && attempt.endMs <= startMs

/** Reads the evidence that waits; drops what a call that changes the chat makes uncertain. */
export function settleDeferred(chat: ChatKnowledge, startMs: number, isChange: boolean): void {
  if (chat.deferred.length === 0) return
  const waiting = chat.deferred
  chat.deferred = waiting.filter(one => one.endMs > startMs && !isChange)
  for (const one of waiting) if (one.endMs <= startMs) one.see()
}

/** Learns from a call that was accepted, or has no answer. */
export function learnFromCall(chat: ChatKnowledge, call: Call): void {
  const { endpoint, body, answer } = call
  const request = isMap(body) ? body : {}
  if (endpoint === 'start' || endpoint === 'message') chat.lastMessageMs = call.endMs
  if (endpoint === 'end' && isOnly(chat.statuses, 'agent')) chat.lastMessageMs = call.endMs
  if (typeof request.bot_id === 'number') chat.botId ??= request.bot_id
  if (endpoint !== 'chat' && endpoint !== 'transcript') chat.userTexts = null
  const messageId = isMap(answer) && typeof answer.chatmessage_id === 'string' ? answer.chatmessage_id : null
  if (endpoint === 'start') {
    changeStatus(chat, call, ['agent'])
    const sender = isMap(request.sender) ? request.sender : {}
    const codes = Array.isArray(sender.language_codes) ? sender.language_codes : []
    chat.languageCodes = codes.filter(code => typeof code === 'string')
    chat.supportsAttachments = request.supports_attachment === true
    chat.wasFreeAtStart = isQueueFree(chat, call.startMs)
    chat.startMessageId = messageId
  }
  if (endpoint === 'end') {
    const before = statusesAt(chat, call.startMs)
    changeStatus(chat, call, before.map(one => (one === 'agent' ? 'bot' : one)).filter(isFirst))
    chat.supportsAttachments = null
    chat.messagesBeforeRequest = null
  }
  if (endpoint === 'message' && messageId !== null && typeof request.message === 'string') {
    chat.sent.set(messageId, markOf(request.message))
    if (chat.sent.size > MAX_SENT) chat.sent.delete([...chat.sent.keys()][0] ?? '')
  }
  if ((endpoint === 'message' || endpoint === 'end') && chat.typing !== null && call.endMs < chat.typing.fromMs) {
    if (call.startMs >= chat.typing.sinceMs) chat.typing.causes.add(endpoint)
    // Of two calls at the same time it is unknown which the platform did first.
    else chat.typing = null
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Whether a message of a transcript is by the user; those of agents may also have `from_bot` false. */
export const isByUser = ({ sent }: ChatKnowledge, { from_bot: fromBot, id }: Fields): boolean =>
  fromBot === false && !sent.has(String(id))

export function learnFromTranscript(chat: ChatKnowledge, record: Fields, messages: readonly Fields[]): void {
  if (typeof record.language_code === 'string') chat.language ??= record.language_code
  const texts = messages.filter(one => isByUser(chat, one)).map(({ message }) => String(message).trim())
  const sum = (lengthOf: (text: string) => number) => texts.reduce((total, text) => total + lengthOf(text), 0)
  chat.userTexts = { count: texts.length, points: sum(text => [...text].length), units: sum(text => text.length) }
}

/** After a start or end whose outcome is unknown, the chat may be what it was, or what the call makes of it. */
export function learnFromLostCall(chat: ChatKnowledge, call: Call): void {
  const before = statusesAt(chat, call.startMs)
  changeStatus(chat, call, call.endpoint === 'start' ? ALL.filter(one => one === 'agent' || before.includes(one)) : ALL)
  chat.supportsAttachments = null
  chat.typing = null
}

const isFirst = (one: Status, index: number, all: readonly Status[]) => all.indexOf(one) === index

function changeStatus(chat: ChatKnowledge, { startMs, endMs }: Call, statuses: readonly Status[]): void {
  // Of two calls at the same time it is unknown which the platform did first.
  const isAlone = chat.change === null || startMs >= chat.change.endMs
  const sinceMs = chat.change?.endMs ?? Number.NEGATIVE_INFINITY
  chat.change = { startMs, endMs, before: statusesAt(chat, startMs), sinceMs }
  chat.statuses = isAlone ? statuses : ALL
}

/** Learns from an event. */
export function learnFromEvent(chat: ChatKnowledge, { payload, startMs }: ObservedEvent): void {
  const { event, bot, chat: about } = payload
  if (event === 'MESSAGE FROM USER' || event === 'REQUESTING TAKEOVER') chat.lastMessageMs = startMs
  chat.userTexts = null
  if (isMap(bot) && typeof bot.id === 'number') chat.botId = bot.id
  if (isMap(about) && typeof about.language === 'string') chat.language = about.language
  if (isMap(about) && typeof about.source === 'string') chat.source = about.source
  if (event === 'MESSAGE FROM USER') chat.hasForwarded = true
  if (event !== 'REQUESTING TAKEOVER') return
  chat.messagesBeforeRequest = null
  chat.hasForwarded = false
  // Before a change that began later, the request has no further effect on what the chat is now.
  if (chat.change !== null && startMs < chat.change.startMs) return
  const before = statusesAt(chat, startMs)
  const after: readonly Status[] = before.map(one => (one === 'bot' ? 'pending' : one))
  const sinceMs = chat.change?.endMs ?? Number.NEGATIVE_INFINITY
  chat.change = { startMs, endMs: startMs, before, sinceMs }
  // The first event that a recording shows may be the retry of one before it, which changes nothing now.
  chat.statuses = ALL.filter(one => after.includes(one) || (chat.attempt === null && before.includes(one)))
}

/** Identifies a payload: attempts of one event have the same. */
export const hashOf = (payload: unknown): number => hashWords(JSON.stringify(payload), 0)[0]

/** Whether an event repeats one that the webhook did not accept: a retry, or the other side of a redirect. */
export const isRepeated = ({ attempt }: ChatKnowledge, payload: Readonly<Record<string, unknown>>): boolean =>
  attempt !== null &&
  attempt.status !== 200 &&
  attempt.hash === hashOf(payload) &&
  !/TYPING/.test(String(payload.event))
