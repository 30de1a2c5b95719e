/** Creates, shows and closes workspaces: further simulators behind the same port. */
import { MASK } from '../../../journal/mask.ts'
import type { BotReply } from '../../../platform/state.ts'
import type { PlatformSimulatorOptions } from '../../../simulator/options.ts'
import type { PlatformWorkspace, PlatformWorkspaceOptions, Workspaces } from '../../../simulator/workspaces.ts'
import { unknownId } from '../problems.ts'
import { CreateWorkspaceBody, KeysQuery } from '../request-schemas.ts'
import {
  ClosedWorkspaceResponse,
  ControlErrorResponse,
  WorkspaceListResponse,
  WorkspaceResponse,
} from '../response-schemas.ts'
import { type ControlRoute, defineRoute, ok } from '../route.ts'

const NONE = { description: 'There is no such workspace; lists the workspaces', schema: ControlErrorResponse }

export function requireWorkspace({ workspaces }: { workspaces: Workspaces }, id: string): PlatformWorkspace {
  const found = workspaces.find(id)
  if (found !== undefined) return found
  const known = workspaces.list().map(one => one.id)
  const there = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`
  throw unknownId('workspace_not_found', 'workspace', `There is no workspace ${JSON.stringify(id)}: ${there}.`, known)
}

function infoOf(workspace: PlatformWorkspace, withKeys: boolean) {
  const presentFor = (key: string) => (withKeys ? key : MASK)
  return {
    id: workspace.id,
    name: workspace.name,
    api_key: presentFor(workspace.apiKey),
    bot_api_key: presentFor(workspace.botApiKey),
    bot_id: workspace.botId,
    webhook_secret: presentFor(workspace.apiKey),
    webhook_url: workspace.config()['webhook.url'],
    url: workspace.url,
    control: workspace.control,
  }
}

function optionsFrom({
  name,
  seed,
  clock,
  bot,
  webhook_url,
  knobs,
  business_hours,
}: CreateWorkspaceBody): PlatformWorkspaceOptions {
  const given = {
    name,
    seed,
    clock: clock as PlatformSimulatorOptions['clock'],
    bot: bot && botOf(bot),
    webhook: webhook_url === undefined ? undefined : { url: webhook_url },
    knobs,
    businessHours: business_hours,
  }
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as PlatformWorkspaceOptions
}

function botOf({ organization_id, replies, ...bot }: NonNullable<CreateWorkspaceBody['bot']>) {
  const own = { ...bot, organizationId: organization_id, replies: replies as readonly BotReply[] | undefined }
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
}

export const WORKSPACES_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'createWorkspace',
    group: 'workspaces',
    method: 'POST',
    path: '/workspaces',
    summary: 'Creates a simulator behind this port, with its own bot, keys, webhook, clock, seed and journal',
    description:
      'API calls select it by their API key. Options that are left out are those of the server; keys, bot and seed are derived from the seed of the server and the name, or a number.',
    body: CreateWorkspaceBody,
    example: { name: 'checkout', webhook_url: 'http://127.0.0.1:3000/webhook', clock: 'virtual' },
    responses: {
      201: { description: 'The workspace with its keys', schema: WorkspaceResponse },
      409: { description: 'The name or a key is in use', schema: ControlErrorResponse },
      422: { description: 'An option is invalid; lists every reason', schema: ControlErrorResponse },
    },
    run({ workspaces, body }) {
      const made = workspaces.create(optionsFrom(body))
      return { status: 201, body: infoOf(made, true) }
    },
  }),
  defineRoute({
    id: 'listWorkspaces',
    group: 'workspaces',
    method: 'GET',
    path: '/workspaces',
    summary: 'Lists all workspaces except the default one',
    responses: { 200: { description: 'Oldest first; keys are masked', schema: WorkspaceListResponse } },
    run: ({ workspaces }) => ok({ workspaces: workspaces.list().map(one => infoOf(one, false)) }),
  }),
  defineRoute({
    id: 'getWorkspace',
    group: 'workspaces',
    method: 'GET',
    path: '/workspaces/:workspace',
    summary: 'Shows one workspace',
    query: KeysQuery,
    responses: { 200: { description: 'The keys are masked unless `keys=true`', schema: WorkspaceResponse }, 404: NONE },
    run: ({ param, query, ...control }) =>
      ok(infoOf(requireWorkspace(control, param('workspace')), query.keys === 'true')),
  }),
  defineRoute({
    id: 'closeWorkspace',
    group: 'workspaces',
    method: 'DELETE',
    path: '/workspaces/:workspace',
    summary: 'Closes a workspace and aborts what is in flight',
    responses: { 200: { description: 'Its keys are no longer valid', schema: ClosedWorkspaceResponse }, 404: NONE },
    async run({ param, ...control }) {
      const workspace = requireWorkspace(control, param('workspace'))
      await workspace.close()
      return ok({ closed: true, id: workspace.id })
    },
  }),
]
