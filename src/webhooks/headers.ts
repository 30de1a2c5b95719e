/** The headers of a webhook request. */
import type { Knobs } from '../contract/knobs.ts'
import type { SignMode } from '../contract/sign-modes.ts'
import { signedAs } from './spoil.ts'

export interface HeaderPorts {
  readonly userAgent: string
  knobs(): Knobs
  /** The key that signs events of this chat; without a chat, that of the first bot. */
  signingKey(chatId: string | undefined): string
}

export interface Signed {
  readonly chatId: string | undefined
  readonly deliveryId: string
  /** What the signature is made of; what is sent may differ on purpose. */
  readonly body: string
  readonly sign: SignMode
}

export function headersFor(ports: HeaderPorts, signed: Signed, url: string): Record<string, string> {
  const knobs = ports.knobs()
  const idHeader = knobs['webhook.idHeader']
  return {
    'content-type': 'application/json',
    'user-agent': ports.userAgent,
    ...signedAs(signed.sign, ports.signingKey(signed.chatId), signed.body, url, knobs),
    ...(idHeader === 'off' ? {} : { [idHeader]: signed.deliveryId }),
  }
}
