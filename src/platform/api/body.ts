/** Reads the body of a request: its form, its JSON, and its fields by the contract. */

import { decodeUtf8 } from '../../base/runtime/encoding.ts'
import { messageOf } from '../../base/text/error-text.ts'
import type { EndpointId } from '../contract/endpoint-routes.ts'
import type { Knobs } from '../contract/knobs.ts'
import { QUICK_CHECKS } from '../contract/quick-check.ts'
import { REFUSAL_TEXTS, Refusal } from '../rules/refusal.ts'
import { addFinding, assumed, type Transaction } from '../rules/transaction.ts'
import type { ApiRequest } from './messages.ts'
import { schemaChecks } from './schema-checks.deferred.ts'

export interface ParsedBody {
  readonly body: unknown
  /** About how many values the text has; none for a short text. */
  readonly valueCount: number
}

/** Parses JSON; throws a refusal for a body that is too large, not UTF-8, or not JSON. */
export function parseJson(request: ApiRequest, knobs: Knobs): ParsedBody {
  if (request.tooLarge || request.body.length > knobs['limits.body']) throw tooLarge(knobs)
  if (request.body.length === 0) throw badJson(REFUSAL_TEXTS.bodyEmpty)
  const text = decode(request.body)
  const valueCount = countValues(text, MAX_DEPTH)
  if (valueCount === null) {
    throw new Refusal('invalid_json', REFUSAL_TEXTS.bodyTooDeep(MAX_DEPTH), { assumed: ['limits.nesting'] })
  }
  try {
    return { body: JSON.parse(text), valueCount }
  } catch (error) {
    throw badJson(REFUSAL_TEXTS.bodyNotJson(messageOf(error)))
  }
}

function decode(body: Uint8Array): string {
  try {
    return decodeUtf8(body)
  } catch {
    throw badJson(REFUSAL_TEXTS.bodyNotJson('it is not UTF-8'))
  }
}

/** Deeper values can be parsed, but writing them again would exceed the stack. */
const MAX_DEPTH = 200

/** About how many values a JSON text has, 0 for a short one; null when it nests deeper than `levels`. */
function countValues(text: string, levels: number): number | null {
  if (text.length <= 2 * levels) return 0
  let depth = 0
  let count = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 34) at = endOfString(text, at)
    else if (code === 44) count++
    else if (code === 91 || code === 123) {
      count++
      if (++depth > levels) return null
    } else if (code === 93 || code === 125) depth--
  }
  return count
}

/** The index of the quote that ends a JSON string; the length of the text when none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end
    while (text.charCodeAt(first - 1) === 92) first--
    if ((end - first) % 2 === 0) return end
  }
  return text.length
}

const badJson = (message: string) => new Refusal('invalid_json', message)
const tooLarge = (knobs: Knobs) =>
  new Refusal('payload_too_large', REFUSAL_TEXTS.bodyTooLarge(knobs['limits.body']), { assumed: ['limits.body'] })

/** A byte order mark and a Content-Encoding are findings; the body is parsed as it is. */
export function checkBodyForm({ body, headers }: ApiRequest, transaction: Transaction): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    assumed(transaction, 'api.contentEncoding')
    addFinding(transaction, 'E0.2', REFUSAL_TEXTS.contentEncoding(encoding))
  }
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    assumed(transaction, 'api.byteOrderMark')
    addFinding(transaction, 'E0.2', REFUSAL_TEXTS.bodyMarked)
  }
}

/** A missing or different Content-Type with a JSON body is a finding, a refusal with `api.contentType=415`. */
export function checkContentType(request: ApiRequest, knobs: Knobs, transaction: Transaction): void {
  const type = request.headers['content-type']
  if (type !== undefined && (type === 'application/json' || /^application\/json\s*(;|$)/i.test(type))) return
  assumed(transaction, 'api.contentType')
  const message = REFUSAL_TEXTS.contentType(type)
  if (knobs['api.contentType'] === '415')
    throw new Refusal('unsupported_media_type', message, { field: 'Content-Type' })
  addFinding(transaction, 'E0.2', message)
}

/** Throws a refusal for a body that breaks the contract. */
export function parseBody(
  id: EndpointId,
  parsed: ParsedBody & { readonly transaction: Transaction },
  knobs: Knobs,
): unknown {
  return QUICK_CHECKS[id].body(parsed.body) ? parsed.body : schemaChecks().parseBySchema(id, parsed, knobs)
}
