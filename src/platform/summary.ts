/** Checks the precondition of a summary and writes a repeatable one instead of that of a language model (E2). */

import type { PlatformContext } from './context.ts'
import { Refusal } from './refusal.ts'
import type { Chat } from './state.ts'
import { assumed, type Transaction } from './transaction.ts'
import { textsFor } from './translation.ts'

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
  const size = userMessages.reduce((sum, text) => sum + countCharacters(platform, text), 0)
  if (userMessages.length < MIN_MESSAGES || size <= MORE_THAN_CHARACTERS) {
    const message =
      `The chat needs at least ${MIN_MESSAGES} user messages with more than ${MORE_THAN_CHARACTERS} characters ` +
      `in total; it has ${userMessages.length} with ${size}.`
    const status = Number(platform.knobs['summarize.errorStatus'])
    throw new Refusal('precondition_failed', message, { field: 'chat_id', status, assumed: ['summarize.count'] })
  }
  assumed(transaction, 'summarize.text')
  return { chatId: chat.id, language: chat.language, userMessages, prompt: platform.knobs['summarize.prompt'] }
}

const countCharacters = (platform: PlatformContext, text: string): number => {
  const trimmed = text.trim()
  return platform.knobs['summarize.count'] === 'utf16' ? trimmed.length : [...trimmed].length
}

const TEMPLATES = {
  en: 'The user wrote {count} messages. It began with "{first}" and the latest is "{last}".',
  nb: 'Brukeren skrev {count} meldinger. Det begynte med «{first}», og den siste er «{last}».',
  de: 'Die Person hat {count} Nachrichten geschrieben. Am Anfang stand „{first}“, zuletzt „{last}“.',
  ar: 'كتب المستخدم {count} رسائل. بدأت المحادثة بـ «{first}» وآخر رسالة هي «{last}».',
}

function templateFor(platform: PlatformContext, language: string): string {
  const own = platform.knobs['summarize.text']
  return own === 'template' ? textsFor(TEMPLATES, language) : own
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
  const text = templateFor(platform, input.language).replace(
    /\{(count|first|last)\}/g,
    (_, name: string) => values[name] ?? '',
  )
  const varied = platform.knobs['summarize.vary'] === 'on' ? `${text} (${++platform.state.summaryCounter})` : text
  return input.prompt === '' ? varied : `[prompt: ${input.prompt}] ${varied}`
}
