/** Lists all routes of the control API. */

import * as z from 'zod/mini'
import { named } from '../../platform/contract/schemas.ts'
import { VERSION } from '../../platform/contract/version.ts'
import { type ControlRoute, ok, routesOf } from './route.ts'
import { AGENT_ROUTES } from './routes/agent.ts'
import { CHAT_ROUTES } from './routes/chats.ts'
import { DELIVERY_ROUTES } from './routes/deliveries.ts'
import { DESCRIPTION_ROUTES } from './routes/description.ts'
import { FAULT_ROUTES } from './routes/faults.ts'
import { JOURNAL_ROUTES, READINESS_ROUTES, RECORD_ROUTES } from './routes/journal.ts'
import { DOCUMENT_ROUTES, HEALTH_ROUTES, SNAPSHOT_ROUTES, STOP_ROUTES, TIME_ROUTES } from './routes/simulator.ts'
import { WORKSPACE_ROUTES } from './routes/workspace.ts'
import { WORKSPACES_ROUTES } from './routes/workspaces.ts'

export const PREFIX = '/_sim'
const WORKSPACE_PREFIX = `${PREFIX}/workspaces/:workspace`

const IndexResponse = z
  .object({ name: z.string(), version: z.string(), routes: z.array(z.string()) })
  .check(named('Index', 'Name, version and routes'))

const INDEX = routesOf('health')('GET ', {
  id: 'index',
  summary: 'Lists the routes',
  responses: { 200: { description: 'The routes', schema: IndexResponse } },
  run: () => ok({ name: 'handover-sim', version: VERSION, routes: ROUTES.map(routeLine) }),
})

/** The routes of one simulator: of the default one, and below `/workspaces/:workspace` of a workspace. */
const SIMULATOR_ROUTES: readonly ControlRoute[] = [
  ...CHAT_ROUTES,
  ...AGENT_ROUTES,
  ...WORKSPACE_ROUTES,
  ...DESCRIPTION_ROUTES,
  ...JOURNAL_ROUTES,
  ...DELIVERY_ROUTES,
  ...RECORD_ROUTES,
  ...FAULT_ROUTES,
  ...TIME_ROUTES,
  ...SNAPSHOT_ROUTES,
]

export const ROUTES: readonly ControlRoute[] = [
  INDEX,
  ...HEALTH_ROUTES,
  ...SIMULATOR_ROUTES,
  ...READINESS_ROUTES,
  ...WORKSPACES_ROUTES,
  ...STOP_ROUTES,
  ...DOCUMENT_ROUTES,
]

/** The full paths of a route: the second one is that of a workspace. */
export function pathsOf(route: ControlRoute): string[] {
  const path = PREFIX + route.path
  return SIMULATOR_ROUTES.includes(route) ? [path, WORKSPACE_PREFIX + route.path] : [path]
}

const routeLine = ({ method, path }: ControlRoute): string => `${method} ${PREFIX}${path}`

/** Ends the message about an unknown path. */
export const routesText = (): string =>
  `Routes: ${ROUTES.map(routeLine).join(', ')}; most of them also below ${WORKSPACE_PREFIX}.`
