/** Lists all routes of the control API, each once more for every workspace. */

import * as z from 'zod/mini'
import { named } from '../../platform/contract/schemas.ts'
import { VERSION } from '../../platform/contract/version.ts'
import { coreOf } from '../../platform/simulator/simulator.ts'
import { type ControlRequest, type ControlRoute, ok, routesOf } from './route.ts'
import { AGENT_ROUTES } from './routes/agent.ts'
import { CHAT_ROUTES } from './routes/chats.ts'
import { DELIVERY_ROUTES } from './routes/deliveries.ts'
import { DESCRIPTION_ROUTES } from './routes/description.ts'
import { FAULT_ROUTES } from './routes/faults.ts'
import { JOURNAL_ROUTES } from './routes/journal.ts'
import { RECORD_ROUTES } from './routes/record.ts'
import { DOCUMENT_ROUTES, HEALTH_ROUTES, SNAPSHOT_ROUTES, STOP_ROUTES, TIME_ROUTES } from './routes/simulator.ts'
import { WORKSPACE_ROUTES } from './routes/workspace.ts'
import { requireWorkspace, WORKSPACES_ROUTES } from './routes/workspaces.ts'

export const WORKSPACE_PATH = '/workspaces/:workspace'

const workspaceRouteOf = (route: ControlRoute): ControlRoute => ({
  ...route,
  id: `workspace_${route.id}`,
  workspaceRouteOf: route.id,
  path: WORKSPACE_PATH + route.path,
  responses: { ...route.responses, 404: route.responses[404] ?? 'There is no such workspace' },
  run: call => route.run(inWorkspace(call)),
})

function inWorkspace(call: ControlRequest<never, never>): ControlRequest<never, never> {
  const workspace = requireWorkspace(call, call.param('workspace'))
  return {
    ...call,
    simulator: workspace,
    core: coreOf(workspace),
    agent: () => null,
    control: workspace.control,
    closing: AbortSignal.any([call.closing, workspace.closing]),
    signal: AbortSignal.any([call.signal, workspace.closing]),
  }
}

export const PREFIX = '/_sim'

const IndexResponse = z
  .object({ name: z.string(), version: z.string(), routes: z.array(z.string()) })
  .check(named('Index', 'Name, version and routes'))

const INDEX = routesOf('health')('GET ', {
  id: 'index',
  summary: 'Lists the routes',
  responses: { 200: { description: 'The routes', schema: IndexResponse } },
  run: () => ok({ name: 'handover-sim', version: VERSION, routes: routeLines() }),
})

/** The routes that exist for every workspace, the default one included. */
const PER_WORKSPACE: readonly ControlRoute[] = [
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
  ...PER_WORKSPACE,
  ...WORKSPACES_ROUTES,
  ...STOP_ROUTES,
  ...DOCUMENT_ROUTES,
  ...PER_WORKSPACE.map(workspaceRouteOf),
]

/** Routes below a workspace are left out: their pattern says what they are. */
export const routeLines = (): string[] => {
  const own = ROUTES.filter(route => route.workspaceRouteOf === undefined)
  return own.map(({ method, path }) => `${method} ${PREFIX}${path}`)
}
