/** Requests that are wrong on purpose, each in one way: signature, body, names of headers. Pure. */
import type { SignMode } from '../contract/sign-modes.ts'
import { base64ToHex, hexToBase64 } from '../runtime/base64.ts'
import { type SignatureKnobs, signatureHeaders } from './signature.ts'

/** The signature headers of a mode. `body` is what gets signed; `tampered` is the matter of what is sent instead. */
export function signedAs(
  mode: SignMode,
  key: string,
  body: string,
  url: string,
  knobs: SignatureKnobs,
): Record<string, string> {
  if (mode === 'none') return {}
  const headers = signatureHeaders(mode === 'wrong-key' ? `wrong-${key}` : key, body, url, knobs)
  const name = knobs['webhook.signatureHeader']
  const value = headers[name]
  if (value === undefined) return headers
  if (mode === 'truncated') return { ...headers, [name]: value.slice(0, Math.ceil((value.length * 3) / 4)) }
  return mode === 'hex' ? { ...headers, [name]: recoded(value, knobs['webhook.signature']) } : headers
}

/** The other encoding, while the algorithm header goes on naming the one in force. */
function recoded(value: string, from: SignatureKnobs['webhook.signature']): string {
  return from === 'hex' ? hexToBase64(value) : base64ToHex(value)
}

/** One byte changed, so that the JSON stays JSON but says something else. */
export function tampered(body: string): string {
  return changed(body, isInKey) ?? changed(body, () => false) ?? `${body} `
}

const CHANGEABLE = /[ -~]/
const STRUCTURE = new Set('{}[],:"\\')

/** Looks from the end: the last value is rarely the name of the event. */
function changed(body: string, skip: (body: string, at: number) => boolean): string | null {
  const before = JSON.stringify(JSON.parse(body))
  for (let at = body.length - 1; at >= 0; at--) {
    const char = body[at]!
    if (!CHANGEABLE.test(char) || STRUCTURE.has(char) || skip(body, at)) continue
    const other = body.slice(0, at) + flipped(char) + body.slice(at + 1)
    if (isOther(other, before)) return other
  }
  return null
}

const flipped = (char: string) => String.fromCharCode(char.charCodeAt(0) ^ (/[A-Za-z]/.test(char) ? 0x20 : 1))

/** White space and the case of an escape change bytes, but nothing a reader of the JSON could see. */
function isOther(text: string, before: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) !== before
  } catch {
    return false
  }
}

const isInKey = (body: string, at: number): boolean => /^[^"\\]*"\s*:/.test(body.slice(at, at + LONGEST_KEY))
const LONGEST_KEY = 200

/** The first half: what is left is no JSON. A character is never cut in two. */
export function cutShort(body: string): string {
  const half = body.slice(0, Math.floor(body.length / 2))
  return /[\ud800-\udbff]$/.test(half) ? half.slice(0, -1) : half
}

/** `Content-TYPE`, `KINDLY-HMAC`: legal, because names of headers have no case. */
export function inOddCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [oddly(name), value]))
}

function oddly(name: string): string {
  if (name !== name.toLowerCase()) return name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase()
  const parts = name.split('-')
  return parts.map((part, at) => (at < parts.length - 1 ? capitalized(part) : part.toUpperCase())).join('-')
}

const capitalized = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)
