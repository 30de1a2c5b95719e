/** Keeps a webhook event for the journal and its delivery. Its id and its entry are made when they are first read. */

import { makeIdFrom, type Words } from '../../base/runtime/random.ts'
import type { WebhookEventName } from '../contract/event-names.ts'
import type { WebhookEvent } from '../contract/events.ts'
import type { EventContent } from '../journal/entry.ts'
import { EntrySource, type EventOutline } from '../journal/entry-source.ts'
import { sizeOf, sizeOfValues } from '../journal/long-bodies.ts'
import type { Chat } from './state.ts'

/** Every delivery id is a UUID. */
export const DELIVERY_ID_CHARS = 36

export class EventRecord extends EntrySource implements EventOutline {
  readonly chat_id: string
  readonly payload: WebhookEvent
  /** The id is made of these two. */
  readonly #words: Words
  readonly #number: number
  #deliveryId: string | null = null

  /** `number` is that of its id among the ids of the chat. */
  constructor({ id, words }: Chat, number: number, payload: WebhookEvent) {
    super()
    this.chat_id = id
    this.payload = payload
    this.#words = words
    this.#number = number
  }

  get kind(): 'event' {
    return 'event'
  }

  override get size(): number {
    const { kind, chat_id, event, payload } = this
    const characters = kind.length + chat_id.length + event.length + DELIVERY_ID_CHARS
    return sizeOfValues(ENTRY_VALUES, characters) + sizeOf(payload)
  }

  get event(): WebhookEventName {
    return this.payload.event
  }

  /** An addition of the simulator: control API and journal use it, payloads do not (`webhook.idHeader`). */
  get deliveryId(): string {
    this.#deliveryId ??= makeIdFrom('uuid', this.#words, `delivery ${this.#number}`)
    return this.#deliveryId
  }

  override content(): EventContent {
    const { kind, chat_id, event, deliveryId, payload } = this
    return { kind, chat_id, event, delivery_id: deliveryId, payload }
  }
}

/** Of `content()`. */
const ENTRY_VALUES = 5
