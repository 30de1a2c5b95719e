/** Lists the attempts to deliver events, sends one again, and sends manual events. */

import { type SignMode, WEBHOOK_EVENTS, type WebhookEventName } from '../../../contract/events.ts'
import type { EntryOf } from '../../../journal/entry.ts'
import { payloadOf } from '../../../platform/events.ts'
import type { Chat } from '../../../platform/state.ts'
import { ackOf } from '../../../simulator/chat-handle.ts'
import type { Core } from '../../../simulator/core.ts'
import { findPastDelivery, type Triggered } from '../../../webhooks/manual.ts'
import { FAULT_ERRORS } from '../../../wording/faults.ts'
import { ControlProblem, getChat, latest, unknownId } from '../problems.ts'
import { DeliveriesQuery, ResendBody, ResendQuery, TriggerBody } from '../request-schemas.ts'
import { ControlErrorResponse, DeliveriesResponse, ManualEventResponse } from '../response-schemas.ts'
import { type ControlResponse, type ControlRoute, defineRoute, ok } from '../route.ts'
import { wireAck } from './chats.ts'
import { presentFor } from './journal.ts'

const ANSWERED = { description: 'The response of the webhook, or why there is none', schema: ManualEventResponse }
const NOT_NOW = {
  description: 'There is no chat yet, signatures are off, or the simulator was reset before the webhook responded',
  schema: ControlErrorResponse,
}

type Delivery = EntryOf<'delivery'>

const isKnown = (event: string): event is WebhookEventName => Object.hasOwn(WEBHOOK_EVENTS, event)

async function trigger(core: Core, wanted: TriggerBody): Promise<ControlResponse> {
  refuseWithoutSignatures(core, wanted.sign)
  return ackResponse(await core.dispatcher.trigger(eventOf(core, wanted)))
}

function eventOf(core: Core, { event, chat_id, body = {}, sign, ...sending }: TriggerBody): Triggered {
  if (isKnown(event)) {
    const chat = chat_id === undefined ? newestChat(core, event) : getChat(core, chat_id)
    return { event, chatId: chat.id, sign, sending, payload: { ...payloadOf(core.platform, chat, event), ...body } }
  }
  const chatId = chat_id === undefined ? undefined : getChat(core, chat_id).id
  return { event, chatId, sign, sending, payload: { event, ...body } }
}

/** Refuses invalid signatures while the platform does not sign at all. */
function refuseWithoutSignatures({ platform }: Core, sign: SignMode): void {
  if (sign === 'valid' || platform.knobs['webhook.signature'] !== 'off') return
  const message = FAULT_ERRORS.signatureOff(sign)
  throw new ControlProblem(409, 'signature_off', message)
}

function newestChat({ platform }: Core, event: string): Chat {
  const chat = [...platform.state.chats.values()].at(-1)
  if (chat !== undefined) return chat
  const message = `${event} needs a chat, and there is none yet: create one with POST /_sim/chats, then try again.`
  throw new ControlProblem(409, 'no_chat', message)
}

async function resend(core: Core, id: string, resign: boolean, sending: ResendBody): Promise<ControlResponse> {
  const past = findPastDelivery(core.journal, id)
  if (past !== undefined) return ackResponse(await core.dispatcher.resend(past, resign, sending))
  const known = [...new Set(core.journal.query({ kind: 'delivery' }).map(one => one.delivery_id))]
  const message = `There is no delivery ${JSON.stringify(id)}.${latest('deliveries', known)}`
  throw unknownId('delivery_not_found', 'id', message, known)
}

/** The response of the webhook; a conflict when the simulator was reset before it. */
function ackResponse(entry: Delivery | null): ControlResponse {
  if (entry === null) throw new ControlProblem(409, 'reset', 'The simulator was reset before the webhook responded.')
  return ok({ delivery_id: entry.delivery_id, ack: wireAck(ackOf(entry)) })
}

export const DELIVERY_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'listDeliveries',
    group: 'journal',
    method: 'GET',
    path: '/deliveries',
    summary: 'Lists the attempts to deliver events',
    query: DeliveriesQuery,
    responses: { 200: { description: 'Oldest first', schema: DeliveriesResponse } },
    run({ core, query: { after, chat_id, limit } }) {
      const wanted = { after: after ?? 0, limit: limit ?? Number.POSITIVE_INFINITY, kind: 'delivery' } as const
      const found = core.journal.query({ ...wanted, ...(chat_id && { chatId: chat_id }) })
      return ok({ deliveries: found.map(presentFor(core)) })
    },
  }),
  defineRoute({
    id: 'resend',
    group: 'journal',
    method: 'POST',
    path: '/deliveries/:id/resend',
    summary: 'Sends a past delivery again: the same bytes and headers',
    description:
      'It is sent at once and does not wait for other events. `resign=true` makes new headers with the current key and time. The body may change how it is sent.',
    query: ResendQuery,
    body: ResendBody,
    responses: {
      200: ANSWERED,
      404: { description: 'There is no such delivery; lists the latest ones', schema: ControlErrorResponse },
      409: { description: 'The simulator was reset before the webhook responded', schema: ControlErrorResponse },
      422: { description: 'The body is invalid', schema: ControlErrorResponse },
    },
    run: ({ core, param, query, body }) => resend(core, param('id'), query.resign === 'true', body),
  }),
  defineRoute({
    id: 'trigger',
    group: 'journal',
    method: 'POST',
    path: '/trigger',
    summary: 'Sends one event to the webhook, with a valid or an invalid signature; the chat does not change',
    description:
      'An event of the platform has the payload of the chat (by default the newest), with `body` laid over it. Any other name is sent as `{ event, ...body }`. It may be late, several, cut short or odd on the wire; faults that are set do not strike it.',
    body: TriggerBody,
    example: { event: 'MESSAGE FROM USER', body: { message: 'Hello' }, sign: 'tampered' },
    responses: {
      200: ANSWERED,
      404: { description: 'There is no such chat', schema: ControlErrorResponse },
      409: NOT_NOW,
      422: { description: 'The body is invalid; lists what is allowed', schema: ControlErrorResponse },
    },
    run: ({ core, body }) => trigger(core, body),
  }),
]
