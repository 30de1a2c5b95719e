/** Draws what steps say about the events they send: the answer of the webhook, and the fields of manual events. */

import { groupBy, isMap } from '../../base/objects.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import { isWebhookEvent } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { tamperedBody } from '../../platform/webhooks/faulty-request.ts'
import type { RecordedChat } from './recording.ts'

type Delivery = EntryOf<'delivery'>

export interface SentEvent {
  /** The status to expect, when it is not what a scenario expects by itself. */
  readonly ack?: number
  /** Whether a fault held it until a later event, so that its step must not wait. */
  readonly async?: true
  /** Whether it was sent, and no answer came. */
  readonly isUnanswered: boolean
}

export class SentEvents {
  readonly #deliveries: ReadonlyMap<string, readonly Delivery[]>
  /** The fault that held an event, by delivery id. */
  readonly #held: ReadonlyMap<string, string>
  readonly #ids = new Map<number, string>()
  /** By delivery id. */
  readonly #causes = new Map<string, number | null>()

  constructor(entries: readonly Entry[]) {
    const deliveries = entries.filter((entry): entry is Delivery => entry.kind === 'delivery')
    this.#deliveries = groupBy(deliveries, ({ delivery_id }) => delivery_id)
    const holds = entries.filter(
      (entry): entry is EntryOf<'fault'> =>
        entry.kind === 'fault' && (entry.effect.hold !== undefined || entry.effect.swap !== undefined),
    )
    this.#held = new Map(holds.map(({ delivery_id, fault }) => [String(delivery_id), fault]))
    for (const entry of entries) {
      if (entry.kind !== 'event') continue
      this.#ids.set(entry.cause ?? 0, entry.delivery_id)
      if (!this.#causes.has(entry.delivery_id)) this.#causes.set(entry.delivery_id, entry.cause)
    }
  }

  /** The seq of the entry that caused an event; null when it is unknown. */
  causeOf(id: string): number | null {
    return this.#causes.get(id) ?? null
  }

  /** The event that the user's action with this seq caused. */
  causedBy(seq: number): SentEvent {
    const id = this.#ids.get(seq)
    return id === undefined ? { isUnanswered: false } : this.withId(id)
  }

  withId(id: string): SentEvent {
    const attempts = this.attemptsOf(id)
    const last = attempts.at(-1)
    return {
      ...(last === undefined ? { isUnanswered: false } : sentAs(last)),
      ...(this.#held.has(id) ? { async: true } : {}),
    }
  }

  /** The faults that still hold an event. */
  holding(): string[] {
    return [...this.#held].flatMap(([id, fault]) => (this.#deliveries.has(id) ? [] : [fault]))
  }

  /** Without copies, and without sending it again. */
  attemptsOf(id: string): readonly Delivery[] {
    return (this.#deliveries.get(id) ?? []).filter(({ duplicate, resent }) => !duplicate && !resent)
  }

  /** Whether it was sent in several copies, or not in the usual way. */
  isUnusual(id: string): boolean {
    const all = this.#deliveries.get(id) ?? []
    return all.some(({ duplicate, faults }) => duplicate === true || faults !== undefined)
  }
}

/** What a step expects of this attempt. */
export function sentAs({ status, outcome, event }: Delivery): SentEvent {
  if (status === null) return { isUnanswered: outcome !== 'skipped' }
  const demands200 = isWebhookEvent(event) && WEBHOOK_EVENTS[event].demands200
  const isUsual = status === 200 || (!demands200 && status >= 200 && status < 300)
  return { isUnanswered: false, ...(isUsual ? {} : { ack: status }) }
}

/** The fields that the platform sets itself. */
const USUAL: readonly string[] = ['event', 'bot', 'chat', 'user', 'attachments', 'chat_id']

/** The fields of a manual event that differ from the usual ones; undefined when there is none. */
export function fieldsOfManual(
  delivery: Delivery,
  chat: RecordedChat | undefined,
): Record<string, unknown> | undefined {
  // Tampering twice gives the body that was asked for.
  const { body } = delivery.request
  const payload = parsed(delivery.sign === 'tampered' ? tamperedBody(body) : body)
  const isKnown = isWebhookEvent(delivery.event)
  const own = Object.entries(payload).filter(([name]) => name !== 'event' && !(isKnown && USUAL.includes(name)))
  return own.length === 0 ? undefined : Object.fromEntries(own.map(([name, value]) => [name, withoutIds(value, chat)]))
}

function parsed(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    return isMap(value) ? value : {}
  } catch {
    return {}
  }
}

/** Replaces ids of the recorded chat by the variables of a scenario. */
function withoutIds(value: unknown, chat: RecordedChat | undefined): unknown {
  if (Array.isArray(value)) return value.map(item => withoutIds(item, chat))
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutIds(inner, chat)]))
  if (chat !== undefined && value === chat.id) return '$(chat.id)'
  if (chat !== undefined && value === chat.userId) return '$(chat.user_id)'
  return chat !== undefined && value === chat.botId ? '$(bot.id)' : escapePlaceholders(value)
}
