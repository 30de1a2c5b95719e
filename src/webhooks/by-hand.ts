/** Events sent by a person or a script instead of the platform: made up, or sent before. Past the lanes and all faults. */
import type { SignMode } from '../contract/sign-modes.ts'
import { copiesOf, delayOf, formOf } from '../faults/effects.ts'
import type { SendingSpec } from '../faults/schema.ts'
import type { DeliveryContent, EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { MASK } from '../journal/mask.ts'
import { makeId } from '../runtime/ids.ts'
import { attemptOnce, nextAttempt, type Parcel, type SendPorts } from './attempt.ts'
import type { Due } from './due.ts'
import { encodePayload } from './encode.ts'
import { type HeaderPorts, headersFor } from './headers.ts'
import { rewrapped, wrap } from './parcel.ts'
import { tampered } from './spoil.ts'

type Delivery = EntryOf<'delivery'>

export interface Triggered {
  readonly chatId: string | undefined
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly sign: SignMode
  /** Unusual in further ways, as a fault could make it. */
  readonly sending?: SendingSpec
}

/** Both resolve after every copy was answered, with the entry of the first; with null when a reset came first. */
export interface ByHand {
  trigger(what: Triggered): Promise<Delivery | null>
  /** The same bytes and headers; with `resign` the headers of today. */
  resend(past: Delivery, resign: boolean, sending?: SendingSpec): Promise<Delivery | null>
  /** How many were made up so far: their ids are numbered. */
  readonly count: number
  reset(count?: number): void
}

export interface ByHandPorts extends SendPorts, HeaderPorts {
  readonly journal: Journal
  seed(): number
  readonly due: Due
  /** Aborts with the next reset. */
  signal(): AbortSignal
}

type Marks = Pick<DeliveryContent, 'triggered' | 'sign' | 'resent' | 'duplicate'>

export function createByHand(ports: ByHandPorts): ByHand {
  let count = 0

  async function deliver(parcel: Parcel, marks: Marks, cause: number, sending: SendingSpec): Promise<Delivery | null> {
    const delayMs = delayOf(sending)
    if (delayMs > 0 && !(await later(delayMs))) return null
    const copies = copiesOf(sending)
    const number = nextAttempt(ports.journal, parcel.deliveryId)
    const first = once(parcel, cause, marks, next => (copies.count > 1 ? number : next))
    const more = Array.from({ length: copies.count - 1 }, async (_, index) => {
      if (copies.gapMs > 0 && !(await later(copies.gapMs * (index + 1)))) return
      await once(parcel, cause, { ...marks, duplicate: true }, next => Math.max(number + 1, next))
    })
    await Promise.all(more)
    return first
  }

  async function once(parcel: Parcel, cause: number, marks: Marks, numbered: (next: number) => number) {
    let entry: Delivery | null = null
    await attemptOnce(ports, parcel, ports.signal(), content => {
      const attempt = numbered(nextAttempt(ports.journal, parcel.deliveryId))
      entry = ports.journal.append({ ...content, attempt, ...marks }, cause) as Delivery
    })
    return entry
  }

  /** False when a reset came first. */
  const later = (ms: number): Promise<boolean> =>
    new Promise(resolve => {
      ports.signal().addEventListener('abort', () => resolve(false), { once: true })
      ports.due.after(ms, () => resolve(true))
    })

  return {
    trigger({ chatId, event, payload, sign, sending = {} }) {
      // Numbered apart from the chat: nothing in it may shift.
      const deliveryId = makeId('uuid', ports.seed(), `trigger ${++count}`)
      const of = chatId === undefined ? {} : { chat_id: chatId }
      const note = { kind: 'note', ...of, note: 'event_triggered', event, delivery_id: deliveryId, sign } as const
      const { seq } = ports.journal.append(note, null)
      const body = encodePayload(payload, ports.knobs()['webhook.json'])
      const parcel = wrap(ports, { chatId, deliveryId, event, body }, formOf(sending, sign))
      return deliver(parcel, { triggered: true, sign }, seq, sending)
    },
    resend(past, resign, sending = {}) {
      const sign = resign ? 'valid' : (past.sign ?? 'valid')
      const spoilt = past.sign === undefined ? {} : { sign }
      const marks = { ...(past.triggered ? { triggered: true as const } : {}), ...spoilt, resent: true } as const
      const parcel = rewrapped(parcelOf(ports, past, resign, sign), formOf(sending))
      return deliver(parcel, marks, past.seq, sending)
    },
    get count() {
      return count
    },
    reset(from = 0) {
      count = from
    },
  }
}

/** What was never sent, for want of an address, has no headers yet; a snapshot without keys has none that count. */
function parcelOf(ports: ByHandPorts, past: Delivery, resign: boolean, sign: SignMode): Parcel {
  const { chat_id: chatId, delivery_id: deliveryId, event, request } = past
  const signed = { chatId, deliveryId, sign, body: sign === 'tampered' ? tampered(request.body) : request.body }
  const headers = resign || !wasSent(past) ? (url: string) => headersFor(ports, signed, url) : () => request.headers
  return { chatId, deliveryId, event, body: request.body, headers, wire: null }
}

const wasSent = ({ request }: Delivery) => {
  const values = Object.values(request.headers)
  return values.length > 0 && !values.includes(MASK)
}

/** Of several attempts the latest that left the house. */
export function findDelivery(journal: Journal, id: string): Delivery | undefined {
  const attempts = (journal.query({ kind: 'delivery' }) as Delivery[]).filter(entry => entry.delivery_id === id)
  return attempts.findLast(wasSent) ?? attempts.at(-1)
}
