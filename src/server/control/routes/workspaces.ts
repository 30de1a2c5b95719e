/** Creates, shows and closes workspaces: further simulators behind the same port. */
import * as z from 'zod/mini'
import { withoutUndefined } from '../../../base/objects.ts'
import { withoutCredentials } from '../../../base/text/redactor.ts'
import { AnyFields, Button, named } from '../../../platform/contract/schemas.ts'
import { MASK } from '../../../platform/journal/mask.ts'
import type { BotReply } from '../../../platform/rules/state.ts'
import type { PlatformSimulatorOptions } from '../../../platform/simulator/options.ts'
import { checkModules } from '../../../platform/simulator/settings.ts'
import { coreOf } from '../../../platform/simulator/simulator.ts'
import type { PlatformWorkspace, PlatformWorkspaceOptions, Workspaces } from '../../../platform/simulator/workspaces.ts'
import { unknownId } from '../problems.ts'
import { booleanFlag, type ControlRoute, NonEmptyText, ok, routesOf, SeqNumber } from '../route.ts'

const isHttp = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const CreateWorkspaceBody = z
  .strictObject({
    name: z.optional(
      NonEmptyText.check(
        z.describe('Letters, digits, ".", "_", "-": the same name has the same keys, bot and seed every time'),
      ),
    ),
    seed: z.optional(SeqNumber),
    clock: z.optional(
      z.union(
        [z.enum(['real', 'virtual']), z.strictObject({ mode: z.literal('virtual'), start: z.optional(NonEmptyText) })],
        {
          error: 'real, virtual or { mode: virtual, start }',
        },
      ),
    ),
    bot: z.optional(
      z.strictObject({
        id: z.optional(z.int().check(z.positive())),
        name: z.optional(NonEmptyText),
        organization_id: z.optional(z.int()),
        replies: z.optional(
          z.array(z.strictObject({ match: NonEmptyText, text: z.string(), buttons: z.optional(z.array(Button)) })),
        ),
      }),
    ),
    webhook_url: z.optional(
      z.string().check(z.refine(isHttp, { error: 'an http or https URL' }), z.describe('Where its events are sent')),
    ),
    knobs: z.optional(AnyFields.check(z.describe('By dotted name, as in the config file'))),
    business_hours: z.optional(z.nullable(AnyFields.check(z.describe('By weekday and date, as in the config file')))),
  })
  .check(named('NewWorkspace', 'Options that are left out are those of the server; by default there is no webhook'))
type CreateWorkspaceBody = z.infer<typeof CreateWorkspaceBody>

const KeysQuery = z.strictObject({ keys: booleanFlag('Include the unmasked API keys') })

const key = z.string().check(z.describe('`***` unless `keys=true`'))

const WorkspaceResponse = z
  .object({
    id: z.string(),
    name: z.nullable(z.string()),
    api_key: key,
    bot_api_key: key,
    bot_id: z.int(),
    webhook_secret: z.string().check(z.describe('The key that signs its webhooks: the same as `api_key`')),
    webhook_url: z.nullable(z.string()),
    url: z.string().check(z.describe('The base URL of the platform, the same for all workspaces')),
    control: z.string().check(z.describe('The base URL of its control API')),
  })
  .check(named('Workspace', 'A simulator of its own, selected by its API keys'))

const WorkspaceListResponse = z
  .object({ workspaces: z.array(WorkspaceResponse) })
  .check(named('Workspaces', 'All workspaces except the default one'))

export type WorkspaceListResponse = z.infer<typeof WorkspaceListResponse>

const ClosedWorkspaceResponse = z
  .object({ closed: z.literal(true), id: z.string() })
  .check(named('WorkspaceClosed', 'Its keys are no longer valid'))

const route = routesOf('workspaces')

const NONE = 'There is no such workspace; lists the workspaces'

export function requireWorkspace({ workspaces }: { workspaces: Workspaces }, id: string): PlatformWorkspace {
  const workspace = workspaces.find(id)
  if (workspace !== undefined) return workspace
  const ids = workspaces.list().map(openWorkspace => openWorkspace.id)
  const there = ids.length === 0 ? 'there is none' : `there are ${ids.join(', ')}`
  throw unknownId('workspace_not_found', 'workspace', `There is no workspace ${JSON.stringify(id)}: ${there}.`, ids)
}

function describeWorkspace(workspace: PlatformWorkspace, withKeys: boolean) {
  const { webhookUrl } = coreOf(workspace).address
  const presentFor = (key: string) => (withKeys ? key : MASK)
  return {
    id: workspace.id,
    name: workspace.name,
    api_key: presentFor(workspace.apiKey),
    bot_api_key: presentFor(workspace.botApiKey),
    bot_id: workspace.botId,
    webhook_secret: presentFor(workspace.apiKey),
    webhook_url: webhookUrl === null || withKeys ? webhookUrl : withoutCredentials(webhookUrl),
    url: workspace.url,
    control: workspace.control,
  }
}

const optionsFrom = ({ clock, bot, webhook_url, business_hours, ...same }: CreateWorkspaceBody) =>
  withoutUndefined({
    ...same,
    clock: clock as PlatformSimulatorOptions['clock'],
    bot: bot && readBot(bot),
    webhook: webhook_url === undefined ? undefined : { url: webhook_url },
    businessHours: business_hours,
  }) as PlatformWorkspaceOptions

const readBot = ({ organization_id, replies, ...bot }: NonNullable<CreateWorkspaceBody['bot']>) =>
  withoutUndefined({
    ...bot,
    organizationId: organization_id,
    replies: replies as readonly BotReply[] | undefined,
  })

export const WORKSPACES_ROUTES: readonly ControlRoute[] = [
  route('POST /workspaces', {
    id: 'createWorkspace',
    summary: 'Creates a simulator behind this port, with its own bot, keys, webhook, clock, seed and journal',
    description:
      'API calls select it by their API key. Options that are left out are those of the server; keys, bot and seed are derived from the seed of the server and the name, or a number.',
    body: CreateWorkspaceBody,
    example: { name: 'checkout', webhook_url: 'http://127.0.0.1:3000/webhook', clock: 'virtual' },
    responses: {
      201: { description: 'The workspace with its keys', schema: WorkspaceResponse },
      409: 'The name or a key is in use',
      422: 'An option is invalid; lists every reason',
    },
    run({ core, workspaces, body }) {
      checkModules(core, body.knobs ?? {})
      const workspace = workspaces.create(optionsFrom(body))
      return { status: 201, body: describeWorkspace(workspace, true), withKeys: true }
    },
  }),
  route('GET /workspaces', {
    id: 'listWorkspaces',
    summary: 'Lists all workspaces except the default one',
    responses: { 200: { description: 'Oldest first; keys are masked', schema: WorkspaceListResponse } },
    run: ({ workspaces }) =>
      ok({ workspaces: workspaces.list().map(workspace => describeWorkspace(workspace, false)) }),
  }),
  route('GET /workspaces/:workspace', {
    id: 'getWorkspace',
    summary: 'Shows one workspace',
    query: KeysQuery,
    responses: { 200: { description: 'The keys are masked unless `keys=true`', schema: WorkspaceResponse }, 404: NONE },
    run: ({ param, query, ...control }) =>
      ok(
        describeWorkspace(requireWorkspace(control, param('workspace')), query.keys === 'true'),
        query.keys === 'true',
      ),
  }),
  route('DELETE /workspaces/:workspace', {
    id: 'closeWorkspace',
    summary: 'Closes a workspace and aborts what is in flight',
    responses: { 200: { description: 'Its keys are no longer valid', schema: ClosedWorkspaceResponse }, 404: NONE },
    async run({ param, ...control }) {
      const workspace = requireWorkspace(control, param('workspace'))
      await workspace.close()
      return ok({ closed: true, id: workspace.id })
    },
  }),
]
