/** Shortens long bodies in entries, for everything that leaves the simulator. */
import { sha256 } from '../../base/runtime/node.ts'
import type { Redacted } from '../../base/text/redactor.ts'
import type { ApiContent, DeliveryContent, Entry } from './entry.ts'

/** A longer body is shown as its beginning, with the length and the hash of the whole. */
const SHOWN_BODY_BYTES = 65_536

/** Shortens the bodies of an entry that are longer than `limit` bytes. */
export function shortEntry(entry: Redacted<Entry>, limit = SHOWN_BODY_BYTES): Redacted<Entry> {
  if (entry.kind === 'api') return shortCall(entry, limit)
  if (entry.kind !== 'delivery') return entry
  const request = shortText(entry.request, limit)
  const response = entry.response && shortText(entry.response, limit)
  return request === entry.request && response === entry.response ? entry : { ...entry, request, response }
}

function shortCall<Call extends ApiContent>(call: Call, limit: number): Call {
  const { request, response, shown_to_user: shown } = call
  const body = request.bytes > limit ? truncated(request.body, limit) : null
  const shortened = response === null ? null : truncated(response, limit)
  const text = shown?.text === undefined ? null : truncated(shown.text, limit)
  if (body === null && shortened === null && text === null) return call
  return {
    ...call,
    ...(body && { request: { ...request, ...body } }),
    ...(shortened && { response: shortened.body, response_truncated_from: shortened.truncated_from }),
    ...(text && { shown_to_user: { ...shown, text: text.body, truncated_from: text.truncated_from } }),
  }
}

type TextBody = DeliveryContent['request'] | NonNullable<DeliveryContent['response']>

/** No character takes more than three bytes in UTF-8. */
const shortText = <Body extends TextBody>(body: Body, limit: number): Body =>
  body.body.length * 3 > limit ? { ...body, ...truncated(body.body, limit) } : body

/** The beginning of a body, and the length and hash of the whole one; null for a body that is short enough. */
function truncated(value: unknown, limit: number) {
  const whole = new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
  if (whole.length <= limit) return null
  return {
    // A stream leaves out a character that is not complete.
    body: new TextDecoder().decode(whole.subarray(0, limit), { stream: true }),
    truncated_from: { bytes: whole.length, sha256: sha256(whole) },
  }
}
