/** A webhook payload as text, written once and sent as it is (`webhook.json`). */
import type { Knobs } from '../contract/knobs.ts'

type Form = Knobs['webhook.json']

const unicodeEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Every form is the same JSON value; a receiver that signs or compares anything but the raw bytes will notice. */
const FORMS: Record<Form, (payload: unknown) => string> = {
  compact: payload => JSON.stringify(payload),
  spaced: payload => spaced(payload),
  ascii: payload => JSON.stringify(payload).replace(/[\u0080-\uffff]/g, unicodeEscape),
  slashes: payload => JSON.stringify(payload).replaceAll('/', '\\/'),
  pretty: payload => JSON.stringify(payload, null, 2),
  newline: payload => `${JSON.stringify(payload)}\n`,
  reordered: payload => JSON.stringify(reversed(payload)),
}

export const encodePayload = (payload: unknown, form: Form): string => FORMS[form](payload)

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
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, field]) => [key, reversed(field)]),
  )
}
