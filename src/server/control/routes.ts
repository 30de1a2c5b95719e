/** The whole table, group by group. */
import { VERSION } from '../../contract/version.ts'
import { Index } from './response-schemas.ts'
import { defineRoute, ok, type Route } from './route.ts'
import { CHAT_ROUTES } from './routes/chats.ts'
import { DELIVERY_ROUTES } from './routes/deliveries.ts'
import { DOCUMENT_ROUTES } from './routes/documents.ts'
import { FAULT_ROUTES } from './routes/faults.ts'
import { HEALTH_ROUTES } from './routes/health.ts'
import { JOURNAL_ROUTES } from './routes/journal.ts'
import { SNAPSHOT_ROUTES } from './routes/snapshot.ts'
import { TIME_ROUTES } from './routes/time.ts'
import { WORKSPACE_ROUTES } from './routes/workspace.ts'
import { WORKSPACES_ROUTES } from './routes/workspaces.ts'
import { workspaceRouteOf } from './workspace-routes.ts'

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

/** What there is of every workspace, the default one included. */
const OF_EACH: readonly Route[] = [
  ...CHAT_ROUTES,
  ...WORKSPACE_ROUTES,
  ...JOURNAL_ROUTES,
  ...DELIVERY_ROUTES,
  ...FAULT_ROUTES,
  ...TIME_ROUTES,
  ...SNAPSHOT_ROUTES,
]

export const ROUTES: readonly Route[] = [
  INDEX,
  ...HEALTH_ROUTES,
  ...OF_EACH,
  ...WORKSPACES_ROUTES,
  ...DOCUMENT_ROUTES,
  ...OF_EACH.map(workspaceRouteOf),
]

/** Twins are told by the way they are made. */
export const routeLines = (): string[] => {
  const own = ROUTES.filter(route => route.workspaceRouteOf === undefined)
  return own.map(({ method, path }) => `${method} ${PREFIX}${path}`)
}
