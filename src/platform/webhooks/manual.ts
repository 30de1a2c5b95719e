/** Sends events that a person or a script asked for, past the queues and all faults: new ones, or past deliveries again. */

import type { Schedule } from '../../base/runtime/clock.ts'
import { makeId } from '../../base/runtime/random.ts'
import type { HeaderLines } from '../../base/runtime/transport.ts'
import type { SignMode } from '../contract/event-names.ts'
import { type Copies, copiesOf, delayOf, type Form, formOf } from '../faults/effects.ts'
import type { SendingSpec } from '../faults/schema.ts'
import type { DeliveryContent, EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { MASK } from '../journal/mask.ts'
import { faultyHeaders, faultyRequest, tamperedBody, withWireFaults } from './faulty-request.ts'
import {
  deliveryEntry,
  type EncodedEvent,
  encodePayload,
  nextAttempt,
  type RequestPorts,
  type SendPorts,
  sendRequest,
  validRequest,
  type WebhookRequest,
  withParts,
} from './request.ts'

type Delivery = EntryOf<'delivery'>

export interface Triggered {
  readonly chatId: string | undefined
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly sign: SignMode
  /** Faults of the request. */
  readonly sending?: SendingSpec
  readonly alteration?: Alteration
  /** Set for the events that a diagnosis sends. */
  readonly probe?: NonNullable<DeliveryContent['probe']>
}

/** What a request has in place of the usual. */
export interface Alteration {
  /** Default: POST. */
  readonly method?: string
  /** Text in place of the payload; it is signed. */
  readonly body?: string
  /** Changes the headers after signing. */
  headers?(signed: HeaderLines): HeaderLines
}

/** Both methods resolve after all copies have ended, with the entry of the first; with null after a reset. */
export interface ManualEvents {
  trigger(what: Triggered): Promise<Delivery | null>
  /** Sends the same bytes and headers; with `resign`, headers that are signed now. */
  resend(past: Delivery, resign: boolean, sending?: SendingSpec): Promise<Delivery | null>
  /** How many events were triggered. Their ids are made of this number. */
  count(): number
  reset(count?: number): void
}

export interface ManualPorts extends SendPorts, RequestPorts {
  seed(): number
  readonly schedule: Schedule
  /** Aborts with the next reset. */
  signal(): AbortSignal
}

type Marks = Pick<DeliveryContent, 'triggered' | 'sign' | 'resent' | 'probe' | 'duplicate'>

/** A request, and what its journal entries say beside its outcome. */
interface ManualDelivery {
  readonly request: WebhookRequest
  readonly marks: Marks
  /** `seq` of the entry that caused it. */
  readonly cause: number
}

export function createManualEvents(ports: ManualPorts): ManualEvents {
  let count = 0
  return {
    trigger({ chatId, event, payload, sign, sending = {}, alteration = {}, probe }) {
      // A number of its own keeps the ids of the chat as they are without manual events.
      const deliveryId = makeId('uuid', ports.seed(), `trigger ${++count}`)
      const chat = chatId === undefined ? {} : { chat_id: chatId }
      const note = { kind: 'note', ...chat, note: 'event_triggered', event, delivery_id: deliveryId, sign } as const
      const { seq } = ports.journal.append(probe === undefined ? note : { ...note, probe: probe.code }, null)
      const body = alteration.body ?? encodePayload(payload, ports.knobs()['webhook.json'])
      const request = altered(
        buildRequest(ports, { chatId, deliveryId, event, body }, formOf(sending, sign)),
        alteration,
      )
      return deliver(ports, { request, marks: { triggered: true, sign, ...(probe && { probe }) }, cause: seq }, sending)
    },
    resend(past, resign, sending = {}) {
      const sign = resign ? 'valid' : (past.sign ?? 'valid')
      const marks: Marks = {
        ...(past.triggered ? { triggered: true } : {}),
        ...(past.sign === undefined ? {} : { sign }),
        resent: true,
      }
      const request = withWireFaults(pastRequest(ports, past, resign, sign), formOf(sending))
      return deliver(ports, { request, marks, cause: past.seq }, sending)
    },
    count: () => count,
    reset(from = 0) {
      count = from
    },
  }
}

function buildRequest(ports: ManualPorts, encoded: EncodedEvent, form: Form): WebhookRequest {
  const isValid = form.sign === 'valid' && !form.truncate && form.wire === null
  return isValid ? validRequest(ports, encoded) : faultyRequest(ports, encoded, form)
}

function altered(request: WebhookRequest, { method, headers }: Alteration): WebhookRequest {
  return withParts(request, {
    ...(method !== undefined && { method }),
    ...(headers !== undefined && { headers: (url: string) => headers(request.headers(url)) }),
  })
}

async function deliver(ports: ManualPorts, delivery: ManualDelivery, sending: SendingSpec): Promise<Delivery | null> {
  const delayMs = delayOf(sending)
  if (delayMs > 0 && !(await wait(ports, delayMs))) return null
  return sendCopies(ports, delivery, copiesOf(sending))
}

/** The first is numbered when it is sent, because its copies may be answered before it. */
async function sendCopies(ports: ManualPorts, delivery: ManualDelivery, { count, gapMs }: Copies) {
  const number = nextAttempt(ports.journal, delivery.request.deliveryId)
  const first = send(ports, delivery, next => (count > 1 ? number : next))
  const marks = { ...delivery.marks, duplicate: true } as const
  const copies = Array.from({ length: count - 1 }, async (_, index) => {
    if (gapMs > 0 && !(await wait(ports, gapMs * (index + 1)))) return
    await send(ports, { ...delivery, marks }, next => Math.max(number + 1, next))
  })
  await Promise.all(copies)
  return first
}

/** Null after a reset. */
async function send(
  ports: ManualPorts,
  { request, marks, cause }: ManualDelivery,
  numbered: (next: number) => number,
): Promise<Delivery | null> {
  let entry: Delivery | null = null
  await sendRequest(ports, request, { signal: ports.signal(), cause }, (sent, durationMs) => {
    const number = numbered(nextAttempt(ports.journal, request.deliveryId))
    entry = ports.journal.append(deliveryEntry(request, sent, durationMs, number, marks), cause)
  })
  return entry
}

/** False after a reset. */
const wait = (ports: ManualPorts, ms: number): Promise<boolean> =>
  new Promise(resolve => {
    ports.signal().addEventListener('abort', () => resolve(false), { once: true })
    ports.schedule.after(ms, () => resolve(true))
  })

/** Signs again what was never sent, and what comes from a snapshot without signatures. */
function pastRequest(ports: ManualPorts, past: Delivery, resign: boolean, sign: SignMode): WebhookRequest {
  const { chat_id: chatId, delivery_id: deliveryId, event, request } = past
  const sent = { chatId, deliveryId, event, body: request.body }
  if (!resign && wasSent(past)) return { ...sent, headers: () => request.headers, wire: null }
  // Tampering twice gives the body that was signed.
  const signed = sign === 'tampered' ? { ...sent, body: tamperedBody(sent.body) } : sent
  return { ...sent, headers: url => faultyHeaders(ports, signed, sign, url), wire: null }
}

const wasSent = ({ request }: Delivery) => {
  const values = Object.values(request.headers)
  return values.length > 0 && !values.includes(MASK)
}

/** Of several attempts the latest that was sent. */
export function findPastDelivery(journal: Journal, id: string): Delivery | undefined {
  const attempts = journal.query({ kind: 'delivery' }).filter(entry => entry.delivery_id === id)
  return attempts.findLast(wasSent) ?? attempts.at(-1)
}
