/** Findings about what events contain. */
import { type AnswerDetails, answerText } from './acknowledgement.ts'
import { defineFindings } from './define.ts'

export interface EventFindings {
  readonly 'unknown-event-refused': AnswerDetails & { readonly event: string }
  readonly 'unknown-event-used': { readonly event: string; readonly effect: 'call' | 'inbox' }
  /** An event is refused only in this form. */
  readonly 'event-form-refused': AnswerDetails & { readonly event: string; readonly form: string }
  /** An event has an effect, but not in this form. */
  readonly 'event-form-ignored': { readonly event: string; readonly form: string; readonly effect: 'call' | 'inbox' }
  readonly 'typing-event-refused': AnswerDetails & { readonly event: string }
  readonly 'typing-returned': { readonly call: string; readonly calls: number }
  readonly 'unknown-chat-refused': AnswerDetails
  readonly 'attachments-refused': AnswerDetails & { readonly form: string }
  readonly 'attachments-lose-text': { readonly form: string; readonly text: string; readonly seen: readonly string[] }
  readonly 'chat-kind-refused': AnswerDetails & { readonly field: string; readonly value: string }
  readonly 'chat-kind-ignored': { readonly field: string; readonly value: string }
  readonly 'chat-kind-not-started': { readonly field: string; readonly value: string }
}

const value = (text: string) => JSON.stringify(text)

export const EVENT_FINDINGS = defineFindings<EventFindings>({
  'unknown-event-refused': {
    happened: ({ event, ...answer }) => `The webhook ${answerText(answer)} to the unknown event ${event}.`,
    expected: 'It answers 2xx to a validly signed event that it does not know, and does nothing else.',
    next: 'Give the switch over `event` a default branch that logs the name and answers 200. The platform can add events at any time, and may disable a webhook that refuses them.',
  },
  'unknown-event-used': {
    happened: ({ event, effect }) =>
      `The unknown event ${event} had an effect: ${effect === 'call' ? 'the intermediary called the platform about its chat' : 'the agent sees it'}.`,
    expected: 'An event that is not known has no effect.',
    next: 'Compare `event` with the exact names. A branch for "everything else" must not open a conversation or forward a message.',
  },
  'event-form-refused': {
    happened: ({ event, form, ...answer }) => `The webhook ${answerText(answer)} to ${event} with ${form}.`,
    expected: 'It answers 200, as it does to the same event without the difference.',
    next: 'Make the schema ignore fields that it does not know, and read fields by name. The platform can add fields, and JSON has no order of fields.',
  },
  'event-form-ignored': {
    happened: ({ event, form, effect }) =>
      `${event} with ${form} had no effect. Without the difference ${effect === 'call' ? 'the intermediary calls the platform' : 'the agent sees it'}.`,
    expected: 'Unknown fields and the order of fields change nothing.',
    next: 'Look for a parser that rejects unknown fields without an error, or for code that takes the first fields instead of named ones.',
  },
  'typing-event-refused': {
    happened: ({ event, ...answer }) =>
      `The webhook ${answerText(answer)} to ${event}, whose payload has only \`chat_id\`.`,
    expected: 'It answers 2xx. The event has no `chat`, `bot` or `user` object.',
    next: 'Read `event` before anything else, and `chat.id` only for REQUESTING TAKEOVER and MESSAGE FROM USER.',
  },
  'typing-returned': {
    happened: ({ call, calls }) =>
      `The intermediary made ${calls === 1 ? 'a call' : `${calls} calls`} after AGENT TYPING START and AGENT TYPING STOP: ${call}.`,
    expected: 'It makes no typing call in return. These events report its own calls, so a call in return never ends.',
    next: 'Ignore both events, or use them only to show the agent that the platform has received the typing call.',
  },
  'unknown-chat-refused': {
    happened: answer =>
      `The webhook ${answerText(answer)} to MESSAGE FROM USER for a chat that it had not seen before.`,
    expected: 'It answers 200 (WH3), also when the request of the chat was lost or came before a restart.',
    next: 'Create the conversation when it is not known, as for a request, and show the message to an agent. The payload has all that is needed: bot, chat and user.',
  },
  'attachments-refused': {
    happened: ({ form, ...answer }) => `The webhook ${answerText(answer)} to MESSAGE FROM USER ${form}.`,
    expected:
      'It answers 200 (WH3). `attachments` is there only when the handover was started with support for it (EV5).',
    next: 'Treat a missing `attachments` as an empty list: `event.attachments ?? []`.',
  },
  'attachments-lose-text': {
    happened: ({ form, text, seen }) =>
      `The agent does not see the text ${value(text)} of MESSAGE FROM USER ${form}. ${seen.length === 0 ? 'No text came from this chat' : `Seen: ${seen.map(value).join(', ')}`}.`,
    expected: 'The agent sees the text of every message, with and without attachments.',
    next: 'Forward the text and the attachments. A message with files can have a text too.',
  },
  'chat-kind-refused': {
    happened: ({ field, value: set, ...answer }) =>
      `The webhook ${answerText(answer)} to REQUESTING TAKEOVER of a chat whose ${field} is ${value(set)}.`,
    expected: 'It answers 200 (WH2), whatever the language and the source of the chat are.',
    next: 'Keep both as plain texts. A list of known values becomes incomplete; use a default for what is not in it.',
  },
  'chat-kind-ignored': {
    happened: ({ field, value: set }) =>
      `REQUESTING TAKEOVER of a chat whose ${field} is ${value(set)} had no effect. With the usual ${field} it has one.`,
    expected: 'The request reaches an agent, whatever the language and the source of the chat are.',
    next: 'Look for a filter or a route by language or source that has no default.',
  },
  'chat-kind-not-started': {
    happened: ({ field, value: set }) =>
      `The handover of a chat whose ${field} is ${value(set)} was not started after an agent accepted it.`,
    expected: 'The intermediary calls `start`, whatever the language and the source of the chat are.',
    next: 'Look for an exception after the agent accepted: a library for languages or formats may throw for a value that it does not know.',
  },
})
