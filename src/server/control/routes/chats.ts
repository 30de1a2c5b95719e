/** Creates and shows chats, and performs the actions of their end users. */
import * as z from 'zod/mini'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { withoutUndefined } from '../../../base/objects.ts'
import { typed } from '../../../base/schemas/definitions.ts'
import { KB_EXPECTED, KB_SHAPE, parseKb } from '../../../base/text/quantities.ts'
import { Attachment, Button, named } from '../../../platform/contract/schemas.ts'
import { fileContents, findFile } from '../../../platform/rules/files.ts'
import { type ChatView, chatSummary, viewMessage } from '../../../platform/rules/transcript.ts'
import { type Ack, type AttachmentInput, toFile, waitForAck } from '../../../platform/simulator/chat-handle.ts'
import { newChat, userFromWire } from '../../../platform/simulator/new-chat.ts'
import { predicateSchema } from '../../../platform/simulator/setting-schemas.ts'
import { ControlProblem, readMoment, resetProblem } from '../problems.ts'
import {
  type ControlRequest,
  type ControlResponse,
  type ControlRoute,
  MomentQuery,
  NonEmptyText,
  ok,
  routesOf,
} from '../route.ts'

const HistoryRow = z.union(
  [
    z.strictObject({ user: z.string() }),
    z.strictObject({ bot: z.string(), buttons: z.optional(z.array(Button)) }),
    z.strictObject({ agent: z.string(), text: z.string() }),
  ],
  { error: 'one of { user }, { bot, buttons? }, { agent, text }' },
)

const CreateChatBody = z
  .strictObject({
    language: z.optional(NonEmptyText),
    source: z.optional(NonEmptyText),
    user: z.optional(
      z.nullable(
        z.strictObject({
          id: z.optional(NonEmptyText),
          first_name: z.optional(z.string()),
          last_name: z.optional(z.string()),
          gender: z.optional(z.string()),
        }),
      ),
    ),
    history: z.optional(z.array(HistoryRow)),
    transcript: z.optional(NonEmptyText.check(z.describe('A shipped conversation such as nb-shop'))),
    context: z.optional(z.record(z.string(), z.unknown())),
    labels: z.optional(z.array(z.string())),
    bot_id: z.optional(z.int()),
    id: z.optional(NonEmptyText.check(z.describe('By default a generated id'))),
  })
  .check(named('NewChat', 'What is left out is generated from the seed; `user: null` is a user without known data'))

const AttachmentBody = z
  .strictObject({
    name: NonEmptyText,
    type: NonEmptyText.check(z.regex(/^[\x20-\x7e]+$/)),
    size_kb: z.optional(
      typed<number | string>(
        predicateSchema(
          value => parseKb(value) !== undefined,
          () => KB_EXPECTED,
          KB_SHAPE,
        ),
      ),
    ),
    base64: z.optional(z.base64()),
  })
  .check(
    z.refine(file => (file.size_kb === undefined) !== (file.base64 === undefined), {
      error: 'must have either size_kb (bytes are generated) or base64',
      params: { problem: 'incomplete' },
    }),
    named('AttachmentInput', 'Either size_kb (bytes are generated) or base64'),
  )

const UserMessageBody = z
  .strictObject({ text: z._default(z.string(), ''), attachments: z.optional(z.array(AttachmentBody)) })
  .check(named('UserMessage', 'A message of the end user: a text, files, or both'))
type UserMessageBody = z.infer<typeof UserMessageBody>

const UserMessageForm = z
  .strictObject({ text: z._default(z.string(), ''), files: z.optional(z.array(z.file())) })
  .check(named('UserMessageForm', 'A message as a form that contains the files'))
type UserMessageForm = z.infer<typeof UserMessageForm>

const PressButtonBody = z
  .strictObject({ button: NonEmptyText })
  .check(named('PressButton', '`handover`, or the label of a visible button'))

const ActionQuery = z.strictObject({
  wait: z.optional(z.enum(['ack']).check(z.describe('Respond after the webhook did'))),
})

const CreateChatResponse = z
  .object({ chat_id: z.string(), user_id: z.string(), bot_id: z.int(), url: z.string() })
  .check(named('CreatedChat', '`url` is the address of the chat in the control API'))

const summary = {
  chat_id: z.string(),
  user_id: z.string(),
  bot_id: z.int(),
  language: z.string(),
  source: z.string(),
  status: z.enum(['bot', 'pending', 'agent']),
  typing: z.boolean(),
  active: z.boolean(),
}

export const ChatSummary = z.object(summary).check(named('ChatSummary', 'A chat without its messages'))

const MessageView = z
  .object({
    id: z.string(),
    from: z.enum(['user', 'bot', 'agent']),
    name: z.string(),
    text: z.string(),
    original: z.optional(z.string().check(z.describe('The other side of a live translation'))),
    buttons: z.array(Button),
    attachments: z.array(Attachment),
    created: z.string(),
  })
  .check(named('MessageView', 'One message as the end user sees it'))

const ChatViewResponse = z
  .object({
    ...summary,
    agent: z
      .nullable(z.object({ name: z.optional(z.string()), avatar: z.optional(z.string()) }))
      .check(z.describe('The agent who has the chat; null while the bot answers')),
    messages: z.array(MessageView),
  })
  .check(named('ChatView', 'A chat as its end user sees it, oldest message first'))

export type ChatViewResponse = z.infer<typeof ChatViewResponse>

const ChatListResponse = z.object({ chats: z.array(ChatSummary) }).check(named('Chats', 'Every chat, oldest first'))

export type ChatListResponse = z.infer<typeof ChatListResponse>

export const AckResponse = z
  .object({ status: z.nullable(z.int()), duration_ms: z.number(), error: z.optional(z.string()) })
  .check(named('Ack', 'The response of the webhook; `error` says why it does not acknowledge the event'))

const ActionResponse = z
  .object({
    message_id: z.nullable(z.string()),
    delivery_id: z.nullable(z.string()),
    ack: z.optional(z.nullable(AckResponse)),
  })
  .check(named('ActionResult', '`ack` is present with `wait=ack`, and null when no event was sent'))

const route = routesOf('chats')

export const MOMENT_DROPPED = 'The moment is before the oldest one that is known; says which that is'
const NO_CHAT = 'There is no such chat'
const REFUSED = 'The action is not possible; the message says why'
const WAS_RESET = 'The simulator was reset before the action was done'
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
    throw resetProblem()
  }
}

async function fromUpload(file: File): Promise<AttachmentInput> {
  const type = file.type === '' ? 'application/octet-stream' : file.type
  return { name: file.name, type, bytes: new Uint8Array(await file.arrayBuffer()) }
}

async function readAttachments(body: UserMessageBody | UserMessageForm): Promise<AttachmentInput[]> {
  if ('files' in body && body.files) return Promise.all(body.files.map(fromUpload))
  const described = ('attachments' in body && body.attachments) || []
  return described.map(({ name, type, size_kb, base64 }) =>
    base64 === undefined
      ? { name, type, size_kb: size_kb ?? 0 }
      : { name, type, bytes: new Uint8Array(Buffer.from(base64, 'base64')) },
  )
}

/** Downloaded, and never shown as a page: the file shares its origin with the control API. */
function fileResponse({ core: { platform }, param }: ControlRequest<unknown, unknown>): Response {
  const file = findFile(platform, param('file'))
  if (file === undefined)
    throw new ControlProblem(404, 'file_not_found', `There is no file ${JSON.stringify(param('file'))}.`)
  const contents = fileContents(file)
  return new Response(new Uint8Array(contents), {
    headers: {
      'content-length': String(contents.length),
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
    },
  })
}

export const CHAT_ROUTES: readonly ControlRoute[] = [
  route('POST /chats', {
    id: 'createChat',
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
  route('GET /chats', {
    id: 'listChats',
    summary: 'Lists all chats',
    responses: { 200: { description: 'Oldest first', schema: ChatListResponse } },
    run: ({ core }) =>
      ok({ chats: [...core.platform.state.chats.values()].map(chat => wireSummary(chatSummary(chat))) }),
  }),
  route('GET /chats/:id', {
    id: 'getChat',
    summary: 'Shows a chat as its end user sees it, now or at an earlier moment',
    query: MomentQuery,
    responses: {
      200: { description: 'The chat', schema: ChatViewResponse },
      404: 'There is no such chat, or it was created later',
      410: MOMENT_DROPPED,
    },
    run({ core, param, query }: ControlRequest<MomentQuery, unknown>) {
      const id = param('id')
      const seq = readMoment(core, query)
      const now = core.platform.state.chats.get(id)
      if (now === undefined) throw new ControlProblem(404, 'chat_not_found', `There is no chat ${JSON.stringify(id)}.`)
      const chat = seq === null ? now : core.moments.chatAt(now, seq)
      if (chat === null)
        throw new ControlProblem(404, 'chat_not_found', `Chat ${JSON.stringify(id)} was created after entry ${seq}.`)
      const { name, avatar } = chat.takeover?.sender ?? {}
      const agent = chat.takeover === null ? null : withoutUndefined({ name, avatar })
      return ok({
        ...wireSummary(chatSummary(chat)),
        agent,
        messages: chat.messages.map(message => viewMessage(core.platform, chat, message)),
      })
    },
  }),
  route('GET /files/:file', {
    id: 'getFile',
    summary: 'Downloads a file that an end user sent, without an entry in the journal',
    description: '`file` is the segment of the `url` of the attachment that follows `/files/`.',
    responses: {
      200: { description: 'The bytes', schema: null, type: 'application/octet-stream' },
      404: 'There is no such file',
    },
    run: fileResponse,
  }),
  route('POST /chats/:id/messages', {
    id: 'say',
    summary: 'Sends a message of the end user',
    description: WAITING,
    query: ActionQuery,
    body: UserMessageBody,
    upload: UserMessageForm,
    maxBytes: BUDGETS.messageBytes,
    example: { text: 'Where is my parcel?' },
    responses: { 200: { description: 'Written', schema: ActionResponse }, 404: NO_CHAT, 409: WAS_RESET, 422: REFUSED },
    async run(call: ControlRequest<{ wait?: 'ack' | undefined }, UserMessageBody | UserMessageForm>) {
      const attach = (await readAttachments(call.body)).map(toFile)
      return performAction(call, () => call.core.user.says(call.param('id'), { text: call.body.text, attach }))
    },
  }),
  route('POST /chats/:id/press', {
    id: 'press',
    summary: 'Presses a button as the end user',
    description: `\`handover\` can always be pressed. ${WAITING}`,
    query: ActionQuery,
    body: PressButtonBody,
    example: { button: 'handover' },
    responses: { 200: { description: 'Pressed', schema: ActionResponse }, 404: NO_CHAT, 409: WAS_RESET, 422: REFUSED },
    run: call => performAction(call, () => call.core.user.press(call.param('id'), call.body.button)),
  }),
  route('POST /chats/:id/close', {
    id: 'closeChat',
    summary: 'Ends the chat as the end user, who may come back by writing in it',
    description: 'The knobs `chat.closed` and `chat.reopens` say what follows. Sends no event.',
    query: ActionQuery,
    responses: { 200: { description: 'Closed', schema: ActionResponse }, 404: NO_CHAT, 409: WAS_RESET },
    run: call => performAction(call, () => call.core.user.closes(call.param('id'))),
  }),
  route('POST /chats/:id/delete', {
    id: 'deleteChat',
    summary: 'Deletes the log of the chat as the end user, and ends the chat',
    description: 'The knobs `chat.deleted` and `chat.reopens` say what follows. Sends no event.',
    query: ActionQuery,
    responses: { 200: { description: 'Deleted', schema: ActionResponse }, 404: NO_CHAT, 409: WAS_RESET },
    run: call => performAction(call, () => call.core.user.deletes(call.param('id'))),
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
