/** Builds the bodies and signatures that a check sends, and sends them with other headers. */

import type { HeaderLines } from '../../base/runtime/transport.ts'
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

/** Replaces the value of one header; null removes it. */
export function withHeader(headers: HeaderLines, name: string, value: string | string[] | null): HeaderLines {
  const otherHeaders = Object.entries(headers).filter(([header]) => header.toLowerCase() !== name.toLowerCase())
  return Object.fromEntries(value === null ? otherHeaders : [...otherHeaders, [name, value]])
}

/** Changes the value of the signature header after signing. */
export function changeSignature(check: CheckContext, change: (signature: string) => string | string[] | null) {
  const name = check.core.platform.knobs['webhook.signatureHeader']
  return (signed: HeaderLines): HeaderLines => withHeader(signed, name, change(String(signed[name] ?? '')))
}
