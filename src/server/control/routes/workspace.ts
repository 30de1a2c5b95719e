/** Shows and changes the configuration and the availability, as a person does in the workspace. */
import { VERSION } from '../../../contract/version.ts'
import { DEFAULT_QUEUE, isOpen } from '../../../platform/availability.ts'
import { botById } from '../../../platform/chats.ts'
import type { BotState } from '../../../platform/state.ts'
import { chatSummary } from '../../../platform/transcript.ts'
import { isoMicros } from '../../../runtime/clock.ts'
import type { Core } from '../../../simulator/core.ts'
import { ConfigBody, SetAvailabilityBody } from '../request-schemas.ts'
import {
  AssumptionsResponse,
  ConfigResponse,
  ControlErrorResponse,
  QueueResponse,
  StateResponse,
} from '../response-schemas.ts'
import { type ControlRoute, defineRoute, ok } from '../route.ts'
import { wireSummary } from './chats.ts'
import { clockNow } from './simulator.ts'

const REFUSED = {
  description: 'A name or value is not allowed; lists what is allowed. Nothing was changed',
  schema: ControlErrorResponse,
}

/** Before its first update a queue has the value of the knob `availability.initial`. */
function availabilityOf({ platform }: Core, bot: BotState, name = DEFAULT_QUEUE) {
  const queue = bot.queues.get(name)
  return {
    bot_id: bot.id,
    queue: name,
    availability: queue?.availability ?? platform.knobs['availability.initial'],
    reason: queue?.reason ?? null,
    updated_at: queue && queue.updated !== null ? isoMicros(queue.updated) : null,
    open: isOpen(platform, bot),
  }
}

function allQueues(core: Core) {
  return [...core.platform.state.bots.values()].flatMap(bot => {
    const names = new Set([DEFAULT_QUEUE, ...bot.queues.keys()])
    return [...names].map(name => availabilityOf(core, bot, name))
  })
}

export const WORKSPACE_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'getState',
    group: 'workspace',
    method: 'GET',
    path: '/state',
    summary: 'Shows the effective config, the availability and the chats',
    responses: { 200: { description: 'The state', schema: StateResponse } },
    run: ({ core, simulator }) =>
      ok({
        version: VERSION,
        config: simulator.config(),
        clock: clockNow(core),
        availability: allQueues(core),
        chats: [...core.platform.state.chats.values()].map(chat => wireSummary(chatSummary(chat))),
        journal: { first_seq: core.journal.firstSeq, next_seq: core.journal.nextSeq },
      }),
  }),
  defineRoute({
    id: 'getConfig',
    group: 'workspace',
    method: 'GET',
    path: '/config',
    summary: 'Shows the effective config',
    responses: { 200: { description: 'By name', schema: ConfigResponse } },
    run: ({ simulator }) => ok(simulator.config()),
  }),
  defineRoute({
    id: 'patchConfig',
    group: 'workspace',
    method: 'PATCH',
    path: '/config',
    summary: 'Changes knobs and settings, all or none',
    body: ConfigBody,
    example: { 'typing.webhook': 'off', 'webhook.url': 'http://127.0.0.1:3000/webhook' },
    responses: { 200: { description: 'The effective config', schema: ConfigResponse }, 422: REFUSED },
    run: async ({ simulator, body }) => ok(await simulator.configure(body)),
  }),
  defineRoute({
    id: 'setAvailability',
    group: 'workspace',
    method: 'PUT',
    path: '/availability',
    summary: 'Opens or closes handover, as if set in the workspace',
    body: SetAvailabilityBody,
    example: { availability: 'CLOSED', reason: 'BUSINESS_HOURS' },
    responses: { 200: { description: 'The availability after the change', schema: QueueResponse }, 422: REFUSED },
    run({ core, simulator, body }) {
      simulator.setAvailability(body)
      return ok(availabilityOf(core, botById(core.platform, core.identity.bot.id), body.queue))
    },
  }),
  defineRoute({
    id: 'listAssumptions',
    group: 'workspace',
    method: 'GET',
    path: '/assumptions',
    summary: 'Lists every default that the platform does not state, with its knobs and their values',
    responses: { 200: { description: 'Each by its name, with the effective values', schema: AssumptionsResponse } },
    run: ({ simulator }) => ok({ assumptions: simulator.assumptions() }),
  }),
]
