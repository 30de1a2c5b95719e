/** Keeps an attempt for the journal, which builds its entry when it is first read. */

import type { HeaderLines } from '../../base/runtime/transport.ts'
import type { DeliveryContent } from '../journal/entry.ts'
import { type DeliveryOutline, EntrySource } from '../journal/entry-source.ts'
import { sizeOf, sizeOfTexts, sizeOfValues } from '../journal/long-bodies.ts'
import { DELIVERY_ID_CHARS } from '../rules/event-record.ts'
import type { Headers, WebhookRequest } from './request.ts'

export type DeliveryOutcome = Pick<DeliveryContent, 'outcome' | 'status' | 'response' | 'failure'>

/** What was sent where, and what became of it. */
export interface Sent {
  readonly url: string | null
  readonly headers: HeaderLines
  readonly outcome: DeliveryOutcome
}

export const NO_HEADERS: Headers = Object.freeze({})

export const NOT_SENT: Sent = {
  url: null,
  headers: NO_HEADERS,
  outcome: { outcome: 'skipped', status: null, response: null, failure: { code: 'no_url' } },
}

/** What few entries say. */
export type DeliveryMarks = Pick<
  DeliveryContent,
  'triggered' | 'sign' | 'resent' | 'faults' | 'duplicate' | 'retry_in_ms'
>

const NO_MARKS: DeliveryMarks = {}

export class DeliveryRecord extends EntrySource implements DeliveryOutline {
  readonly #request: WebhookRequest
  readonly #sent: Sent
  /** In microseconds: a whole number takes no memory of its own. */
  readonly #duration: number
  readonly #attempt: number
  readonly #marks: DeliveryMarks

  constructor(request: WebhookRequest, sent: Sent, durationMs: number, attempt: number, marks = NO_MARKS) {
    super()
    this.#request = request
    this.#sent = sent
    this.#duration = Math.round(durationMs * 1000)
    this.#attempt = attempt
    this.#marks = marks
  }

  get kind(): 'delivery' {
    return 'delivery'
  }

  get chat_id(): string | undefined {
    return this.#request.chatId
  }

  get outcome(): DeliveryContent['outcome'] {
    return this.#sent.outcome.outcome
  }

  get sign(): DeliveryContent['sign'] {
    return this.#marks.sign
  }

  override get size(): number {
    const { chatId, event, body } = this.#request
    const { url, headers, outcome } = this.#sent
    const values = chatId === undefined ? ENTRY_VALUES : ENTRY_VALUES + 1
    const texts = this.kind.length + (chatId?.length ?? 0) + DELIVERY_ID_CHARS + event.length + body.length
    const further =
      sizeOfTexts(joinedLines(headers)) +
      (outcome === NOT_SENT.outcome ? SIZE_OF_NOT_SENT : sizeOf(outcome)) +
      sizeOf(this.#marks)
    return sizeOfValues(values, texts + (url?.length ?? 0)) + further
  }

  override content(): DeliveryContent {
    const { chatId, deliveryId, event, body } = this.#request
    const { url, headers, outcome } = this.#sent
    return {
      kind: 'delivery',
      ...(chatId === undefined ? {} : { chat_id: chatId }),
      delivery_id: deliveryId,
      event,
      url,
      request: { headers: joinedLines(headers), body },
      duration_ms: this.#duration / 1000,
      ...outcome,
      attempt: this.#attempt,
      ...this.#marks,
    }
  }
}

/** Of `content()`, without chat, outcome and marks. */
const ENTRY_VALUES = 9

const SIZE_OF_NOT_SENT = sizeOf(NOT_SENT.outcome)

/** Joins several lines of one header as most servers do. */
const joinedLines = (headers: HeaderLines): Headers =>
  isOneLine(headers)
    ? headers
    : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))

function isOneLine(headers: HeaderLines): headers is Headers {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}
