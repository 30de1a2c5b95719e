/** Describes recorded calls of the intermediary: whether the platform processed them, which of them repeat a failed one, and the body that a step expects. */

import { isMap, withoutUndefined } from '../../base/objects.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'

export type ApiEntry = EntryOf<'api'>
/** A call of an endpoint that the platform accepted, or that a fault answered. */
export type RecordedCall = ApiEntry & { readonly endpoint: EndpointId }

export const beganMs = ({ at_ms, duration_ms }: ApiEntry): number => at_ms - duration_ms

/** Whether a step can expect it: the platform refuses other calls, which fails a scenario. */
export const isExpectable = (call: ApiEntry): call is RecordedCall =>
  call.endpoint !== null && call.auth === 'valid' && (call.status < 400 || wasFaulty(call))

const wasFaulty = ({ faults, answer_lost }: ApiEntry): boolean => faults !== undefined || answer_lost !== undefined

/** A fault let it fail, so the intermediary may try again. */
export const hasFailed = (call: ApiEntry): boolean =>
  wasFaulty(call) && (call.answer_lost !== undefined || call.status >= 400 || call.status === 0)

/** The same call, as far as the intermediary decides. */
export const isSameCall = (one: ApiEntry, other: ApiEntry): boolean =>
  one.endpoint === other.endpoint &&
  one.chat_id === other.chat_id &&
  JSON.stringify(one.request.body) === JSON.stringify(other.request.body)

/** `POST /api/v2/handover/start` */
export const describeCall = ({ method, path, status, chat_id }: ApiEntry): string =>
  `${method} ${chat_id === undefined ? path : path.replace(chat_id, ':id')} (${status})`

export const isCut = ({ request }: ApiEntry): boolean => request.truncated_from !== undefined

type Fields = Readonly<Record<string, unknown>>

export interface ExpectedBody {
  /** Without ids and links; null for any body. */
  readonly body: Fields | null
  /** Whether buttons are left out, because their fields would be read as matchers. */
  readonly lostButtons: boolean
}

/** What a developer would expect of this call. `agent`: the name under which the agent entered the chat. */
export function expectedBody(call: RecordedCall, agent: string | null): ExpectedBody {
  const { body } = call.request
  if (!isMap(body) || isCut(call)) return { body: null, lostButtons: false }
  const { buttons, ...others } = fieldsOf(call.endpoint, body, agent)
  const lostButtons = hasMatcherKey(buttons)
  const fields: Fields = withoutUndefined(lostButtons ? others : { ...others, buttons })
  return { body: Object.keys(fields).length === 0 ? null : escapePlaceholders(fields), lostButtons }
}

function fieldsOf(endpoint: EndpointId, body: Fields, agent: string | null): Fields {
  const { sender, message, buttons, supports_attachment, availability, reason } = body
  const name = senderName(sender)
  switch (endpoint) {
    case 'start':
      return { sender: senderOf(sender), supports_attachment }
    case 'message':
      return {
        message,
        sender: name === null || name === agent ? undefined : { name },
        buttons: Array.isArray(buttons) && buttons.length > 0 ? buttons : undefined,
      }
    case 'availability':
      return { availability, reason }
    default:
      return {}
  }
}

export const senderName = (sender: unknown): string | null =>
  isMap(sender) && typeof sender.name === 'string' ? sender.name : null

/** Without the avatar, whose address often differs between environments. */
function senderOf(sender: unknown): Fields | undefined {
  if (!isMap(sender)) return undefined
  const { name, language_codes } = sender
  const known = withoutUndefined({ name, language_codes })
  return Object.keys(known).length === 0 ? undefined : known
}

function hasMatcherKey(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMatcherKey)
  return isMap(value) && Object.entries(value).some(([key, inner]) => key.startsWith('$') || hasMatcherKey(inner))
}
