/** Lists the attempts to deliver events, sends one again, finds out why one was refused, and sends manual events. */
import * as z from 'zod/mini'
import type { WebhookEventName } from '../../../platform/contract/event-names.ts'
import { SignModeSchema, WEBHOOK_EVENTS } from '../../../platform/contract/events.ts'
import { defaultKnobs } from '../../../platform/contract/knobs.ts'
import { named } from '../../../platform/contract/schemas.ts'
import { gapProblems, sendingShape } from '../../../platform/faults/schema.ts'
import { type EntryOf, EntrySchema } from '../../../platform/journal/entry.ts'
import { buildPayload } from '../../../platform/rules/chats.ts'
import type { Chat } from '../../../platform/rules/state.ts'
import { ackOf } from '../../../platform/simulator/chat-handle.ts'
import type { Core } from '../../../platform/simulator/core.ts'
import { findPastDelivery, type Triggered } from '../../../platform/webhooks/manual.ts'
import { signatureOffText } from '../../../platform/wording/faults.ts'
import { ControlProblem, getChat, latest, unknownId } from '../problems.ts'
import { type ControlResponse, type ControlRoute, NonEmptyText, ok, routesOf, SeqNumber } from '../route.ts'
import { AckResponse, wireAck } from './chats.ts'
import { presentFor } from './journal.ts'

const TriggerBody = z
  .strictObject({
    event: NonEmptyText,
    chat_id: z.optional(NonEmptyText.check(z.describe('By default the newest chat'))),
    body: z.optional(z.record(z.string(), z.unknown()).check(z.describe('Fields that replace those of the payload'))),
    sign: z._default(SignModeSchema, 'valid'),
    ...sendingShape,
  })
  .check(payload => gapProblems(payload), named('Trigger', 'One event to send'))
type TriggerBody = z.infer<typeof TriggerBody>

const ResendBody = z
  .strictObject(sendingShape)
  .check(payload => gapProblems(payload), named('Resend', 'How to send it this time; the body may be left out'))

const DeliveriesQuery = z.strictObject({
  after: z.optional(SeqNumber),
  chat_id: z.optional(NonEmptyText),
  limit: z.optional(z.int().check(z.positive())),
})

const ResendQuery = z.strictObject({
  resign: z.optional(z.enum(['true', 'false']).check(z.describe('Whether to make new headers'))),
})

const ManualEventResponse = z
  .object({ delivery_id: z.string(), ack: AckResponse })
  .check(named('ManualEventResult', 'The response of the webhook to an event that was sent manually'))

const DeliveriesResponse = z
  .object({ deliveries: z.array(EntrySchema) })
  .check(named('Deliveries', 'Attempts, oldest first'))

const DiagnoseBody = z
  .strictObject({
    signature: z.optional(
      NonEmptyText.check(
        z.describe('What the code of the service computed for this delivery: it is explained, and nothing is sent'),
      ),
    ),
  })
  .check(named('Diagnose', 'The body may be left out'))

const Diagnosed = z.object({ code: z.string(), text: z.string(), fix: z.nullable(z.string()) })

const DiagnosisResponse = z
  .object({
    delivery_id: z.string(),
    event: z.string(),
    ...Diagnosed.shape,
    shown_by: z.nullable(z.int().check(z.describe('Seq of the entry that shows it'))),
    facts: z.array(z.string()).check(z.describe('What the journal shows without any trial')),
    answer: z
      .nullable(z.object({ status: z.int(), body: z.string() }))
      .check(z.describe('Of the service to the delivery')),
    signature: z.nullable(z.object({ header: z.string(), value: z.string() })).check(z.describe('As it was sent')),
    probes: z
      .array(
        z.object({
          seq: z.int(),
          code: z.string(),
          text: z.string(),
          status: z.nullable(z.int()),
          accepted: z.boolean(),
        }),
      )
      .check(z.describe('The events that were sent to find out')),
    pasted: z.nullable(Diagnosed).check(z.describe('The explanation of the `signature` of the request')),
  })
  .check(named('RefusalDiagnosis', 'Why a delivery was refused; `text` is one sentence'))

const route = routesOf('journal')

const MANUAL_EVENT_RESPONSE = {
  description: 'The response of the webhook, or why there is none',
  schema: ManualEventResponse,
}
const NOT_NOW = 'There is no chat yet, signatures are off, or the simulator was reset before the webhook responded'

type Delivery = EntryOf<'delivery'>

const isKnown = (event: string): event is WebhookEventName => Object.hasOwn(WEBHOOK_EVENTS, event)

function buildTriggered(core: Core, { event, chat_id, body = {}, sign, ...sending }: TriggerBody): Triggered {
  if (isKnown(event)) {
    const chat = chat_id === undefined ? newestChat(core, event) : getChat(core, chat_id)
    return { event, chatId: chat.id, sign, sending, payload: { ...buildPayload(core.platform, chat, event), ...body } }
  }
  const chatId = chat_id === undefined ? undefined : getChat(core, chat_id).id
  return { event, chatId, sign, sending, payload: { event, ...body } }
}

function newestChat({ platform }: Core, event: string): Chat {
  const chat = [...platform.state.chats.values()].at(-1)
  if (chat !== undefined) return chat
  const message = `${event} needs a chat, and there is none yet: create one with POST /_sim/chats, then try again.`
  throw new ControlProblem(409, 'no_chat', message)
}

/** The response of the webhook; a conflict when the simulator was reset before it. */
function ackResponse(entry: Delivery | null): ControlResponse {
  if (entry === null) throw new ControlProblem(409, 'reset', 'The simulator was reset before the webhook responded.')
  return ok({ delivery_id: entry.delivery_id, ack: wireAck(ackOf(entry)) })
}

function getDelivery({ journal }: Core, id: string): Delivery {
  const past = findPastDelivery(journal, id)
  if (past !== undefined) return past
  const known = [...new Set(journal.query({ kind: 'delivery' }).map(delivery => delivery.delivery_id))]
  const message = `There is no delivery ${JSON.stringify(id)}.${latest('deliveries', known)}`
  throw unknownId('delivery_not_found', 'id', message, known)
}

function latestRefused({ journal }: Core): Delivery {
  const isRefused = ({ outcome, probe, sign = 'valid' }: Delivery) =>
    outcome === 'failed' && probe === undefined && sign === 'valid'
  const delivery = journal.query({ kind: 'delivery' }).findLast(isRefused)
  if (delivery !== undefined) return delivery
  throw new ControlProblem(
    404,
    'delivery_not_found',
    'No delivery was refused so far, so there is nothing to diagnose.',
  )
}

/** Loads the diagnosis at the first use: `handover-sim start` is ready without it. */
async function diagnose(core: Core, id: string, pasted: string | undefined): Promise<ControlResponse> {
  const past = id === 'latest' ? latestRefused(core) : getDelivery(core, id)
  const { platform, access, journal, dispatcher } = core
  const { diagnoseDelivery, explainPasted, signatureSent } = await import('../../../platform/webhooks/diagnosis.ts')
  const botId = platform.state.chats.get(past.chat_id ?? '')?.botId ?? core.identity.bot.id
  const defaults = defaultKnobs()
  const earlier = access.keyring.earlierSigningKey(botId)
  const ports = {
    entries: journal.query(),
    dispatcher,
    knobs: platform.knobs,
    key: access.keyring.signingKey(botId),
    otherKeys: {
      ...(earlier !== null && { 'the key from before the last change': earlier }),
      'the bot API key': platform.knobs['keys.bot'],
      'the default handover API key of the simulator': defaults['keys.handover'],
    },
  }
  const signature = signatureSent(past, platform.knobs)
  const about = { delivery_id: past.delivery_id, event: past.event, signature, answer: responseOf(past) }
  if (pasted !== undefined) {
    const explained = await explainPasted(ports, past, pasted)
    return ok({ ...about, ...explained, shown_by: past.seq, facts: [], probes: [], pasted: explained })
  }
  const diagnosis = await diagnoseDelivery(ports, past)
  if (diagnosis === null) throw new ControlProblem(409, 'reset', 'The simulator was reset before the diagnosis ended.')
  const { shownBy, ...diagnosed } = diagnosis
  return ok({ ...about, ...diagnosed, shown_by: shownBy, pasted: null })
}

const responseOf = ({ status, response }: Delivery) => (status === null ? null : { status, body: response?.body ?? '' })

export type DiagnosisResponse = z.infer<typeof DiagnosisResponse>

export const DELIVERY_ROUTES: readonly ControlRoute[] = [
  route('GET /deliveries', {
    id: 'listDeliveries',
    summary: 'Lists the attempts to deliver events',
    query: DeliveriesQuery,
    responses: { 200: { description: 'Oldest first', schema: DeliveriesResponse } },
    run({ core, query: { after, chat_id, limit } }) {
      const range = { after: after ?? 0, limit: limit ?? Number.POSITIVE_INFINITY, kind: 'delivery' } as const
      const deliveries = core.journal.query({ ...range, ...(chat_id && { chatId: chat_id }) })
      return ok({ deliveries: deliveries.map(presentFor(core)) })
    },
  }),
  route('GET /deliveries/:id', {
    id: 'getDelivery',
    summary: 'Shows the latest attempt of a delivery with its signature as it was sent',
    responses: {
      200: { description: 'The entry; its headers are not masked', schema: EntrySchema },
      404: 'There is no such delivery; lists the latest ones',
    },
    run: ({ core, param }) => ok(getDelivery(core, param('id'))),
  }),
  route('POST /deliveries/:id/resend', {
    id: 'resend',
    summary: 'Sends a past delivery again: the same bytes and headers',
    description:
      'It is sent at once and does not wait for other events. `resign=true` makes new headers with the current key and time. The body may change how it is sent.',
    query: ResendQuery,
    body: ResendBody,
    responses: {
      200: MANUAL_EVENT_RESPONSE,
      404: 'There is no such delivery; lists the latest ones',
      409: 'The simulator was reset before the webhook responded',
      422: 'The body is invalid',
    },
    async run({ core, param, query, body }) {
      const past = getDelivery(core, param('id'))
      return ackResponse(await core.dispatcher.resend(past, query.resign === 'true', body))
    },
  }),
  route('POST /deliveries/:id/diagnose', {
    id: 'diagnose',
    summary: 'Finds out why a delivery was refused: sends up to 28 events with the signatures of usual mistakes',
    description:
      'They are AGENT TYPING STOP, which has no effect on a help desk, and are marked with `probe` in the journal. The accepted one shows the mistake. `latest` as id is the latest refused delivery. With `signature` in the body, nothing is sent: it is explained.',
    body: DiagnoseBody,
    example: { signature: 'c2lnbmF0dXJl' },
    responses: {
      200: { description: 'The cause, or what is known', schema: DiagnosisResponse },
      404: 'There is no such delivery; lists the latest ones',
      409: 'The simulator was reset meanwhile',
      422: 'The body is invalid',
    },
    run: ({ core, param, body: { signature } }) => diagnose(core, param('id'), signature),
  }),
  route('POST /trigger', {
    id: 'trigger',
    summary: 'Sends one event to the webhook, with a valid or an invalid signature; the chat does not change',
    description:
      'An event of the platform has the payload of the chat (by default the newest), with `body` laid over it. Any other name is sent as `{ event, ...body }`. The body may delay, repeat, truncate or corrupt it; faults that are set do not apply to it.',
    body: TriggerBody,
    example: { event: 'MESSAGE FROM USER', body: { message: 'Hello' }, sign: 'tampered' },
    responses: {
      200: MANUAL_EVENT_RESPONSE,
      404: 'There is no such chat',
      409: NOT_NOW,
      422: 'The body is invalid; lists what is allowed',
    },
    async run({ core, body }) {
      if (body.sign !== 'valid' && core.platform.knobs['webhook.signature'] === 'off')
        throw new ControlProblem(409, 'signature_off', signatureOffText(body.sign))
      return ackResponse(await core.dispatcher.trigger(buildTriggered(core, body)))
    },
  }),
]
