/** Tracks what a recording shows so far: about each chat, and about the platform as a whole. */
import { isMap } from '../../base/objects.ts'
import { hashWords } from '../../base/runtime/random.ts'
import type { Attempt, Fields, ObservedEvent, Place } from './observation.ts'

/** Who answers in a chat: the bot, the bot with a handover request pending, or an agent. */
export type Status = 'bot' | 'pending' | 'agent'

export const ALL_STATUSES: readonly Status[] = ['bot', 'pending', 'agent']

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

/** What a recording shows about one chat so far. */
export class ChatKnowledge {
  /** What the chat may be: all three at the beginning of a recording. */
  statuses: readonly Status[] = ALL_STATUSES
  /** The latest call or event that changed it, what the chat was before, and since when it was that. */
  change: {
    readonly startMs: number
    readonly endMs: number
    readonly before: readonly Status[]
    readonly sinceMs: number
  } | null = null
  botId: number | null = null
  language: string | null = null
  source: string | null = null
  supportsAttachments: boolean | null = null
  /** Whether no event waited when the latest handover began. */
  wasFreeAtStart = false
  languageCodes: readonly string[] = []
  /** The texts of messages by agents, by message id. */
  readonly sent = new Map<string, TextMark>()
  typing: TypingKnowledge | null = null
  /** A typing call that waits for its event, and how many other events have come since. */
  awaitedTyping: { readonly place: Place; readonly endMs: number; events: number } | null = null
  /** When the latest typing event began. */
  typingEventMs = Number.NEGATIVE_INFINITY
  /** How often the latest event was repeated. */
  repetition = 0
  /** The latest attempt to deliver an event. */
  attempt:
    | (Pick<Attempt, 'startMs' | 'endMs' | 'status' | 'answerHeaders' | 'url'> & { readonly hash: number })
    | null = null
  /** Events that came one right after the other while the webhook was slow, oldest first. */
  queued: { readonly text: TextMark; readonly place: Place }[] = []
  /** How many messages the transcript of the pending request had. */
  messagesBeforeRequest: number | null = null
  /** Whether a message of the user came as an event since the request. */
  hasForwarded = false
  /** The id of the message with which the latest handover began. */
  startMessageId: string | null = null
  /** How much the user has written, while a transcript shows it and nothing has happened since. */
  userTexts: { readonly count: number; readonly points: number; readonly units: number } | null = null
  /** When the recording last showed a message in the chat; null before. */
  lastMessageMs: number | null = null
  /** Evidence that holds unless the next call shows that the chat was changing. */
  deferred: { readonly endMs: number; readonly add: () => void }[] = []
}

/** What a recording shows so far beside its chats. */
export class RecordingKnowledge {
  /** Bots that calls or events name. */
  readonly bots = new Set<number>()
  readonly availability = new Map<string, string>()
  /** When the latest change of an availability ended. */
  availabilityMs = Number.NEGATIVE_INFINITY
  /** Bots of which a chat was taken over since their availability may have changed. */
  readonly startedBots = new Set<string>()
  /** Authorization headers with which handover calls were accepted. */
  readonly handoverKeys = new Set<string>()
  /** When each attachment link was sent, by its path. */
  readonly attachments = new Map<string, number>()
  /** The times of the latest calls that were not refused by a rate limit. */
  readonly callTimes: number[] = []
  rate: string | null = null
  /** Whether a text was changed by translation. */
  hasTranslated = false
  /** Times of which two that are alike are evidence, by their kind. */
  readonly times = new Map<string, number[]>()
}

/** What the chat may have been when something began: during a call that changes it, both what it was and what it is. */
export function statusesAt({ statuses, change }: ChatKnowledge, startMs: number): readonly Status[] {
  if (change === null || startMs >= change.endMs) return statuses
  if (startMs < change.sinceMs) return ALL_STATUSES
  if (startMs < change.startMs) return change.before
  return ALL_STATUSES.filter(status => statuses.includes(status) || change.before.includes(status))
}

/** Whether the chat can only have been one of these. */
export const isOnly = (statuses: readonly Status[], ...wanted: Status[]): boolean =>
  statuses.every(status => wanted.includes(status))

/** Whether the latest event was accepted before. One that was not, or is not recorded, may hold up the next ones. */
export const isQueueFree = ({ attempt }: ChatKnowledge, startMs: number): boolean =>
  attempt?.status === 200 && attempt.endMs <= startMs

/** Adds the evidence that waits; drops what a call that changes the chat makes uncertain. */
export function settleDeferred(chat: ChatKnowledge, startMs: number, isChange: boolean): void {
  if (chat.deferred.length === 0) return
  const { deferred } = chat
  chat.deferred = deferred.filter(({ endMs }) => endMs > startMs && !isChange)
  for (const { endMs, add } of deferred) if (endMs <= startMs) add()
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
  const after: readonly Status[] = before.map(status => (status === 'bot' ? 'pending' : status))
  const sinceMs = chat.change?.endMs ?? Number.NEGATIVE_INFINITY
  chat.change = { startMs, endMs: startMs, before, sinceMs }
  // The first event that a recording shows may be the retry of one before it, which changes nothing now.
  const isPossible = (status: Status) => after.includes(status) || (chat.attempt === null && before.includes(status))
  chat.statuses = ALL_STATUSES.filter(isPossible)
}

/** Identifies a payload: attempts of one event have the same. */
export const hashOf = (payload: unknown): number => hashWords(JSON.stringify(payload), 0)[0]

/** Whether an event repeats one that the webhook did not accept: a retry, or the other side of a redirect. */
export const isRepeated = ({ attempt }: ChatKnowledge, payload: Fields): boolean =>
  attempt !== null &&
  attempt.status !== 200 &&
  attempt.hash === hashOf(payload) &&
  !/TYPING/.test(String(payload.event))
