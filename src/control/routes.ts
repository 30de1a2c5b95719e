/** The whole table, group by group. */
import { VERSION } from '../contract/version.ts'
import { Index } from './answer-schemas.ts'
import { defineRoute, ok, type Route } from './route.ts'
import { CHAT_ROUTES } from './routes/chats.ts'
import { DELIVERY_ROUTES } from './routes/deliveries.ts'
import { DOCUMENT_ROUTES } from './routes/documents.ts'
import { FAULT_ROUTES } from './routes/faults.ts'
import { HEALTH_ROUTES } from './routes/health.ts'
import { JOURNAL_ROUTES } from './routes/journal.ts'
import { TIME_ROUTES } from './routes/time.ts'
import { WORKSPACE_ROUTES } from './routes/workspace.ts'

export const PREFIX = '/_sim'

const INDEX = defineRoute({
  id: 'index',
  group: 'health',
  method: 'GET',
  path: '',
  summary: 'What can be asked here',
  answers: { 200: { description: 'The routes', schema: Index } },
  run: () => ok({ name: 'handover-sim', version: VERSION, routes: routeLines() }),
})

export const ROUTES: readonly Route[] = [
  INDEX,
  ...HEALTH_ROUTES,
  ...CHAT_ROUTES,
  ...WORKSPACE_ROUTES,
  ...JOURNAL_ROUTES,
  ...DELIVERY_ROUTES,
  ...FAULT_ROUTES,
  ...TIME_ROUTES,
  ...DOCUMENT_ROUTES,
]

export const routeLines = (): string[] => ROUTES.map(({ method, path }) => `${method} ${PREFIX}${path}`)
