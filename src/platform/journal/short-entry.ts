/** Shortens long bodies in entries, for everything that leaves the simulator. */
import { sha256 } from '../../base/runtime/node.ts'
import type { BodyPieces } from '../../base/runtime/pieces.ts'
import { concatBytes } from '../signature/hmac.ts'
import type { ApiContent, DeliveryContent, Entry } from './entry.ts'
import { bytesOfBody, SHOWN_BODY_BYTES } from './long-bodies.ts'

/** Shortens the bodies of an entry that are longer than `bytes`, 64 KiB by default. */
export function shortEntry(entry: Entry, bytes = SHOWN_BODY_BYTES): Entry {
  if (entry.kind === 'api') return shortCall(entry, bytes)
  if (entry.kind !== 'delivery') return entry
  const request = shortText(entry.request, bytes)
  const response = entry.response && shortText(entry.response, bytes)
  return request === entry.request && response === entry.response ? entry : { ...entry, request, response }
}

function shortCall<Call extends ApiContent>(call: Call, limit: number): Call {
  const { request, response, shown_to_user: shown } = call
  const answer = shortAnswer(response, limit)
  const text = shown?.text === undefined ? null : truncated(encode(shown.text), limit)
  const changes = {
    ...(request.bytes > limit && { request: shortRequest(request, limit) }),
    ...(answer && { response: answer.body, response_truncated_from: answer.truncated_from }),
    ...(text && { shown_to_user: { ...shown, text: text.body, truncated_from: text.truncated_from } }),
  }
  return Object.keys(changes).length === 0 ? call : { ...call, ...changes }
}

interface ShortForm {
  readonly body: string
  readonly truncated_from: { readonly bytes: number; readonly sha256: string }
}

const shortForms = new WeakMap<object, ShortForm>()

/** Stores how a long answer is shown, for the writer of the answer, which has its bytes and their hash. */
export function rememberShortForm(answer: object, body: BodyPieces, sha256: string): void {
  if (body.length <= SHOWN_BODY_BYTES) return
  const beginning = concatBytes(...firstPieces(body))
  shortForms.set(answer, shortForm(beginning, { bytes: body.length, sha256 }))
}

/** As many pieces as are shown. */
function firstPieces({ pieces }: BodyPieces): Uint8Array[] {
  const first: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    if (length >= SHOWN_BODY_BYTES) break
    first.push(piece)
    length += piece.length
  }
  return first
}

function shortAnswer(response: unknown, limit: number): ShortForm | null {
  if (response === null) return null
  const known = typeof response === 'object' ? shortForms.get(response) : undefined
  if (known === undefined) return truncated(encode(response), limit)
  return limit >= SHOWN_BODY_BYTES ? known : shortForm(encode(known.body), known.truncated_from, limit)
}

/** The bytes of a body from a snapshot are those of its JSON. */
const shortRequest = (request: ApiContent['request'], limit: number): ApiContent['request'] => ({
  ...request,
  ...truncated(bytesOfBody(request) ?? encode(request.body), limit),
})

type TextBody = DeliveryContent['request'] | NonNullable<DeliveryContent['response']>

/** No character takes more than three bytes in UTF-8. */
const shortText = <Body extends TextBody>(body: Body, limit: number): Body =>
  body.body.length * 3 > limit ? { ...body, ...truncated(encode(body.body), limit) } : body

const encode = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))

/** The beginning of a body, and the length and hash of the whole one; null for a body that is short enough. */
function truncated(whole: Uint8Array, limit: number): ShortForm | null {
  if (whole.length <= limit) return null
  return shortForm(whole, { bytes: whole.length, sha256: sha256(whole) }, limit)
}

const shortForm = (
  beginning: Uint8Array,
  truncated_from: ShortForm['truncated_from'],
  limit = SHOWN_BODY_BYTES,
): ShortForm => ({
  // A stream leaves out a character that is not complete.
  body: new TextDecoder().decode(beginning.subarray(0, limit), { stream: true }),
  truncated_from,
})
