/** Shortens long bodies in entries, for everything that leaves the simulator. */
import { sha256 } from '../runtime/node.ts'
import type { ApiContent, DeliveryContent, Entry } from './entry.ts'
import { bytesOfBody, SHOWN_BODY_BYTES } from './long-bodies.ts'

/** Shortens the bodies of an entry that are longer than 64 KiB. */
export function shortEntry(entry: Entry): Entry {
  if (entry.kind === 'api') return shortCall(entry)
  if (entry.kind !== 'delivery') return entry
  const request = shortText(entry.request)
  const response = entry.response && shortText(entry.response)
  return request === entry.request && response === entry.response ? entry : { ...entry, request, response }
}

function shortCall<Call extends ApiContent>(call: Call): Call {
  const { request, response } = call
  const answer = response === null ? null : truncated(encode(response))
  const changes = {
    ...(request.bytes > SHOWN_BODY_BYTES && { request: shortRequest(request) }),
    ...(answer && { response: answer.body, response_truncated_from: answer.truncated_from }),
  }
  return Object.keys(changes).length === 0 ? call : { ...call, ...changes }
}

/** The bytes of a body from a snapshot are those of its JSON. */
const shortRequest = (request: ApiContent['request']): ApiContent['request'] => ({
  ...request,
  ...truncated(bytesOfBody(request) ?? encode(request.body)),
})

type TextBody = DeliveryContent['request'] | NonNullable<DeliveryContent['response']>

/** No character takes more than three bytes in UTF-8. */
const shortText = <Body extends TextBody>(body: Body): Body =>
  body.body.length * 3 > SHOWN_BODY_BYTES ? { ...body, ...truncated(encode(body.body)) } : body

const encode = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))

/** The beginning of a body, and the length and hash of the whole one; null for a body that is short enough. */
function truncated(whole: Uint8Array) {
  if (whole.length <= SHOWN_BODY_BYTES) return null
  // A stream leaves out a character that is not complete.
  const body = new TextDecoder().decode(whole.subarray(0, SHOWN_BODY_BYTES), { stream: true })
  return { body, truncated_from: { bytes: whole.length, sha256: sha256(whole) } }
}
