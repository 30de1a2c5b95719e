/** An event as bytes and headers: as it should be, or spoilt in the ways a fault or a person asked for. */
import type { Form } from '../faults/effects.ts'
import type { Parcel } from './attempt.ts'
import { type HeaderPorts, headersFor, type Signed } from './headers.ts'
import { cutShort, inOddCase, tampered } from './spoil.ts'

type Contents = Omit<Signed, 'sign'> & { readonly event: string }

/** As the platform sends it. */
export function sound(ports: HeaderPorts, { chatId, deliveryId, event, body }: Contents): Parcel {
  const signed = { chatId, deliveryId, body, sign: 'valid' } as const
  return { chatId, deliveryId, event, body, headers: url => headersFor(ports, signed, url), wire: null }
}

/** The signature is made of `contents.body`, whatever becomes of it after. */
export function wrap(ports: HeaderPorts, contents: Contents, form: Form): Parcel {
  const { sign } = form
  const body = sign === 'tampered' ? tampered(contents.body) : contents.body
  const headers = (url: string) => headersFor(ports, { ...contents, sign }, url)
  return rewrapped({ ...contents, body, headers, wire: null }, form)
}

/** The same, with other bytes or another way to travel; how it is signed stays. */
export function rewrapped(parcel: Parcel, { truncate, wire }: Form): Parcel {
  const headers = wire?.headerCase ? (url: string) => inOddCase(parcel.headers(url)) : parcel.headers
  return { ...parcel, body: truncate ? cutShort(parcel.body) : parcel.body, headers, wire }
}
