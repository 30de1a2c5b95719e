/** Makes wrong signatures of a body, each of which only a receiver with one mistake accepts: the accepted one shows the mistake. */

import type { HeaderLines } from '../../base/runtime/transport.ts'
import { type Bytes, computeHmac, importKey, toBase64, toHex, utf8 } from '../signature/hmac.ts'
import { FIX_TEXTS, type MistakeId, sentBody, wrongBodies, wrongHashes, wrongKeys } from '../signature/mistakes.ts'

/**
 * `header-name`: it reads the names of headers in one letter case only. `other-header`: it reads a header of another name.
 * `compact-ascii`: it verifies another text than the raw body.
 */
export type ProbeCode = MistakeId | 'compact-ascii' | 'header-name' | 'other-header'

/** Where receivers look for signatures by mistake: as other senders of webhooks name the header, and as the name is misremembered. */
export const OTHER_HEADERS = [
  'X-Kindly-HMAC',
  'Kindly-Signature',
  'X-Kindly-Signature',
  'X-Hub-Signature-256',
  'X-Signature',
  'X-Webhook-Signature',
  'X-HMAC',
  'Signature',
] as const

/** Moves the signature to a header of another name. */
export function withOtherHeader(signed: HeaderLines, name: string, otherName: string): HeaderLines {
  const { [name]: signature = '', ...rest } = signed
  return { ...rest, [otherName]: signature }
}

/** A wrong signature of a right body. */
export interface WrongSignature {
  readonly code: ProbeCode
  /** Empty, or says more about the mistake: `with a newline at the end`. */
  readonly detail: string
  readonly signature: string
}

/** How many signatures of each mistake are made at most. */
export type ProbeCounts = { readonly [Id in MistakeId]?: number }

/** Completes "Your service ...". */
const PROBE_TEXTS: { readonly [Code in ProbeCode]?: string } = {
  right: 'verifies as the platform signs, but knobs of this simulator sign in another way',
  hex: 'compares the signature as hexadecimal instead of base64',
  prefix: 'expects text in front of the signature',
  doubled: 'encodes the signature twice',
  unpadded: 'expects the signature without the = at its end',
  'other-key': 'verifies with another key',
  'key-whitespace': 'verifies with a key that has white space at its start or end',
  'key-prefix': 'verifies with a key that begins with Bearer',
  'key-encoding': 'encodes or decodes the key before it verifies',
  'key-unset': 'verifies without a key',
  'other-algorithm': 'verifies with another algorithm',
  'plain-hash': 'verifies a plain hash instead of an HMAC',
  swapped: 'swaps key and body when it verifies',
  'restringified-json': 'verifies JSON that it has parsed and written again',
  'empty-body': 'verifies an empty body',
  'stringified-object': 'verifies a parsed body that was converted to text',
  newline: 'adds or removes white space at the ends of the body before it verifies',
  latin1: 'reads the body as Latin-1 before it verifies',
  ascii: 'reads the body as ASCII before it verifies',
  'compact-ascii': 'verifies another text than the raw body: it accepts only compact JSON in ASCII',
  'other-header': 'reads the signature from another header than Kindly-HMAC',
  'header-name': 'finds the signature only when the names of the headers are in lower case',
}

/** `verifies JSON that it has parsed and written again (with spaces)`, after the name of the receiver. */
export function probeText({ code, detail }: Pick<WrongSignature, 'code' | 'detail'>): string {
  const text = PROBE_TEXTS[code] ?? 'verifies the signature in another way'
  return detail === '' ? text : `${text} (${detail})`
}

/** How to fix the mistake that an accepted probe shows. */
export function probeFix(code: ProbeCode): string {
  if (code === 'right')
    return 'Remove the knobs webhook.signature, webhook.algorithm and webhook.signedContent from the settings.'
  if (code === 'compact-ascii') return FIX_TEXTS['restringified-json']
  return FIX_TEXTS[code === 'header-name' || code === 'other-header' ? 'missing-header' : code]
}

/** The base64 HMAC-SHA256 of content, as the platform signs. */
export async function computeSignature(key: string | Bytes, content: string | Bytes): Promise<string> {
  return toBase64(await computeHmac(await importKey(key), typeof content === 'string' ? utf8(content) : content))
}

/** Each signature once, and none that is right. `otherKeys`: by names that messages can show. */
export async function wrongSignatures(
  body: string,
  key: string,
  otherKeys: Readonly<Record<string, string>>,
  counts: ProbeCounts,
): Promise<WrongSignature[]> {
  const right = await computeSignature(key, body)
  const hex = toHex(Uint8Array.from(atob(right), char => char.charCodeAt(0)))
  const forms: Record<string, WrongSignature> = {
    hex: { code: 'hex', detail: '', signature: hex },
    prefix: { code: 'prefix', detail: 'sha256= and hexadecimal', signature: `sha256=${hex}` },
    doubled: { code: 'doubled', detail: 'base64 of the hexadecimal text', signature: btoa(hex) },
    unpadded: { code: 'unpadded', detail: '', signature: right.replace(/=+$/, '') },
  }
  const wrongSignatures = new Map<string, WrongSignature>()
  const left: Record<string, number> = { ...counts }
  const add = (wrong: WrongSignature) => {
    const count = left[wrong.code] ?? 0
    if (count === 0 || wrong.signature === right || wrongSignatures.has(wrong.signature)) return
    left[wrong.code] = count - 1
    wrongSignatures.set(wrong.signature, wrong)
  }
  for (const form of Object.values(forms)) add(form)
  const bytes = utf8(body)
  for (const { id, detail, value } of wrongKeys(key, otherKeys))
    if (left[id]) add({ code: id, detail, signature: await computeSignature(value, bytes) })
  for (const { id, detail, value: hash } of wrongHashes())
    if (left[id]) add({ code: id, detail, signature: toBase64(await hash(key, bytes)) })
  for (const { id, detail, value } of wrongBodies(sentBody(bytes, null)))
    if (left[id]) add({ code: id, detail, signature: await computeSignature(key, value) })
  return [...wrongSignatures.values()]
}
