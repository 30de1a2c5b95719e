/** What each endpoint does, once key and body are known to be good: one call into the platform. */
import type { EndpointId } from '../contract/endpoints.ts'
import type {
  AvailabilityRequest,
  ChatRequest,
  EndRequest,
  MessageRequest,
  StartRequest,
  TypingStartRequest,
} from '../contract/requests.ts'
import { updateAvailability } from '../platform/availability.ts'
import { requireChat, unknownChat } from '../platform/chats.ts'
import { andThen, type Maybe, summarized, translated } from '../platform/engines.ts'
import { checkMessage, endHandover, sendMessage, startHandover } from '../platform/handover.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Chat } from '../platform/state.ts'
import { summaryInput } from '../platform/summary.ts'
import type { Tx } from '../platform/transaction.ts'
import { chatTranscript, handoverTranscript } from '../platform/transcript.ts'
import { toUser } from '../platform/translation.ts'
import { startTyping, stopTyping } from '../platform/typing.ts'
import type { Grant } from './keyring.ts'
import type { ApiPorts } from './ports.ts'
import type { Route } from './routes.ts'

export interface Operation {
  readonly ports: ApiPorts
  readonly grant: Grant
  readonly route: Route
  readonly body: unknown
  readonly tx: Tx
}

type Run = (operation: Operation) => Maybe<unknown>

const chatOf = ({ ports, grant, body }: Operation): Chat => {
  const { bot_id, chat_id } = body as ChatRequest
  return requireChat(ports.room, grant.botId, bot_id, chat_id)
}

/** An operation on the chat its body names. */
const onChat =
  <B>(run: (operation: Operation, chat: Chat, body: B) => unknown): Run =>
  operation =>
    run(operation, chatOf(operation), operation.body as B)

export const OPERATIONS: Record<EndpointId, Run> = {
  transcript: onChat(({ ports, tx }, chat) => handoverTranscript(ports.room, chat, tx)),
  summarize,
  availability: ({ ports, grant, body, tx }) =>
    updateAvailability(ports.room, ports.room.state.bots.get(grant.botId)!, body as AvailabilityRequest, tx),
  start: onChat<StartRequest>(({ ports, tx }, chat, body) => startHandover(ports.room, chat, body, tx)),
  end: onChat<EndRequest>(({ ports, tx }, chat, body) => endHandover(ports.room, chat, body, tx)),
  message,
  typing_start: onChat<TypingStartRequest>(({ ports, tx }, chat, body) => startTyping(ports.room, chat, body, tx)),
  typing_stop: onChat<ChatRequest>(({ ports, tx }, chat, body) => stopTyping(ports.room, chat, body, tx)),
  chat: readChat,
}

/** A chat's messages go one by one; what a reset overtakes reaches no chat made after it. */
function message(operation: Operation): Maybe<unknown> {
  const { ports, tx } = operation
  const body = operation.body as MessageRequest
  const epoch = ports.epoch()
  return ports.inOrder(body.chat_id, () => {
    if (ports.epoch() !== epoch) throw overtaken()
    const chat = chatOf(operation)
    checkMessage(ports.room, chat, body, tx)
    const shown = translated(ports.engines, toUser(chat, body.message), body.message)
    return andThen(shown, text => {
      if (ports.epoch() !== epoch) throw overtaken()
      return sendMessage(ports.room, chat, body, text, tx)
    })
  })
}

const overtaken = () => new Error('The simulator was reset while this message was in flight.')

function summarize(operation: Operation): Maybe<unknown> {
  const { ports, tx } = operation
  const chat = chatOf(operation)
  const input = summaryInput(ports.room, chat, tx)
  const latency = ports.room.knobs['summarize.latency']
  const waited = latency === 0 ? undefined : ports.delay(latency)
  const summary = andThen(waited, () => summarized(ports.engines, input))
  return andThen(summary, text => ({ event: 'SUMMARIZED', chat_id: chat.id, summary: text }))
}

function readChat({ ports, grant, route, tx }: Operation): unknown {
  const id = route.chatId!
  const chat = ports.room.state.chats.get(id)
  if (chat === undefined) throw unknownChat(ports.room, id, JSON.stringify(id), 'chatId')
  if (chat.botId !== grant.botId) {
    const status = Number(ports.room.knobs['errors.idMismatch'])
    throw new Refusal('id_mismatch', 'The chat belongs to another bot than this key.', { field: 'chatId', status })
  }
  return chatTranscript(ports.room, chat, tx)
}
