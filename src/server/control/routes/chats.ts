/** Creates and shows chats, and performs the actions of their end users. */
import { type ChatView, chatSummary, viewChat } from '../../../platform/transcript.ts'
import { type Ack, type AttachmentInput, toFile, waitForAck } from '../../../simulator/chat-handle.ts'
import { newChat, userFromWire } from '../../../simulator/new-chat.ts'
import { ControlProblem } from '../problems.ts'
import { ActionQuery, CreateChatBody, PressButtonBody, UserMessageBody, UserMessageForm } from '../request-schemas.ts'
import {
  ActionResponse,
  ChatListResponse,
  ChatViewResponse,
  ControlErrorResponse,
  CreateChatResponse,
} from '../response-schemas.ts'
import { type ControlRequest, type ControlResponse, type ControlRoute, defineRoute, ok } from '../route.ts'

const NO_CHAT = { description: 'There is no such chat', schema: ControlErrorResponse }
const REFUSED = { description: 'The action is not possible; the message says why', schema: ControlErrorResponse }
const WAS_RESET = { description: 'The simulator was reset before the action was done', schema: ControlErrorResponse }
const WAITING = 'With `wait=ack` the response comes after that of the webhook.'

interface Outcome {
  readonly messageId: string | null
  readonly deliveryId: string | null
}

/** Performs an action and, with `wait=ack`, waits for the response of the webhook. */
async function performAction(
  call: ControlRequest<{ wait?: 'ack' | undefined }, unknown>,
  start: () => Outcome | Promise<Outcome>,
): Promise<ControlResponse> {
  const { core, query, param } = call
  const after = core.journal.nextSeq - 1
  const chat = core.platform.state.chats.get(param('id'))
  try {
    const { messageId, deliveryId } = await start()
    const done = { message_id: messageId, delivery_id: deliveryId }
    if (query.wait !== 'ack') return ok(done)
    const ack = await waitForAck(core, deliveryId, after)
    return ok({ ...done, ack: ack && wireAck(ack) })
  } catch (error) {
    // Only a reset removes a chat.
    if (chat === core.platform.state.chats.get(param('id'))) throw error
    throw new ControlProblem(409, 'reset', 'The simulator was reset before this was done.')
  }
}

async function fromUpload(file: File): Promise<AttachmentInput> {
  const type = file.type === '' ? 'application/octet-stream' : file.type
  return { name: file.name, type, bytes: new Uint8Array(await file.arrayBuffer()) }
}

async function attachmentsOf(body: UserMessageBody | UserMessageForm): Promise<AttachmentInput[]> {
  if ('files' in body && body.files) return Promise.all(body.files.map(fromUpload))
  const described = ('attachments' in body && body.attachments) || []
  return described.map(({ name, type, size_kb, base64 }) =>
    base64 === undefined
      ? { name, type, size_kb: size_kb ?? 0 }
      : { name, type, bytes: new Uint8Array(Buffer.from(base64, 'base64')) },
  )
}

export const CHAT_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'createChat',
    group: 'chats',
    method: 'POST',
    path: '/chats',
    summary: 'Creates a chat with a new end user',
    body: CreateChatBody,
    example: { language: 'nb', labels: ['delivery'] },
    responses: { 201: { description: 'Created', schema: CreateChatResponse }, 422: REFUSED },
    async run({ core, control, body: { bot_id: botId, user, ...options } }) {
      const chat = await newChat(core, { ...options, botId, user: userFromWire(user) } as never)
      const at = `${control}/chats/${encodeURIComponent(chat.id)}`
      return { status: 201, body: { chat_id: chat.id, user_id: chat.userId, bot_id: chat.botId, url: at } }
    },
  }),
  defineRoute({
    id: 'listChats',
    group: 'chats',
    method: 'GET',
    path: '/chats',
    summary: 'Lists all chats',
    responses: { 200: { description: 'Oldest first', schema: ChatListResponse } },
    run: ({ core }) =>
      ok({ chats: [...core.platform.state.chats.values()].map(chat => wireSummary(chatSummary(chat))) }),
  }),
  defineRoute({
    id: 'getChat',
    group: 'chats',
    method: 'GET',
    path: '/chats/:id',
    summary: 'Shows a chat as its end user sees it',
    responses: { 200: { description: 'The chat', schema: ChatViewResponse }, 404: NO_CHAT },
    run({ core, param }) {
      const chat = core.platform.state.chats.get(param('id'))
      if (chat) return ok(wireChat(viewChat(core.platform, chat)))
      throw new ControlProblem(404, 'chat_not_found', `There is no chat ${JSON.stringify(param('id'))}.`)
    },
  }),
  defineRoute({
    id: 'say',
    group: 'chats',
    method: 'POST',
    path: '/chats/:id/messages',
    summary: 'Sends a message of the end user',
    description: WAITING,
    query: ActionQuery,
    body: UserMessageBody,
    upload: UserMessageForm,
    example: { text: 'Where is my parcel?' },
    responses: { 200: { description: 'Written', schema: ActionResponse }, 404: NO_CHAT, 409: WAS_RESET, 422: REFUSED },
    async run(call: ControlRequest<{ wait?: 'ack' | undefined }, UserMessageBody | UserMessageForm>) {
      const attach = (await attachmentsOf(call.body)).map(toFile)
      return performAction(call, () => call.core.user.says(call.param('id'), { text: call.body.text, attach }))
    },
  }),
  defineRoute({
    id: 'press',
    group: 'chats',
    method: 'POST',
    path: '/chats/:id/press',
    summary: 'Presses a button as the end user',
    description: `\`handover\` can always be pressed. ${WAITING}`,
    query: ActionQuery,
    body: PressButtonBody,
    example: { button: 'handover' },
    responses: { 200: { description: 'Pressed', schema: ActionResponse }, 404: NO_CHAT, 409: WAS_RESET, 422: REFUSED },
    run: call => performAction(call, () => call.core.user.press(call.param('id'), call.body.button)),
  }),
]

export const wireAck = ({ status, durationMs, error }: Ack) => ({
  status,
  duration_ms: durationMs,
  ...(error === undefined ? {} : { error }),
})

export const wireSummary = ({ chatId, userId, botId, ...rest }: Omit<ChatView, 'messages'>) => ({
  chat_id: chatId,
  user_id: userId,
  bot_id: botId,
  ...rest,
})

export const wireChat = ({ messages, ...summary }: ChatView) => ({ ...wireSummary(summary), messages })
