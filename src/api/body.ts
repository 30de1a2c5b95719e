/** From the bytes of a request to the value of an endpoint's schema, or the refusal that says what is wrong. */
import type { Endpoint } from '../contract/endpoints.ts'
import type { Knobs } from '../contract/knobs.ts'
import { Refusal } from '../platform/refusal.ts'
import { find, lean, type Tx } from '../platform/tx.ts'
import type { Exchange } from './exchange.ts'
import { droppedFields, explain, show } from './explain.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Throws for bodies that are too large, not UTF-8, or not JSON; the text is kept for the journal. */
export function parseJson(exchange: Exchange, knobs: Knobs): unknown {
  if (exchange.tooLarge || exchange.body.length > knobs['limits.body']) throw tooLarge(knobs)
  if (exchange.body.length === 0) throw badJson('The body is empty; a JSON object is expected.')
  try {
    return JSON.parse(decoder.decode(exchange.body))
  } catch (error) {
    throw badJson(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}

const badJson = (message: string) => new Refusal('invalid_json', message)
const tooLarge = (knobs: Knobs) =>
  new Refusal('payload_too_large', `The body is larger than ${knobs['limits.body']} bytes.`)

/** A missing or different Content-Type with a JSON body is a finding, a refusal only by knob (assumption 43). */
export function checkContentType(exchange: Exchange, knobs: Knobs, tx: Tx): void {
  const type = exchange.headers['content-type']
  if (type !== undefined && (type === 'application/json' || /^application\/json\s*(;|$)/i.test(type))) return
  lean(tx, 43)
  const message = `Content-Type should be application/json, got ${type === undefined ? 'none' : JSON.stringify(type)}.`
  if (knobs['api.contentType'] === '415')
    throw new Refusal('unsupported_media_type', message, { field: 'Content-Type' })
  find(tx, 'E0.2', message)
}

export function parseBody(endpoint: Endpoint, raw: unknown, knobs: Knobs, tx: Tx): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw invalid(knobs, `The body must be a JSON object, got ${show(raw)}.`, null)
  }
  const result = endpoint.body!.safeParse(raw)
  if (!result.success) throw refuse(result.error.issues, raw, knobs)
  checkUnknown(raw, result.data, knobs, tx)
  return result.data
}

type Issues = Parameters<typeof explain>[0]

function refuse(issues: Issues, raw: unknown, knobs: Knobs): Refusal {
  const [first, ...rest] = explain(issues, raw)
  const more = rest.map(problem => ` ${problem.message}`).join('')
  return invalid(knobs, first!.message + more, first!.field || null)
}

function invalid(knobs: Knobs, message: string, field: string | null): Refusal {
  const status = Number(knobs['errors.validation'])
  return new Refusal('invalid_parameter', message, field === null ? { status } : { status, field })
}

/** Assumption 44. */
function checkUnknown(raw: object, parsed: unknown, knobs: Knobs, tx: Tx): void {
  const unknown = droppedFields(raw, parsed)
  if (unknown.length === 0) return
  lean(tx, 44)
  if (knobs['api.unknownFields'] === '400') {
    throw new Refusal('invalid_parameter', `${unknown.join(', ')}: not a known field.`, { field: unknown[0]!, row: 44 })
  }
  for (const field of unknown) find(tx, 'ER1', `${field} is not a known field; it was ignored.`)
}
