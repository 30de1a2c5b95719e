/** Attempts to deliver events to the webhook, and events sent by hand. */

import { resend, trigger } from '../manual-events.ts'
import { DeliveriesQuery, Resend, ResendQuery, Trigger } from '../request-schemas.ts'
import { Deliveries, ErrorBody, SentByHand } from '../response-schemas.ts'
import { defineRoute, ok, type Route } from '../route.ts'
import { shown } from './journal.ts'

const ANSWERED = { description: 'The webhook answered, or nothing came back', schema: SentByHand }
const NOT_NOW = { description: 'There is no chat, signatures are off, or a reset came first', schema: ErrorBody }

export const DELIVERY_ROUTES: readonly Route[] = [
  defineRoute({
    id: 'listDeliveries',
    group: 'journal',
    method: 'GET',
    path: '/deliveries',
    summary: 'Every attempt to deliver an event',
    query: DeliveriesQuery,
    answers: { 200: { description: 'Oldest first', schema: Deliveries } },
    run({ core, query: { after, chat_id, limit } }) {
      const wanted = { after: after ?? 0, limit: limit ?? Number.POSITIVE_INFINITY, kind: 'delivery' } as const
      const found = core.journal.query({ ...wanted, ...(chat_id && { chatId: chat_id }) })
      return ok({ deliveries: found.map(shown(core)) })
    },
  }),
  defineRoute({
    id: 'resend',
    group: 'journal',
    method: 'POST',
    path: '/deliveries/:id/resend',
    summary: 'Sends a past delivery again: the same bytes and headers',
    description:
      'At once, past any order. `resign=true` makes the headers anew, with the key and time of now. A body may say how it travels.',
    query: ResendQuery,
    body: Resend,
    answers: {
      200: ANSWERED,
      404: { description: 'There is no such delivery; the latest ones', schema: ErrorBody },
      409: { description: 'A reset came first', schema: ErrorBody },
      422: { description: 'The body cannot be', schema: ErrorBody },
    },
    run: ({ core, params, query, body }) => resend(core, params.id!, query.resign === 'true', body),
  }),
  defineRoute({
    id: 'trigger',
    group: 'journal',
    method: 'POST',
    path: '/trigger',
    summary: 'Sends one event to the webhook, well signed or wrong on purpose; nothing in the chat changes',
    description:
      'An event of the platform has the payload of the chat (by default the newest), with `body` laid over it. Any other name is sent as `{ event, ...body }`. It may be late, several, cut short or odd on the wire; faults that are set do not strike it.',
    body: Trigger as never,
    example: { event: 'MESSAGE FROM USER', body: { message: 'Hello' }, sign: 'tampered' },
    answers: {
      200: ANSWERED,
      404: { description: 'There is no such chat', schema: ErrorBody },
      409: NOT_NOW,
      422: { description: 'The body cannot be; what is allowed', schema: ErrorBody },
    },
    run: ({ core, body }) => trigger(core, body as Trigger),
  }),
]
