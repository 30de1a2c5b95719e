/** A call of the intermediary as a test gets it: typed by its endpoint. */
import type { CallBodies, CallId, CallResponses } from '../contract/wire.ts'
import type { Call } from '../evaluator/call.ts'
import type { EntryOf } from '../journal/entry.ts'

export interface ReceivedCall<Id extends CallId = CallId> {
  readonly call: Id
  /** As it was sent. It is typed as the platform wants it; a call that was refused may hold anything. */
  readonly body: CallBodies[Id]
  /** As it was answered. */
  readonly response: CallResponses[Id]
  readonly status: number
  readonly method: string
  readonly path: string
  /** Which spelling of the path was used; null for `chat`. */
  readonly alias: 'handover' | 'takeover' | null
  readonly headers: Readonly<Record<string, string>>
  readonly chatId: string | null
  /** Its place in `sim.journal`. */
  readonly seq: number
  /** ISO 8601 on the simulator's clock. */
  readonly time: string
  /** The whole entry. */
  readonly entry: EntryOf<'api'>
}

export function receivedCall<Id extends CallId>({ body, chatId, entry, seq }: Call): ReceivedCall<Id> {
  const { endpoint, response, status, method, path, alias, request, time } = entry
  return {
    call: endpoint as Id,
    body: body as CallBodies[Id],
    response: response as CallResponses[Id],
    status,
    method,
    path,
    alias,
    headers: request.headers,
    chatId,
    seq,
    time,
    entry,
  }
}
