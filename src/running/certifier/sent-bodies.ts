/** Builds the bodies and signatures that a check sends, and sends them with other headers. */

import type { HeaderLines } from '../../base/runtime/transport.ts'
import { type Bytes, computeHmac, importKey, toBase64, utf8 } from '../../platform/signature/hmac.ts'
import { encodePayload } from '../../platform/webhooks/request.ts'
import type { CheckChat } from './chat.ts'
import type { CheckContext } from './context.ts'

export const EVENT = 'REQUESTING TAKEOVER'

export type JsonForm = Parameters<typeof encodePayload>[1]

export const algorithmHeaderOf = ({ core }: CheckContext): string => core.platform.knobs['webhook.algorithmHeader']

/** The body of a request for an agent; `changes` replace fields of the payload. */
export function bodyOf(check: CheckContext, chat: CheckChat, changes: object = {}, form?: JsonForm): string {
  return encodePayload({ ...chat.payload(EVENT), ...changes }, form ?? check.core.platform.knobs['webhook.json'])
}

/** The base64 HMAC-SHA256 of content, as the platform signs. */
export async function signatureOf(key: string | Bytes, content: string | Bytes): Promise<string> {
  return toBase64(await computeHmac(await importKey(key), typeof content === 'string' ? utf8(content) : content))
}

/** Replaces the value of one header; null removes it. */
export function withHeader(headers: HeaderLines, name: string, value: string | string[] | null): HeaderLines {
  const others = Object.entries(headers).filter(([other]) => other.toLowerCase() !== name.toLowerCase())
  return Object.fromEntries(value === null ? others : [...others, [name, value]])
}

/** Changes the value of the signature header after signing. */
export function changeSignature(check: CheckContext, change: (signature: string) => string | string[] | null) {
  const name = check.core.platform.knobs['webhook.signatureHeader']
  return (signed: HeaderLines): HeaderLines => withHeader(signed, name, change(String(signed[name] ?? '')))
}
