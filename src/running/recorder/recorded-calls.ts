/** Describes recorded calls: whether a step can expect them, which of them repeat a failed one, and the body to expect. */
import { isMap, withoutUndefined } from '../../base/objects.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'

type ApiEntry = EntryOf<'api'>
/** A call of an endpoint that the platform accepted, or that a fault answered. */
export type RecordedCall = ApiEntry & { readonly endpoint: EndpointId }

export const beganMs = ({ at_ms, duration_ms }: ApiEntry): number => at_ms - duration_ms

const hadFault = ({ faults, answer_lost }: ApiEntry): boolean => faults !== undefined || answer_lost !== undefined

/** Whether a step can expect it: the platform refuses other calls, which fails a scenario. */
export const isExpectable = (call: ApiEntry): call is RecordedCall =>
  call.endpoint !== null && call.auth === 'valid' && (call.status < 400 || hadFault(call))

/** Whether a fault let it fail, so that the intermediary may try again. */
export const hasFailed = (call: ApiEntry): boolean =>
  hadFault(call) && (call.answer_lost !== undefined || call.status >= 400 || call.status === 0)

/** Whether the intermediary sent the same call twice. */
export const isSameCall = (call: ApiEntry, nextCall: ApiEntry): boolean =>
  call.endpoint === nextCall.endpoint &&
  call.chat_id === nextCall.chat_id &&
  JSON.stringify(call.request.body) === JSON.stringify(nextCall.request.body)

/** `POST /api/v2/handover/start (200)` */
export const describeCall = ({ method, path, status, chat_id }: ApiEntry): string =>
  `${method} ${chat_id === undefined ? path : path.replace(chat_id, ':id')} (${status})`

export const senderName = (sender: unknown): string | null =>
  isMap(sender) && typeof sender.name === 'string' ? sender.name : null

/**
 * The body that a developer would expect, without ids and links; null for any body. `agent`: the name under which the agent
 * entered the chat.
 */
export function expectedBody({ endpoint, request }: RecordedCall, agent: string | null): object | null {
  const { body, truncated_from } = request
  if (!isMap(body) || truncated_from !== undefined) return null
  const { sender, message, buttons, supports_attachment, availability, reason } = body
  let fields: object = {}
  if (endpoint === 'start') {
    const { name, language_codes } = isMap(sender) ? sender : {}
    const isKnown = name !== undefined || language_codes !== undefined
    // Without the avatar, whose address often differs between environments.
    fields = { sender: isKnown ? withoutUndefined({ name, language_codes }) : undefined, supports_attachment }
  } else if (endpoint === 'message') {
    const name = senderName(sender)
    fields = {
      message,
      sender: name === null || name === agent ? undefined : { name },
      buttons: Array.isArray(buttons) && buttons.length > 0 ? buttons : undefined,
    }
  } else if (endpoint === 'availability') fields = { availability, reason }
  const defined = withoutUndefined(fields)
  return Object.keys(defined).length === 0 ? null : escapePlaceholders(defined)
}
