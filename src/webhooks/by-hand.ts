/** Events sent by a person or a script instead of the platform: made up, or sent before. Once, at once, past the lanes. */
import type { SignMode } from '../contract/sign-modes.ts'
import type { DeliveryContent, EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { makeId } from '../runtime/ids.ts'
import { attemptOnce, nextAttempt, type Parcel, type SendPorts } from './attempt.ts'
import { encodePayload } from './encode.ts'
import { type HeaderPorts, headersFor } from './headers.ts'
import { tampered } from './spoil.ts'

type Delivery = EntryOf<'delivery'>

export interface Triggered {
  readonly chatId: string | undefined
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly sign: SignMode
}

/** Both resolve after the answer, with its entry; with null when a reset came first. */
export interface ByHand {
  trigger(what: Triggered): Promise<Delivery | null>
  /** The same bytes and headers; with `resign` the headers of today. */
  resend(past: Delivery, resign: boolean): Promise<Delivery | null>
  reset(): void
}

export interface ByHandPorts extends SendPorts, HeaderPorts {
  readonly journal: Journal
  readonly seed: number
  /** Aborts with the next reset. */
  signal(): AbortSignal
}

type Marks = Pick<DeliveryContent, 'triggered' | 'sign' | 'resent'>

export function createByHand(ports: ByHandPorts): ByHand {
  let count = 0

  async function deliver(parcel: Parcel, marks: Marks, cause: number): Promise<Delivery | null> {
    let entry: Delivery | null = null
    await attemptOnce(ports, parcel, ports.signal(), content => {
      const attempt = nextAttempt(ports.journal, parcel.deliveryId)
      entry = ports.journal.append({ ...content, attempt, ...marks }, cause) as Delivery
    })
    return entry
  }

  return {
    trigger({ chatId, event, payload, sign }) {
      // Numbered apart from the chat: nothing in it may shift.
      const deliveryId = makeId('uuid', ports.seed, `trigger ${++count}`)
      const of = chatId === undefined ? {} : { chat_id: chatId }
      const note = { kind: 'note', ...of, note: 'event_triggered', event, delivery_id: deliveryId, sign } as const
      const { seq } = ports.journal.append(note, null)
      const signed = { chatId, deliveryId, sign, body: encodePayload(payload, ports.knobs()['webhook.json']) }
      const body = sign === 'tampered' ? tampered(signed.body) : signed.body
      const headers = (url: string) => headersFor(ports, signed, url)
      return deliver({ chatId, deliveryId, event, body, headers }, { triggered: true, sign }, seq)
    },
    resend(past, resign) {
      const sign = resign ? 'valid' : (past.sign ?? 'valid')
      const marks = past.triggered ? ({ triggered: true, sign, resent: true } as const) : ({ resent: true } as const)
      return deliver(parcelOf(ports, past, resign, sign), marks, past.seq)
    },
    reset() {
      count = 0
    },
  }
}

/** What was never sent, for want of an address, has no headers yet. */
function parcelOf(ports: ByHandPorts, past: Delivery, resign: boolean, sign: SignMode): Parcel {
  const { chat_id: chatId, delivery_id: deliveryId, event, request } = past
  const signed = { chatId, deliveryId, sign, body: sign === 'tampered' ? tampered(request.body) : request.body }
  const headers = resign || !wasSent(past) ? (url: string) => headersFor(ports, signed, url) : () => request.headers
  return { chatId, deliveryId, event, body: request.body, headers }
}

const wasSent = ({ request }: Delivery) => Object.keys(request.headers).length > 0

/** Of several attempts the latest that left the house. */
export function findDelivery(journal: Journal, id: string): Delivery | undefined {
  const attempts = (journal.query({ kind: 'delivery' }) as Delivery[]).filter(entry => entry.delivery_id === id)
  return attempts.findLast(wasSent) ?? attempts.at(-1)
}
