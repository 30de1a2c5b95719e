/**
 * Translates messages and summarizes chats (E2, E4.7-E4.9): when it applies, the default engines, and calls of engines. An
 * engine may return a promise, which is awaited here, in order per chat. Without promises everything stays synchronous.
 */

import type { Awaitable } from '../../base/runtime/activity.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { textsFor } from '../contract/bot-texts.ts'
import { Refusal } from './refusal.ts'
import type { Chat, PlatformContext } from './state.ts'
import { assumed, type Transaction } from './state.ts'

export interface Engines {
  readonly translate: Translate
  readonly summarize: Summarize
}

/** The translated text, or the text as it is when there is nothing to translate. Throws `EngineError`. */
export const translated = (engines: Engines, job: Translation | null, text: string): Awaitable<string> =>
  job === null ? text : textFrom('translate', () => engines.translate(job.text, job.from, job.to))

/** Throws `EngineError`. */
export const summarized = (engines: Engines, input: SummaryInput): Awaitable<string> =>
  textFrom('summarize', () => engines.summarize(input))

/** An engine failed. It is code of the user, so this is no error of the simulator. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly engine: keyof Engines

  constructor(engine: keyof Engines, cause: unknown) {
    super(messageOf(cause), { cause })
    this.engine = engine
  }
}

function textFrom(engine: keyof Engines, call: () => Awaitable<unknown>): Awaitable<string> {
  const fail = (error: unknown) => {
    throw new EngineError(engine, error)
  }
  try {
    const result = native(call())
    return result instanceof Promise
      ? result.then(value => checkText(engine, value)).catch(fail)
      : checkText(engine, result)
  } catch (error) {
    return fail(error)
  }
}

/** Also true for promises of libraries, and of Node in jest, whose tests run in a context of their own. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Converts promises of any library, because engines are code of the user. */
const native = <T>(value: Awaitable<T>): Awaitable<T> => (isThenable(value) ? Promise.resolve(value) : value)

function checkText(engine: keyof Engines, result: unknown): string {
  if (typeof result === 'string') return result
  throw new TypeError(`The ${engine} engine must return a text, got ${result === null ? 'null' : typeof result}.`)
}

export interface Translation {
  readonly text: string
  readonly from: string
  readonly to: string
}
export type Translate = (text: string, from: string, to: string) => string | Promise<string>

/** Marks a text instead of translating it: `[no>en] Hei`. */
export const markTranslation: Translate = (text, from, to) => (text === '' ? '' : `[${from}>${to}] ${text}`)
export const sameText: Translate = text => text

/** The first language of the agent when none of them is the language of the chat; null when no translation is needed (E4.7, E4.8). */
export function agentLanguage(platform: PlatformContext, chat: Chat, codes: readonly string[] = []): string | null {
  const [first] = codes
  if (first === undefined || chat.language === '' || first === '') return null
  return codes.some(code => sameLanguage(platform, code, chat.language)) ? null : first
}

/** Compares without case and by primary subtag, unless `translation.match` says otherwise. */
function sameLanguage(platform: PlatformContext, a: string, b: string): boolean {
  const key = (code: string) => {
    const lower = code.toLowerCase()
    const cut = platform.knobs['translation.match'] === 'exact' ? lower : (lower.split(/[-_]/)[0] ?? lower)
    const pair = platform.knobs['translation.aliases'].find(alias => alias.toLowerCase().startsWith(`${cut}=`))
    return pair === undefined ? cut : pair.slice(cut.length + 1).toLowerCase()
  }
  return key(a) === key(b)
}

/** The translation that a text of the user needs, or null. */
export function toAgent(chat: Chat, text: string): Translation | null {
  const to = chat.takeover?.agentLanguage ?? null
  return to === null || text === '' ? null : { text, from: chat.language, to }
}

/** The translation that a text of the agent needs, or null. */
export function toUser(chat: Chat, text: string): Translation | null {
  const from = chat.takeover?.agentLanguage ?? null
  return from === null || text === '' ? null : { text, from, to: chat.language }
}

export interface SummaryInput {
  readonly chatId: string
  readonly language: string
  /** What the user wrote, oldest first. */
  readonly userMessages: readonly string[]
  /** The workspace's 'Chat Summary prompt'; empty when none is set. */
  readonly prompt: string
}
export type Summarize = (input: SummaryInput) => string | Promise<string>

const MIN_MESSAGES = 2
const MORE_THAN_CHARACTERS = 30

/** Collects the user messages; throws a refusal for a chat that is too short (L1, L2, `summarize.count`). */
export function summaryInput(platform: PlatformContext, chat: Chat, transaction: Transaction): SummaryInput {
  const userMessages = chat.messages.filter(message => message.from === 'user').map(message => message.text)
  const size = userMessages.reduce((sum, text) => {
    const trimmed = text.trim()
    return sum + (platform.knobs['summarize.count'] === 'utf16' ? trimmed.length : [...trimmed].length)
  }, 0)
  if (userMessages.length < MIN_MESSAGES || size <= MORE_THAN_CHARACTERS) {
    const message = `The chat needs at least ${MIN_MESSAGES} user messages with more than ${MORE_THAN_CHARACTERS} characters in total; it has ${userMessages.length} with ${size}.`
    const status = Number(platform.knobs['summarize.errorStatus'])
    throw new Refusal('precondition_failed', message, { field: 'chat_id', status, assumed: ['summarize.count'] })
  }
  assumed(transaction, 'summarize.text')
  return { chatId: chat.id, language: chat.language, userMessages, prompt: platform.knobs['summarize.prompt'] }
}

const TEMPLATES = {
  en: 'The user wrote {count} messages. It began with "{first}" and the latest is "{last}".',
  nb: 'Brukeren skrev {count} meldinger. Det begynte med «{first}», og den siste er «{last}».',
  de: 'Die Person hat {count} Nachrichten geschrieben. Am Anfang stand „{first}“, zuletzt „{last}“.',
  ar: 'كتب المستخدم {count} رسائل. بدأت المحادثة بـ «{first}» وآخر رسالة هي «{last}».',
}

const shorten = (text: string): string => {
  const line = [...text.replace(/\s+/g, ' ').trim()]
  return line.length <= 80 ? line.join('') : `${line.slice(0, 79).join('')}…`
}

/** The default engine. It ignores the prompt, but shows that one is set: `[prompt: …]`. */
export function fillTemplate(platform: PlatformContext, input: SummaryInput): string {
  const values: Record<string, string> = {
    count: String(input.userMessages.length),
    first: shorten(input.userMessages[0] ?? ''),
    last: shorten(input.userMessages.at(-1) ?? ''),
  }
  const own = platform.knobs['summarize.text']
  const text = (own === 'template' ? textsFor(TEMPLATES, input.language) : own).replace(
    /\{(count|first|last)\}/g,
    (_, name: string) => values[name] ?? '',
  )
  const varied = platform.knobs['summarize.vary'] === 'on' ? `${text} (${++platform.state.summaryCounter})` : text
  return input.prompt === '' ? varied : `[prompt: ${input.prompt}] ${varied}`
}
