/** Builds webhook requests that are wrong on purpose: in the signature, the body or the names of the headers. */

import { base64ToHex, hexToBase64 } from '../../base/runtime/encoding.ts'
import type { HeaderLines } from '../../base/runtime/transport.ts'
import type { SignMode } from '../contract/event-names.ts'
import type { Form } from '../faults/effects.ts'
import {
  type EncodedEvent,
  type Headers,
  type RequestPorts,
  requestHeaders,
  type SignatureKnobs,
  signingHeaders,
  validRequest,
  type WebhookRequest,
  withParts,
} from './request.ts'

/** The signature covers the body of `encoded`, also when another body is sent. */
export function faultyRequest(ports: RequestPorts, encoded: EncodedEvent, form: Form): WebhookRequest {
  const valid = validRequest(ports, encoded)
  const body = form.sign === 'tampered' ? tamperedBody(encoded.body) : encoded.body
  const headers = (url: string) => faultyHeaders(ports, encoded, form.sign, url)
  return withWireFaults(withParts(valid, { body, headers }), form)
}

export function faultyHeaders(ports: RequestPorts, encoded: EncodedEvent, mode: SignMode, url: string): Headers {
  const { chatId, body } = encoded
  const signature = faultySignature(mode, ports.signingKey(chatId), body, url, ports.knobs())
  return requestHeaders(ports, encoded, signature, url)
}

/** Truncates the body and changes how the bytes travel; the signature stays. */
export function withWireFaults(request: WebhookRequest, { truncate, wire }: Form): WebhookRequest {
  return withParts(request, {
    ...(truncate && { body: truncatedBody(request.body) }),
    ...(wire?.headerCase && { headers: (url: string) => withUnusualCase(request.headers(url)) }),
    wire,
  })
}

/** The signature headers of a sign mode. With `tampered` they are valid for `body`, and another body is sent. */
export function faultySignature(
  mode: SignMode,
  key: string,
  body: string,
  url: string,
  knobs: SignatureKnobs,
): Headers {
  if (mode === 'none') return {}
  const headers = signingHeaders(mode === 'wrong-key' ? `wrong-${key}` : key, body, url, knobs)
  const name = knobs['webhook.signatureHeader']
  const value = headers[name]
  if (value === undefined) return headers
  if (mode === 'truncated') return { ...headers, [name]: value.slice(0, Math.ceil((value.length * 3) / 4)) }
  return mode === 'hex' ? { ...headers, [name]: recoded(value, knobs['webhook.signature']) } : headers
}

/** The other encoding; the algorithm header still names the configured one. */
function recoded(value: string, from: SignatureKnobs['webhook.signature']): string {
  return from === 'hex' ? hexToBase64(value) : base64ToHex(value)
}

/** Changes one byte, so that the JSON stays valid and its value differs. */
export function tamperedBody(body: string): string {
  return changed(body, isInKey) ?? changed(body, () => false) ?? `${body} `
}

const CHANGEABLE = /[ -~]/
const STRUCTURE = new Set('{}[],:"\\')

/** Searches from the end, because the last value is rarely the name of the event. */
function changed(body: string, skip: (body: string, at: number) => boolean): string | null {
  const before = compactJson(body)
  for (let at = body.length - 1; at >= 0; at--) {
    const char = body.charAt(at)
    if (!CHANGEABLE.test(char) || STRUCTURE.has(char) || skip(body, at)) continue
    const changedBody =
      body.slice(0, at) +
      String.fromCharCode(char.charCodeAt(0) ^ (/[A-Za-z]/.test(char) ? 0x20 : 1)) +
      body.slice(at + 1)
    if (isOtherValue(changedBody, before)) return changedBody
  }
  return null
}

/** White space and the case of an escape change bytes, but not the value. A body that was cut short has no value. */
const isOtherValue = (text: string, before: string | null): boolean =>
  before === null || ![null, before].includes(compactJson(text))

/** The JSON value as compact text; null for text that is not JSON. */
function compactJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return null
  }
}

const isInKey = (body: string, at: number): boolean => /^[^"\\]*"\s*:/.test(body.slice(at, at + MAX_KEY_CHARS))
const MAX_KEY_CHARS = 200

/** The first half, which is not valid JSON. A surrogate pair is not cut in two. */
function truncatedBody(body: string): string {
  const half = body.slice(0, Math.floor(body.length / 2))
  return /[\ud800-\udbff]$/.test(half) ? half.slice(0, -1) : half
}

/** `Content-TYPE`, `KINDLY-HMAC`: valid, because header names are case-insensitive. */
function withUnusualCase(headers: HeaderLines): HeaderLines {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [unusualCase(name), value]))
}

function unusualCase(name: string): string {
  if (name !== name.toLowerCase()) return name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase()
  const parts = name.split('-')
  return parts
    .map((part, at) => (at < parts.length - 1 ? part.slice(0, 1).toUpperCase() + part.slice(1) : part.toUpperCase()))
    .join('-')
}
