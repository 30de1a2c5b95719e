/** Every route about a simulator, once more for one workspace: below its name, and about its simulator. */
import { coreOf } from '../../simulator/simulator.ts'
import { ErrorBody } from './response-schemas.ts'
import type { Call, Route } from './route.ts'
import { workspaceCalled } from './routes/workspaces.ts'

export const BELOW = '/workspaces/:workspace'

const NO_WORKSPACE = { description: 'There is no such workspace', schema: ErrorBody }

export const workspaceRouteOf = (route: Route): Route => ({
  ...route,
  id: `workspace_${route.id}`,
  workspaceRouteOf: route.id,
  path: BELOW + route.path,
  answers: { ...route.answers, 404: route.answers[404] ?? NO_WORKSPACE },
  run: call => route.run(within(call)),
})

function within(call: Call<never, never>): Call<never, never> {
  const workspace = workspaceCalled(call, call.params.workspace!)
  return {
    ...call,
    simulator: workspace,
    core: coreOf(workspace),
    control: workspace.control,
    closing: AbortSignal.any([call.closing, workspace.closing]),
    signal: AbortSignal.any([call.signal, workspace.closing]),
  }
}
