/** Builds valid webhook requests: the JSON body, the headers, and the signature of exactly these bytes. */

import { type HashName, hmac } from '../../base/runtime/node.ts'
import type { HeaderLines, WireFaults } from '../../base/runtime/transport.ts'
import type { Knobs } from '../contract/knobs.ts'

export interface RequestPorts {
  readonly userAgent: string
  knobs(): Knobs
  /** The key that signs events of this chat; without a chat, the key of the first bot. */
  signingKey(chatId: string | undefined): string
}

/** One event as text. */
export interface EncodedEvent {
  readonly chatId: string | undefined
  readonly deliveryId: string
  readonly event: string
  readonly body: string
}

export type Headers = Readonly<Record<string, string>>

export interface WebhookRequest extends EncodedEvent {
  /** Default: POST. */
  readonly method?: string
  /** The signature may cover the URL. */
  headers(url: string): HeaderLines
  /** How the bytes travel when a fault changes it; null for every valid request. */
  readonly wire: WireFaults | null
}

/** Signs when the headers are read. */
export const validRequest = (ports: RequestPorts, encoded: EncodedEvent): WebhookRequest => ({
  chatId: encoded.chatId,
  deliveryId: encoded.deliveryId,
  event: encoded.event,
  body: encoded.body,
  wire: null,
  headers(url) {
    const signature = signingHeaders(ports.signingKey(encoded.chatId), encoded.body, url, ports.knobs())
    return requestHeaders(ports, encoded, signature)
  },
})

/** The same request with other parts. */
export const withParts = (
  request: WebhookRequest,
  parts: Partial<Pick<WebhookRequest, 'method' | 'body' | 'headers' | 'wire'>>,
): WebhookRequest => ({
  chatId: request.chatId,
  deliveryId: request.deliveryId,
  event: request.event,
  body: request.body,
  headers: url => request.headers(url),
  wire: request.wire,
  ...(request.method !== undefined && { method: request.method }),
  ...parts,
})

export function requestHeaders(ports: RequestPorts, of: Pick<EncodedEvent, 'deliveryId'>, signature: Headers): Headers {
  const idHeader = ports.knobs()['webhook.idHeader']
  const headers = { 'content-type': 'application/json', 'user-agent': ports.userAgent, ...signature }
  return idHeader === 'off' ? headers : { ...headers, [idHeader]: of.deliveryId }
}

const ALGORITHM_NAMES: Record<HashName, string> = { sha256: 'HMAC-SHA-256', sha1: 'HMAC-SHA-1', sha512: 'HMAC-SHA-512' }

export type SignatureKnobs = Pick<
  Knobs,
  | 'webhook.signature'
  | 'webhook.signatureHeader'
  | 'webhook.algorithmHeader'
  | 'webhook.algorithm'
  | 'webhook.signedContent'
>

/** The two signature headers (A4) of exactly this body; none when signing is off. */
export function signingHeaders(key: string, body: string, url: string, knobs: SignatureKnobs): Headers {
  const encoding = knobs['webhook.signature']
  if (encoding === 'off') return {}
  const algorithm = knobs['webhook.algorithm']
  const content = knobs['webhook.signedContent'] === 'body' ? body : url + body
  return {
    [knobs['webhook.signatureHeader']]: hmac(algorithm, key, content, encoding),
    [knobs['webhook.algorithmHeader']]: `${ALGORITHM_NAMES[algorithm]} (${encoding} encoded)`,
  }
}

type JsonForm = Knobs['webhook.json']

const unicodeEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** All forms are the same JSON value: they show whether a receiver verifies the raw bytes. */
const JSON_FORMS: Record<JsonForm, (payload: unknown) => string> = {
  compact: payload => JSON.stringify(payload),
  spaced: payload => spaced(payload),
  ascii: payload => JSON.stringify(payload).replace(/[\u0080-\uffff]/g, unicodeEscape),
  slashes: payload => JSON.stringify(payload).replaceAll('/', '\\/'),
  pretty: payload => JSON.stringify(payload, null, 2),
  newline: payload => `${JSON.stringify(payload)}\n`,
  reordered: payload => JSON.stringify(reversed(payload)),
}

/** The payload as JSON text. Each event is encoded once, so that all its attempts send the same bytes. */
export const encodePayload = (payload: unknown, form: JsonForm): string => JSON_FORMS[form](payload)

/** `{"a": 1, "b": [1, 2]}`: how Python and others write JSON. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}: ${spaced(field)}`).join(', ')}}`
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).reverse()
  return Object.fromEntries(fields.map(([key, field]) => [key, reversed(field)]))
}
