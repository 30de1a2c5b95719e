/** Maps each endpoint to one call into the platform; key and body are valid at this point. */
import type {
  AvailabilityRequest,
  ChatRequest,
  EndpointId,
  EndRequest,
  MessageRequest,
  StartRequest,
  TypingStartRequest,
} from '../contract/endpoints.ts'
import { updateAvailability } from '../platform/availability.ts'
import { botById, requireChat, unknownChat } from '../platform/chats.ts'
import { andThen, type Maybe, summarized, translated } from '../platform/engines.ts'
import { checkMessage, endHandover, sendMessage, startHandover } from '../platform/handover.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Chat } from '../platform/state.ts'
import { summaryInput } from '../platform/summary.ts'
import type { Transaction } from '../platform/transaction.ts'
import { chatTranscript, handoverTranscript } from '../platform/transcript.ts'
import { toUser } from '../platform/translation.ts'
import { startTyping, stopTyping } from '../platform/typing.ts'
import type { ApiPorts } from './call.ts'
import type { Grant } from './keyring.ts'
import type { ApiRoute } from './routes.ts'

export interface Operation {
  readonly ports: ApiPorts
  readonly grant: Grant
  readonly route: ApiRoute
  readonly body: unknown
  readonly transaction: Transaction
}

type Run = (operation: Operation) => Maybe<unknown>

const chatOf = ({ ports, grant, body }: Operation): Chat => {
  const { bot_id, chat_id } = body as ChatRequest
  return requireChat(ports.platform, grant.botId, bot_id, chat_id)
}

/** An operation on the chat its body names. */
const onChat =
  <B>(run: (operation: Operation, chat: Chat, body: B) => unknown): Run =>
  operation =>
    run(operation, chatOf(operation), operation.body as B)

export const OPERATIONS: Record<EndpointId, Run> = {
  transcript: onChat(({ ports, transaction }, chat) => handoverTranscript(ports.platform, chat, transaction)),
  summarize,
  availability: ({ ports, grant, body, transaction }) =>
    updateAvailability(ports.platform, botById(ports.platform, grant.botId), body as AvailabilityRequest, transaction),
  start: onChat<StartRequest>(({ ports, transaction }, chat, body) =>
    startHandover(ports.platform, chat, body, transaction),
  ),
  end: onChat<EndRequest>(({ ports, transaction }, chat, body) => endHandover(ports.platform, chat, body, transaction)),
  message,
  typing_start: onChat<TypingStartRequest>(({ ports, transaction }, chat, body) =>
    startTyping(ports.platform, chat, body, transaction),
  ),
  typing_stop: onChat<ChatRequest>(({ ports, transaction }, chat, body) =>
    stopTyping(ports.platform, chat, body, transaction),
  ),
  chat: readChat,
}

/** Sends the messages of a chat one after the other. A message that a reset interrupts never reaches a chat created after the reset. */
function message(operation: Operation): Maybe<unknown> {
  const { ports, transaction } = operation
  const body = operation.body as MessageRequest
  const epoch = ports.epoch()
  return ports.inOrder(body.chat_id, () => {
    if (ports.epoch() !== epoch) throw overtaken()
    const chat = chatOf(operation)
    checkMessage(ports.platform, chat, body, transaction)
    const shown = translated(ports.engines, toUser(chat, body.message), body.message)
    return andThen(shown, text => {
      if (ports.epoch() !== epoch) throw overtaken()
      return sendMessage(ports.platform, chat, body, text, transaction)
    })
  })
}

const overtaken = () => new Error('The simulator was reset while this message was in flight.')

function summarize(operation: Operation): Maybe<unknown> {
  const { ports, transaction } = operation
  const chat = chatOf(operation)
  const input = summaryInput(ports.platform, chat, transaction)
  const latency = ports.platform.knobs['summarize.latency']
  const waited = latency === 0 ? undefined : ports.delay(latency)
  const summary = andThen(waited, () => summarized(ports.engines, input))
  return andThen(summary, text => ({ event: 'SUMMARIZED', chat_id: chat.id, summary: text }))
}

function readChat({ ports, grant, route, transaction }: Operation): unknown {
  const id = route.chatId ?? ''
  const chat = ports.platform.state.chats.get(id)
  if (chat === undefined) throw unknownChat(ports.platform, id, JSON.stringify(id), 'chatId')
  if (chat.botId !== grant.botId) {
    const status = Number(ports.platform.knobs['errors.idMismatch'])
    throw new Refusal('id_mismatch', 'The chat belongs to another bot than this key.', { field: 'chatId', status })
  }
  return chatTranscript(ports.platform, chat, transaction)
}
