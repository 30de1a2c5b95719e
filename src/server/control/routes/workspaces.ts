/** Workspaces: simulators of their own behind the same port, made and closed while it runs. */
import { MASK } from '../../../journal/mask.ts'
import type { BotReply } from '../../../platform/context.ts'
import type { PlatformSimulatorOptions } from '../../../simulator/options.ts'
import type { Workspaces } from '../../../simulator/workspaces/registry.ts'
import type { PlatformWorkspace, PlatformWorkspaceOptions } from '../../../simulator/workspaces/workspace.ts'
import { unknownId } from '../problems.ts'
import { KeysQuery, NewWorkspace } from '../request-schemas.ts'
import { ErrorBody, WorkspaceClosed, WorkspaceInfo, WorkspaceList } from '../response-schemas.ts'
import { defineRoute, ok, type Route } from '../route.ts'

const NONE = { description: 'There is no such workspace; those there are', schema: ErrorBody }

export function workspaceCalled({ workspaces }: { workspaces: Workspaces }, id: string): PlatformWorkspace {
  const found = workspaces.find(id)
  if (found !== undefined) return found
  const known = workspaces.list().map(one => one.id)
  const there = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`
  throw unknownId('workspace_not_found', 'workspace', `There is no workspace ${JSON.stringify(id)}: ${there}.`, known)
}

function infoOf(workspace: PlatformWorkspace, withKeys: boolean) {
  const shown = (key: string) => (withKeys ? key : MASK)
  return {
    id: workspace.id,
    name: workspace.name,
    api_key: shown(workspace.apiKey),
    bot_api_key: shown(workspace.botApiKey),
    bot_id: workspace.botId,
    webhook_secret: shown(workspace.apiKey),
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
}: NewWorkspace): PlatformWorkspaceOptions {
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

function botOf({ organization_id, replies, ...bot }: NonNullable<NewWorkspace['bot']>) {
  const own = { ...bot, organizationId: organization_id, replies: replies as readonly BotReply[] | undefined }
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
}

export const WORKSPACES_ROUTES: readonly Route[] = [
  defineRoute({
    id: 'createWorkspace',
    group: 'workspaces',
    method: 'POST',
    path: '/workspaces',
    summary: 'One more simulator behind this port, with its own bot, keys, webhook, clock, seed and journal',
    description:
      'Calls of the platform find it by their API key. What is left out is as the server was started; keys, bot and seed are drawn from its seed and from the name, or from a number.',
    body: NewWorkspace as never,
    example: { name: 'checkout', webhook_url: 'http://127.0.0.1:3000/webhook', clock: 'virtual' },
    answers: {
      201: { description: 'Made; its keys', schema: WorkspaceInfo },
      409: { description: 'The name or a key is taken', schema: ErrorBody },
      422: { description: 'It cannot be; every reason', schema: ErrorBody },
    },
    run({ workspaces, body }) {
      const made = workspaces.create(optionsFrom(body as NewWorkspace))
      return { status: 201, body: infoOf(made, true) }
    },
  }),
  defineRoute({
    id: 'listWorkspaces',
    group: 'workspaces',
    method: 'GET',
    path: '/workspaces',
    summary: 'Every workspace but the default one',
    answers: { 200: { description: 'Oldest first; keys are masked', schema: WorkspaceList } },
    run: ({ workspaces }) => ok({ workspaces: workspaces.list().map(one => infoOf(one, false)) }),
  }),
  defineRoute({
    id: 'getWorkspace',
    group: 'workspaces',
    method: 'GET',
    path: '/workspaces/:workspace',
    summary: 'One workspace',
    query: KeysQuery,
    answers: { 200: { description: 'Its keys only when asked for', schema: WorkspaceInfo }, 404: NONE },
    run: ({ params, query, ...house }) => ok(infoOf(workspaceCalled(house, params.workspace!), query.keys === 'true')),
  }),
  defineRoute({
    id: 'closeWorkspace',
    group: 'workspaces',
    method: 'DELETE',
    path: '/workspaces/:workspace',
    summary: 'Closes a workspace; what is in flight is cut off',
    answers: { 200: { description: 'Its keys open nothing any more', schema: WorkspaceClosed }, 404: NONE },
    async run({ params, ...house }) {
      const workspace = workspaceCalled(house, params.workspace!)
      await workspace.close()
      return ok({ closed: true, id: workspace.id })
    },
  }),
]
