/** Defines the refusal of a request and its texts. It is not an Error, because it is an ordinary outcome and needs no stack. */

import type { AssumptionName } from '../contract/assumptions.ts'
import { ERRORS, type ErrorCode } from '../contract/errors.ts'
import type { Knobs } from '../contract/knobs.ts'

const quoted = JSON.stringify

/** The messages of refusals, and of findings about calls that are accepted. */
export const REFUSAL_TEXTS = {
  alreadyTakenOver: 'The chat is already taken over.',
  attachmentSize: (name: string, sizeKb: number) =>
    `attachments: size_kb of ${quoted(name)} must be a whole number, got ${sizeKb}.`,
  attachmentTooLarge: (name: string, sizeKb: number, limitKb: number) =>
    `attachments: ${quoted(name)} has ${sizeKb} KB, more than the ${limitKb} KB allowed.`,
  bodyEmpty: 'The body is empty; a JSON object is expected.',
  bodyNotJson: (why: string) => `The body is not valid JSON: ${why}.`,
  bodyNotObject: (got: string) => `The body must be a JSON object, got ${got}.`,
  bodyTooDeep: (levels: number) => `The body is nested more than ${levels} levels deep.`,
  bodyTooLarge: (bytes: number) => `The body is larger than ${bytes} bytes.`,
  bodyMarked: 'The body begins with a byte order mark; send the JSON without it.',
  botUnknown: (botId: number, known: string) => `bot_id ${botId} is not a bot of this simulator; known: ${known}.`,
  buttonWithoutLabel: (field: string) => `${field} must be a text.`,
  chatOfOtherBot: (chatId: string, owner: number, botId: number) =>
    `chat_id ${quoted(chatId)} belongs to bot ${owner}, not to bot_id ${botId}.`,
  chatOfOtherKey: 'The chat belongs to another bot than this key.',
  chatRemoved: (named: string) => `${named} is not a chat here any more: it was removed when the simulator was reset.`,
  chatTooShort: (count: number, size: number, least: number, moreThan: number) =>
    `The chat needs at least ${least} user messages with more than ${moreThan} characters in total; it has ${count} with ${size}.`,
  chatUnknown: (named: string) => `${named} is not a chat here.`,
  contentEncoding: (got: string) =>
    `Content-Encoding is ${quoted(got)}; send the body without it, because the platform describes no compression.`,
  contentType: (got: string | undefined) =>
    `Content-Type should be application/json, got ${got === undefined ? 'none' : quoted(got)}.`,
  endOfIdle: 'end for a chat that is not taken over.',
  fileMethod: (method: string) => `A file takes GET, got ${method}.`,
  fileUnknown: 'There is no such file.',
  handoverClosed: 'Handover is closed.',
  keyMalformed: 'The header must read Authorization: Bearer <API_KEY>.',
  keyMissing: 'The header Authorization: Bearer <API_KEY> is missing.',
  keyOfOtherBot: (keyBotId: number, botId: number) => `The API key belongs to bot ${keyBotId}, not to bot_id ${botId}.`,
  keyUnknown: 'The API key is not known here.',
  linkExpired: 'The link has expired.',
  messageEmpty: 'message must not be empty.',
  methodNotAllowed: (path: string, allowed: string, method: string) => `${path} takes ${allowed}, got ${method}.`,
  notRequested: 'The user has not requested a handover in this chat.',
  notTakenOver: 'The chat is not taken over.',
  pathAsWritten: (path: string) => `The path is written ${path}.`,
  pathUnknown: (path: string, near: string, endpoints: string) =>
    `No endpoint at ${path}${near} The nine endpoints: ${endpoints} (takeover is an alias of handover).`,
  queueNotSupported: (queue: string) => `queue must be "DEFAULT", the only supported queue, got ${quoted(queue)}.`,
  scopeHandover: 'This is not a handover key. The handover endpoints take the key of the handover settings page.',
  scopeReadChats:
    "This key has no 'Read chats' scope. The transcript endpoint takes a bot API key (Connect -> API Keys), not the handover key.",
  senderExpected: (field: string) => `${field} is expected on message.`,
  senderMissing: (field: string) => `${field} is missing: the user cannot see whom the message comes from.`,
  tooManyCalls: (calls: number, windowMs: number) => `More than ${calls} calls in ${windowMs} ms.`,
  unknownField: (field: string) => `${field} is not a known field; it was ignored.`,
  unknownFields: (fields: string, others: number) =>
    `${fields}${others === 0 ? '' : ` and ${others} more`}: not a known field.`,
  furtherUnknownFields: (count: number) => `And ${count} more unknown fields; they were ignored.`,
  furtherProblems: 'There are more problems.',
}

interface RefusalOptions {
  field?: string
  assumed?: readonly AssumptionName[]
}

export class Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly field: string | null
  readonly status: number
  readonly assumed: readonly AssumptionName[]

  constructor(code: ErrorCode, message: string, options: RefusalOptions & { status?: number } = {}) {
    this.code = code
    this.message = message
    this.field = options.field ?? null
    this.status = options.status ?? ERRORS[code].status
    this.assumed = ['errors.body', ERRORS[code].assumed, ...(options.assumed ?? [])]
  }
}

/** Refuses a field; the status is the knob `errors.validation`. */
export function invalidParameter(knobs: Knobs, message: string, options: RefusalOptions): Refusal {
  const assumed = ['errors.validation', ...(options.assumed ?? [])] as const
  return new Refusal('invalid_parameter', message, { ...options, assumed, status: Number(knobs['errors.validation']) })
}
