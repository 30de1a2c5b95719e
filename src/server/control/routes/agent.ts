/** Plays the human agent through the agent driver, or through the desk of the demo, as scenarios do. */
import * as z from 'zod/mini'
import { messageOf } from '../../../base/text/error-text.ts'
import { withoutCredentials } from '../../../base/text/redactor.ts'
import { named } from '../../../platform/contract/schemas.ts'
import { driverFailureText } from '../../../platform/wording/failures.ts'
import { ControlProblem, getChat, resetProblem } from '../problems.ts'
import { type AgentPlayer, type ControlRoute, NonEmptyText, ok, routesOf } from '../route.ts'

const AgentResponse = z
  .object({
    plays: z
      .enum(['page', 'demo', 'driver'])
      .check(z.describe('`page`: there is no agent driver, so the page calls the platform itself')),
    name: z.nullable(z.string()).check(z.describe('The file or address of the driver')),
    verbs: z.array(z.string()).check(z.describe('What the driver can do: `accept`, `says`, `does.transfer`')),
    problem: z.nullable(z.string()).check(z.describe('Why the driver cannot be used')),
    webhook_url: z.nullable(z.string()).check(z.describe('Without the credentials it may have')),
  })
  .check(named('Agent', 'Who plays the agent'))
export type AgentDescription = z.infer<typeof AgentResponse>

const AgentActionBody = z
  .strictObject({
    verb: NonEmptyText,
    chat_id: z.optional(NonEmptyText.check(z.describe('Not needed for `away` and `back`'))),
    text: z.optional(z.string()),
    with: z.optional(z.record(z.string(), z.unknown())),
  })
  .check(named('AgentAction', 'A verb of the agent driver with what it needs'))

const outcome = {
  verb: z.string(),
  chat_id: z.optional(z.string()),
  outcome: z.enum(['ok', 'failed', 'unreachable']),
  how: z.string().check(z.describe('The call or the command')),
  status: z.optional(z.int()),
  duration_ms: z.number(),
  answer: z.optional(z.string().check(z.describe('Its beginning'))),
  error: z.optional(z.string().check(z.describe('Why it failed'))),
}

const AgentActionResponse = z
  .object({ ...outcome, seq: z.int().check(z.describe('The entry of the call in the journal')) })
  .check(named('AgentActionResult', 'What the help desk answered'))
export type AgentActionResult = z.infer<typeof AgentActionResponse>

const InboxQuery = z.strictObject({ chat_id: NonEmptyText })

const InboxResponse = z
  .object({
    ...outcome,
    items: z.array(
      z.looseObject({
        request: z.optional(z.boolean()),
        text: z.optional(z.string()),
        attachments: z.optional(z.array(z.looseObject({ name: z.optional(z.string()), url: z.optional(z.string()) }))),
      }),
    ),
  })
  .check(named('Inbox', 'What the agent sees of a chat in the help desk, oldest first'))
export type AgentInbox = z.infer<typeof InboxResponse>

const route = routesOf('agent')

const NO_CHAT = 'There is no such chat'
const NOT_POSSIBLE = 'There is no agent driver, or it cannot be used'
const OR_RESET = `${NOT_POSSIBLE}, or the simulator was reset before the call ended`

export const AGENT_ROUTES: readonly ControlRoute[] = [
  route('GET /agent', {
    id: 'getAgent',
    summary: 'Shows who plays the agent, and what the agent driver can do',
    responses: { 200: { description: 'Who plays', schema: AgentResponse } },
    async run({ agent, core }) {
      const { webhookUrl } = core.address
      return ok({ ...(await describe(agent())), webhook_url: webhookUrl && withoutCredentials(webhookUrl) })
    },
  }),
  route('POST /agent', {
    id: 'actAsAgent',
    summary: 'Plays the agent through the agent driver',
    description: 'The call appears in the journal as an entry of the kind `driver`.',
    body: AgentActionBody,
    example: { verb: 'says', chat_id: '6f1d9c3e-58a2-4b07-9c41-2f6a0d7be513', text: 'Hello' },
    responses: {
      200: { description: 'Called; `outcome` says how it went', schema: AgentActionResponse },
      404: NO_CHAT,
      409: OR_RESET,
      422: 'The driver has no such verb, or the body is not allowed',
    },
    async run({ agent, core, signal, body: { verb, chat_id: chatId, text, with: parameters } }) {
      const epoch = core.work.epoch.count
      const player = await requirePlayer(agent(), verb)
      const chat = chatId === undefined ? null : getChat(core, chatId)
      if (chat === null && !CHATLESS.includes(verb)) throw missingChat(verb)
      const request = { verb, chat: CHATLESS.includes(verb) ? null : chat, text, with: parameters }
      const { failure, items: _, ...call } = await player.call(request, signal)
      if (core.work.epoch.count !== epoch) throw resetProblem()
      const written = { ...(text !== undefined && { text }), ...(parameters && { with: parameters }) }
      const recorded = { ...call, ...(failure && { failure }), ...written, kind: 'driver' as const }
      const { seq } = core.journal.append(recorded, null)
      return ok({ ...call, ...describeError(failure), seq })
    },
  }),
  route('GET /agent/inbox', {
    id: 'readInbox',
    summary: 'Shows what the agent sees of a chat in the help desk',
    description: 'Reads only, so the journal has no entry of it.',
    query: InboxQuery,
    responses: {
      200: { description: 'Read; `outcome` says how it went', schema: InboxResponse },
      404: NO_CHAT,
      409: NOT_POSSIBLE,
      422: 'The driver has no inbox',
    },
    async run({ agent, core, signal, readiness, query: { chat_id: chatId } }) {
      const player = await requirePlayer(agent(), 'inbox')
      const request = { verb: 'inbox', chat: getChat(core, chatId) }
      const { failure, items = [], ...call } = await player.call(request, signal)
      if (failure === undefined) (await readiness())?.inboxRead(chatId, items)
      return ok({ ...call, ...describeError(failure), items })
    },
  }),
]

/** These are about the whole help desk. */
const CHATLESS = ['away', 'back']

async function describe(agent: AgentPlayer | null): Promise<Omit<AgentDescription, 'webhook_url'>> {
  if (agent === null) return { plays: 'page', name: null, verbs: [], problem: null }
  const { plays, name } = agent
  try {
    return { plays, name, verbs: [...(await agent.verbs())], problem: null }
  } catch (error) {
    return { plays, name, verbs: [], problem: messageOf(error) }
  }
}

async function requirePlayer(agent: AgentPlayer | null, verb: string): Promise<AgentPlayer> {
  if (agent === null) {
    const message = 'There is no agent driver: start the simulator with --agent-driver FILE, or with --demo.'
    throw new ControlProblem(409, 'no_agent_driver', message)
  }
  const verbs = await agent.verbs().catch((error: unknown) => {
    throw new ControlProblem(409, 'agent_driver_unusable', messageOf(error))
  })
  if (verbs.includes(verb)) return agent
  const message = `${agent.name} does not define ${verb}; it has ${verbs.join(', ')}.`
  throw new ControlProblem(422, 'unknown_verb', message, { issues: [{ field: 'verb', message, allowed: verbs }] })
}

function missingChat(verb: string): ControlProblem {
  const message = `${verb} needs chat_id.`
  return new ControlProblem(422, 'invalid_body', message, { issues: [{ field: 'chat_id', message }] })
}

const describeError = (failure: Parameters<typeof driverFailureText>[0] | undefined) =>
  failure === undefined ? {} : { error: driverFailureText(failure) }
