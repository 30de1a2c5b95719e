/** Which chat and which bytes an event sent by hand is made of, and what came of it. */
import { WEBHOOK_EVENTS, type WebhookEventName } from '../../contract/events.ts'
import type { SignMode } from '../../contract/sign-modes.ts'
import type { EntryOf } from '../../journal/entry.ts'
import { payloadOf } from '../../platform/events.ts'
import type { Chat } from '../../platform/state.ts'
import { ackOf } from '../../simulator/chat-handle.ts'
import type { Core } from '../../simulator/core.ts'
import { nearest } from '../../text/near-names.ts'
import { findDelivery, type Triggered } from '../../webhooks/manual.ts'
import { ControlProblem } from './problems.ts'
import type { Resend, Trigger } from './request-schemas.ts'
import { ok, type Reply } from './route.ts'

type Delivery = EntryOf<'delivery'>

const isKnown = (event: string): event is WebhookEventName => Object.hasOwn(WEBHOOK_EVENTS, event)

export async function trigger(core: Core, wanted: Trigger): Promise<Reply> {
  refuseWithoutSignatures(core, wanted.sign)
  return answered(await core.manualEvents.trigger(eventOf(core, wanted)))
}

function eventOf(core: Core, { event, chat_id, body = {}, sign, ...sending }: Trigger): Triggered {
  if (isKnown(event)) {
    const chat = chat_id === undefined ? newestChat(core, event) : chatOf(core, chat_id)
    return { event, chatId: chat.id, sign, sending, payload: { ...payloadOf(core.platform, chat, event), ...body } }
  }
  const chatId = chat_id === undefined ? undefined : chatOf(core, chat_id).id
  return { event, chatId, sign, sending, payload: { event, ...body } }
}

/** Without a signature there is nothing that could be wrong with it. */
function refuseWithoutSignatures({ platform }: Core, sign: SignMode): void {
  if (sign === 'valid' || platform.knobs['webhook.signature'] !== 'off') return
  const message = `sign ${sign} means nothing while webhook.signature is off; set it to base64 or hex first.`
  throw new ControlProblem(409, 'signature_off', message)
}

function newestChat({ platform }: Core, event: string): Chat {
  const chat = [...platform.state.chats.values()].at(-1)
  if (chat !== undefined) return chat
  const message = `${event} is about a chat, and there is none yet: make one with POST /_sim/chats, then try again.`
  throw new ControlProblem(409, 'no_chat', message)
}

const LISTED = 5

export function chatOf({ platform }: Core, id: string): Chat {
  const chat = platform.state.chats.get(id)
  if (chat !== undefined) return chat
  const known = [...platform.state.chats.keys()]
  const message = `There is no chat ${JSON.stringify(id)}${nearest(id, known) || '.'}${latest('chats', known)}`
  throw unknownId('chat_not_found', 'chat_id', message, known)
}

export async function resend(core: Core, id: string, resign: boolean, sending: Resend): Promise<Reply> {
  const past = findDelivery(core.journal, id)
  if (past !== undefined) return answered(await core.manualEvents.resend(past, resign, sending))
  const known = [...new Set((core.journal.query({ kind: 'delivery' }) as Delivery[]).map(one => one.delivery_id))]
  const message = `There is no delivery ${JSON.stringify(id)}.${latest('deliveries', known)}`
  throw unknownId('delivery_not_found', 'id', message, known)
}

/** Newest first, few enough to read. */
const newest = (ids: readonly string[]): string[] => ids.slice(-LISTED).reverse()

const latest = (what: string, ids: readonly string[]): string =>
  ids.length === 0 ? ` There are no ${what} yet.` : ` The latest ${what}: ${newest(ids).join(', ')}.`

export function unknownId(code: string, field: string, message: string, ids: readonly string[]): ControlProblem {
  return new ControlProblem(404, code, message, { issues: [{ field, message, allowed: newest(ids) }] })
}

/** What the webhook answered; nothing when a reset came first. */
function answered(entry: Delivery | null): Reply {
  if (entry === null) throw new ControlProblem(409, 'reset', 'The simulator was reset before the webhook answered.')
  return ok({ delivery_id: entry.delivery_id, ack: ackOf(entry) })
}
