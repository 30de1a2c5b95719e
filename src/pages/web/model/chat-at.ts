/** Derives a chat as its end user saw it at any moment, from the entries of its journal. */
import { isMap } from '../../../base/objects.ts'
import type { Button, Sender } from '../../../platform/contract/schemas.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import type { AttachmentView, ChatView, MessageView } from '../../../platform/rules/transcript.ts'

/** A message as the user sees it, or a line between messages. */
export type ChatItem = ChatMessage | ChatLine

export interface ChatMessage extends Pick<MessageView, 'id' | 'from' | 'name' | 'text' | 'original' | 'buttons'> {
  readonly kind: 'message'
  /** The entry that added it; null for the messages with which the chat began. */
  readonly seq: number | null
  readonly avatar: string | null
  readonly attachments: readonly AttachmentView[]
  readonly time: string
  /** Messages of the bot that tell the state of the handover. */
  readonly notice?: 'opened' | 'closed' | 'joined' | 'left'
  /** The journal has only the beginning of its call. */
  readonly isCut?: true
}

export interface ChatLine {
  readonly kind: 'line'
  readonly seq: number
  readonly line: 'pressed' | 'link_opened' | 'ended'
  /** The label of the button, or the address. */
  readonly detail: string
  readonly time: string
}

export interface ChatState {
  readonly items: readonly ChatItem[]
  readonly status: ChatView['status']
  readonly typing: boolean
  /** The agent who has the chat. */
  readonly agent: Pick<Sender, 'name' | 'avatar'> | null
  readonly ended: boolean
  readonly language: string
  readonly source: string
  readonly user: string
  readonly bot: string
}

/** What was there before the entries that the journal has. */
export interface ChatBeginning {
  readonly messages: readonly ChatMessage[]
  /** Whole messages of which the journal has only a part, by id. */
  readonly whole: ReadonlyMap<string, ChatMessage>
  readonly status: ChatState['status']
  readonly typing: boolean
  readonly language: string
  readonly source: string
  readonly user: string
  readonly bot: string
}

/** A chat while entries are applied to it. */
export interface ChatDraft extends Writable<Omit<ChatState, 'items'>> {
  items: ChatItem[]
  /** The latest act of the user or call; its effects follow it. */
  act: Entry | null
  /** The draft before the latest call with faults, which may not have reached the platform. */
  before: Pick<ChatDraft, 'items' | 'typing'> | null
  readonly whole: ReadonlyMap<string, ChatMessage>
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

export const EMPTY_BEGINNING: ChatBeginning = {
  messages: [],
  whole: new Map(),
  status: 'bot',
  typing: false,
  language: '',
  source: '',
  user: '',
  bot: '',
}

export function draftOf({ messages, status, ...beginning } = EMPTY_BEGINNING): ChatDraft {
  const agent = messages.findLast(({ from }) => from === 'agent')
  return {
    ...beginning,
    items: [...messages],
    status,
    agent: status === 'agent' ? { name: agent?.name, avatar: undefined } : null,
    ended: false,
    act: null,
    before: null,
  }
}

/** The state of a draft, which further entries do not change. */
export const stateOf = ({ act: _, before: __, whole: ___, ...draft }: ChatDraft): ChatState => ({
  ...draft,
  items: [...draft.items],
})

export function applyEntry(draft: ChatDraft, entry: Entry): void {
  if (entry.kind === 'user') applyUser(draft, entry)
  else if (entry.kind === 'api') applyCall(draft, entry)
  else if (entry.kind === 'event') applyEvent(draft, entry)
  else if (entry.kind === 'note') {
    if (entry.note === 'bot_message') {
      const notice = noticeOf(draft, entry.cause)
      add(draft, {
        ...{
          id: textOf(entry.message_id),
          seq: entry.seq,
          from: 'bot',
          name: draft.bot,
          avatar: null,
          time: entry.time,
        },
        ...{ text: textOf(entry.text), buttons: buttonsOf(entry.buttons), attachments: [] },
        ...(notice && { notice }),
      })
    } else if (entry.note === 'typing_hidden') draft.typing = false
    else if (entry.note === 'chat_created') {
      draft.language = textOf(entry.language)
      draft.source = textOf(entry.source)
      draft.user = textOf(entry.user_name)
      draft.bot = textOf(entry.bot_name)
    } else if (entry.note === 'taken_over' || entry.note === 'takeover_replaced') {
      draft.status = 'agent'
      draft.agent = agentOf(draft, entry)
    } else if (entry.note === 'handed_back') {
      draft.status = 'bot'
      draft.agent = null
    } else if (entry.note === 'link_opened') {
      // A link that was opened replaces the line of its button.
      const { seq, time, url, cause } = entry
      if (draft.items.at(-1)?.seq === cause) draft.items.pop()
      draft.items.push({ kind: 'line', line: 'link_opened', detail: textOf(url), seq, time })
    } else if (entry.note === 'chat_ended') {
      draft.ended = true
      draft.items.push({ kind: 'line', line: 'ended', detail: '', seq: entry.seq, time: entry.time })
    }
  } else if (entry.kind === 'fault') applyFault(draft, entry)
}

function applyUser(draft: ChatDraft, entry: EntryOf<'user'>): void {
  const { text = '', text_for_agent: original, attachments = [], message_id, seq, time } = entry
  draft.act = entry
  if (entry.action === 'press') {
    draft.items.push({ kind: 'line', line: 'pressed', detail: entry.button ?? '', seq, time })
    return
  }
  add(draft, {
    ...{ id: message_id ?? String(seq), seq, from: 'user', name: draft.user, avatar: null, time },
    ...{ text, buttons: [], attachments },
    ...(original === undefined ? {} : { original }),
  })
}

function add(draft: ChatDraft, message: Omit<ChatMessage, 'kind'>): void {
  draft.ended = false
  if (isInBeginning(draft, message.id)) return
  const whole = message.isCut ? draft.whole.get(message.id) : undefined
  draft.items.push({ kind: 'message', ...(whole ? { ...whole, avatar: message.avatar } : message), seq: message.seq })
}

function isInBeginning({ items }: ChatDraft, id: string): boolean {
  for (const item of items) {
    if (item.seq !== null) return false
    if (item.kind === 'message' && item.id === id) return true
  }
  return false
}

/** Notes say what calls changed, except for messages and the typing indicator. */
function applyCall(draft: ChatDraft, call: EntryOf<'api'>): void {
  draft.before = null
  draft.act = call
  if (call.status >= 400 || call.status === 0) return
  if (call.faults !== undefined) draft.before = { items: [...draft.items], typing: draft.typing }
  if (call.endpoint === 'typing_start') draft.typing = true
  else if (call.endpoint === 'typing_stop') draft.typing = false
  else if (call.endpoint === 'message') {
    const { seq, time, request, response, shown_to_user: shown } = call
    const body = isMap(request.body) ? request.body : {}
    const sender = isMap(body.sender) ? senderOf(body.sender) : null
    const id = isMap(response) ? textOf(response.chatmessage_id) : ''
    const sent = textOf(body.message)
    add(draft, {
      ...{ id: id || String(seq), seq, from: 'agent', attachments: [], time },
      name: shown?.name ?? sender?.name ?? '',
      avatar: sender?.avatar ?? draft.agent?.avatar ?? null,
      text: shown?.text ?? sent,
      ...(shown?.text === undefined ? {} : { original: sent }),
      buttons: buttonsOf(body.buttons),
      ...(request.truncated_from === undefined ? {} : { isCut: true }),
    })
  }
}

/** A fault that answers in place of the platform follows its call. */
function applyFault(draft: ChatDraft, { cause, effect }: EntryOf<'fault'>): void {
  if (draft.before === null || draft.act?.seq !== cause) return
  if (effect.respond !== undefined || effect.drop === 'before') Object.assign(draft, draft.before)
}

function applyEvent(draft: ChatDraft, { event, cause }: EntryOf<'event'>): void {
  if (event !== 'REQUESTING TAKEOVER') return
  if (draft.status === 'bot') draft.status = 'pending'
  const last = draft.items.at(-1)
  if (last?.kind === 'message' && last.notice === 'closed' && draft.act?.seq === cause)
    draft.items[draft.items.length - 1] = { ...last, notice: 'opened' }
}

/** Which notice a message of the bot is, by the act that caused it. A request that is accepted has an event after it. */
function noticeOf({ act }: ChatDraft, cause: number | null): ChatMessage['notice'] | null {
  if (act === null || act.seq !== cause) return null
  if (act.kind === 'user') return act.action === 'press' ? 'closed' : null
  if (act.kind !== 'api') return null
  return act.endpoint === 'start' ? 'joined' : act.endpoint === 'end' ? 'left' : null
}

/** The note has the name, the call has the picture. */
function agentOf({ act }: ChatDraft, { cause, by }: EntryOf<'note'>): ChatState['agent'] {
  const body = act?.kind === 'api' && act.seq === cause && isMap(act.request.body) ? act.request.body : {}
  return { ...(isMap(body.sender) && senderOf(body.sender)), name: typeof by === 'string' ? by : undefined }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const buttonsOf = (value: unknown): readonly Button[] => (Array.isArray(value) ? value.filter(isMap) : [])

const senderOf = ({ name, avatar }: Readonly<Record<string, unknown>>): Pick<Sender, 'name' | 'avatar'> => ({
  name: typeof name === 'string' ? name : undefined,
  avatar: typeof avatar === 'string' ? avatar : undefined,
})
