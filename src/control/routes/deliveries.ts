/** Attempts to deliver events to the webhook. */

import { Deliveries } from '../answer-schemas.ts'
import { defineRoute, ok, type Route } from '../route.ts'
import { DeliveriesQuery } from '../schemas.ts'
import { shown } from './journal.ts'

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
]
