/** Answers with transcripts. Keeps the JSON of messages and of the fields around them, which many answers repeat. */

import { atOnce, inPieces } from '../../base/runtime/pieces.ts'
import type { AssumptionName } from '../contract/assumptions.ts'
import type { EndpointId } from '../contract/endpoint-routes.ts'
import type { MessageRecord } from '../contract/schemas.ts'
import type { Chat, Message, PlatformContext } from '../rules/state.ts'
import { assumed } from '../rules/transaction.ts'
import { assumedBy, messageRecord, type TranscriptOutline, transcriptInSteps } from '../rules/transcript.ts'
import type { ApiCall, ApiPorts } from './call.ts'
import { checkReply, EncodedAnswer, isLongTranscript } from './success-response.ts'

/** A long transcript is written in steps, and nothing of it is kept. */
export function answerTranscript(
  call: ApiCall,
  id: EndpointId,
  chat: Chat,
  outline: TranscriptOutline,
): object | Promise<object> {
  call.hasLongAnswer = isLongTranscript(chat)
  if (!call.hasLongAnswer && outline.extra === null) return writeTranscript(call, id, chat, outline)
  const steps = transcriptInSteps(call.ports.platform, chat, outline, call.transaction)
  return call.hasLongAnswer ? inPieces(steps) : atOnce(steps)
}

type Answer = TranscriptOutline['answer']

/** What the answers to calls for one chat had. */
interface KeptTranscript {
  /** With these knobs. */
  readonly agentFromBot: string
  readonly text: string
  /** Another first message means that older ones were evicted, or that the chat was restored. */
  readonly first: Message | undefined
  readonly messages: WrittenMessage[]
  /** The JSON of the messages, with commas between them. */
  json: string
  /** Whether the JSON of the messages is ASCII. */
  isAscii: boolean
  answer: Answer | null
  /** The JSON of the latest answer without its messages. */
  answerJson: string
  isAnswerAscii: boolean
}

interface WrittenMessage {
  readonly record: MessageRecord
  /** Where its JSON ends in that of all messages. */
  readonly end: number
  /** What the records up to this one assume. */
  readonly assumed: readonly AssumptionName[]
}

export interface TranscriptCache {
  of(platform: PlatformContext, chat: Chat): KeptTranscript
  /** Counts so many bytes more. */
  count(bytes: number): void
}

/** Begins again after `limit` bytes, so that chats which are not read any more take no memory. */
export function createTranscriptCache(limit: number): TranscriptCache {
  let chats = new WeakMap<Chat, KeptTranscript>()
  let total = 0
  return {
    of(platform, chat) {
      const known = chats.get(chat)
      if (known !== undefined && isCurrent(known, platform, chat)) return known
      const kept = newTranscript(platform, chat)
      chats.set(chat, kept)
      return kept
    },
    count(bytes) {
      total += bytes
      if (total <= limit) return
      chats = new WeakMap()
      total = 0
    },
  }
}

const isCurrent = (kept: KeptTranscript, { knobs }: PlatformContext, { messages }: Chat): boolean =>
  kept.first === messages[0] &&
  kept.agentFromBot === knobs['transcript.agentFromBot'] &&
  kept.text === knobs['transcript.text']

const newTranscript = ({ knobs }: PlatformContext, { messages }: Chat): KeptTranscript => ({
  agentFromBot: knobs['transcript.agentFromBot'],
  text: knobs['transcript.text'],
  first: messages[0],
  messages: [],
  json: '',
  isAscii: true,
  answer: null,
  answerJson: '',
  isAnswerAscii: true,
})

function writeTranscript(
  { ports, transaction }: ApiCall,
  id: EndpointId,
  chat: Chat,
  { answer, count }: TranscriptOutline,
): EncodedAnswer {
  const kept = ports.transcripts.of(ports.platform, chat)
  const added = kept.messages.length < count ? chat.messages.slice(kept.messages.length, count) : []
  if (added.length > 0 || kept.answer === null || !isEqual(answer, kept.answer))
    writeChanges(ports, id, kept, answer, added)
  const messages = kept.messages.slice(0, count)
  const last = messages.at(-1)
  if (last !== undefined) assumed(transaction, ...last.assumed)
  const json = kept.answerJson + kept.json.slice(0, last?.end ?? 0) + END
  const value = new TranscriptSource(kept.answer ?? answer, messages)
  return new EncodedAnswer(json, kept.isAscii && kept.isAnswerAscii, value)
}

/** Checks and writes what an answer shows for the first time. */
function writeChanges(
  { platform, transcripts }: ApiPorts,
  id: EndpointId,
  kept: KeptTranscript,
  answer: Answer,
  added: readonly Message[],
): void {
  const records = added.map(message => messageRecord(platform, message))
  checkReply(id, withMessages(answer, records))
  transcripts.count(writeMessages(kept, added, records) + writeAnswer(kept, answer))
}

/** The memory of a written message beside its JSON; its record has the texts of the message. */
const RECORD_BYTES = 256

/** Returns the memory they take, in bytes. */
function writeMessages(kept: KeptTranscript, added: readonly Message[], records: readonly MessageRecord[]): number {
  const before = kept.json.length
  const texts = before === 0 ? [] : [kept.json]
  let end = before
  for (const [index, record] of records.entries()) {
    const json = JSON.stringify(record)
    end += json.length + (texts.length === 0 ? 0 : 1)
    texts.push(json)
    kept.isAscii &&= isAscii(json)
    const assumes = united(kept.messages.at(-1)?.assumed, assumedBy(added[index]!))
    kept.messages.push({ record, end, assumed: assumes })
  }
  // V8 stores the text of a join in one piece, which is cheaper to read than the parts of a sum.
  kept.json = texts.join()
  return end - before + records.length * RECORD_BYTES
}

function united(before: readonly AssumptionName[] = [], more: readonly AssumptionName[]): readonly AssumptionName[] {
  const added = more.filter(name => !before.includes(name))
  return added.length === 0 ? before : [...before, ...added]
}

/** How the JSON of an answer ends: with the list of messages. */
const END = ']}}'

/** Returns the memory it takes, in bytes. */
function writeAnswer(kept: KeptTranscript, answer: Answer): number {
  kept.answer = answer
  kept.answerJson = JSON.stringify(answer).slice(0, -END.length)
  kept.isAnswerAscii = isAscii(kept.answerJson)
  return kept.answerJson.length
}

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text)

const withMessages = (answer: Answer, messages: readonly MessageRecord[]): object => ({
  ...answer,
  chat: { ...answer.chat, messages },
})

const isEqual = (one: Answer, other: Answer): boolean =>
  ('event' in one ? one.event : null) === ('event' in other ? other.event : null) && hasSameFields(one.chat, other.chat)

/** Compares lists by their items, and other objects by their identity. */
function hasSameFields(one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): boolean {
  let count = 0
  for (const name in one) {
    const [mine, its] = [one[name], other[name]]
    if (mine !== its && !areSameLists(mine, its)) return false
    count++
  }
  for (const _ in other) count--
  return count === 0
}

const areSameLists = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) &&
  Array.isArray(other) &&
  one.length === other.length &&
  one.every((item, index) => item === other[index])

/** What the journal keeps of a transcript: its value is built when the entry is first read. */
export class TranscriptSource {
  readonly #answer: Answer
  readonly #messages: readonly WrittenMessage[]

  constructor(answer: Answer, messages: readonly WrittenMessage[]) {
    this.#answer = answer
    this.#messages = messages
  }

  value(): object {
    const messages = this.#messages.map(({ record }) => ({ ...record, buttons: [...record.buttons] }))
    return withMessages(this.#answer, messages)
  }
}
