/** Derives a chat as its end user saw it at any moment, from the entries of its journal. */

import { isMap } from '../../contract/objects.ts'
import type { Button, Sender } from '../../contract/schemas.ts'
import type { Entry, EntryOf } from '../../journal/entry.ts'
import type { MessageView } from '../../platform/transcript.ts'

/** A message as the user sees it, or a line between messages. */
export type ChatItem = ChatMessage | ChatLine

export interface ChatMessage extends Pick<MessageView, 'from' | 'name' | 'text' | 'original' | 'buttons'> {
  readonly kind: 'message'
  readonly id: string
  /** The entry that added it; null for the history with which the chat began. */
  readonly seq: number | null
  readonly avatar: string | null
  readonly attachments: readonly ChatFile[]
  readonly time: string
}

export interface ChatFile {
  readonly name: string
  readonly type: string
  readonly size_kb: number
  readonly url?: string | undefined
}

export interface ChatLine {
  readonly kind: 'line'
  readonly seq: number
  readonly line: 'pressed' | 'taken_over' | 'handed_back' | 'ended' | 'link_opened'
  /** The agent, the reason, or the address. */
  readonly detail: string | null
  readonly time: string
}

export interface ChatState {
  readonly items: readonly ChatItem[]
  readonly status: 'bot' | 'pending' | 'agent'
  readonly typing: boolean
  /** The agent who has the chat. */
  readonly agent: Pick<Sender, 'name' | 'avatar'> | null
  readonly ended: boolean
}

interface Draft {
  items: ChatItem[]
  status: ChatState['status']
  typing: boolean
  agent: ChatState['agent']
  ended: boolean
}

/** `history` are the messages that the journal does not have. `entries` are those of one chat, up to the moment. */
export function chatAt(entries: readonly Entry[], history: readonly ChatMessage[] = []): ChatState {
  const draft: Draft = { items: [...history], status: 'bot', typing: false, agent: null, ended: false }
  for (const entry of entries) apply(draft, entry)
  return draft
}

function apply(draft: Draft, entry: Entry): void {
  if (entry.kind === 'user') applyUser(draft, entry)
  else if (entry.kind === 'api') applyCall(draft, entry)
  else if (entry.kind === 'event' && entry.event === 'MESSAGE FROM USER') applyEvent(draft, entry)
  else if (entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') request(draft)
  else if (entry.kind === 'note') applyNote(draft, entry)
}

function applyUser(draft: Draft, entry: EntryOf<'user'>): void {
  draft.ended = false
  const { text = '', attachments = [], message_id, seq, time } = entry
  if (entry.action === 'press') {
    draft.items.push({ kind: 'line', line: 'pressed', detail: entry.button ?? null, seq, time })
    return
  }
  const own = { from: 'user', name: '', avatar: null, buttons: [] } as const
  draft.items.push({ kind: 'message', id: message_id ?? String(seq), seq, text, attachments, time, ...own })
}

/** The event has the text for the agent and the addresses of the files. */
function applyEvent({ items }: Draft, { payload }: EntryOf<'event'>): void {
  const index = items.findLastIndex(item => item.kind === 'message' && item.from === 'user')
  const item = items[index]
  if (item?.kind !== 'message' || !('message' in payload)) return
  const original = payload.message === item.text ? undefined : payload.message
  const files = Array.isArray(payload.attachments) ? payload.attachments : item.attachments
  items[index] = { ...item, attachments: files, ...(original === undefined ? {} : { original }) }
}

function request(draft: Draft): void {
  if (draft.status === 'bot') draft.status = 'pending'
}

function applyCall(draft: Draft, entry: EntryOf<'api'>): void {
  if (entry.status >= 400 || entry.status === 0) return
  const body = isMap(entry.request.body) ? entry.request.body : {}
  const sender = isMap(body.sender) ? agentOf(body.sender) : null
  if (entry.endpoint === 'start') {
    draft.status = 'agent'
    draft.agent = sender ?? { name: undefined, avatar: undefined }
  } else if (entry.endpoint === 'end' && draft.status === 'agent') {
    draft.status = 'bot'
    draft.agent = null
    draft.typing = false
  } else if (entry.endpoint === 'typing_start') draft.typing = true
  else if (entry.endpoint === 'typing_stop') draft.typing = false
  else if (entry.endpoint === 'message') addAgentMessage(draft, entry, body, sender)
}

function addAgentMessage(
  draft: Draft,
  { seq, time, response }: EntryOf<'api'>,
  body: Readonly<Record<string, unknown>>,
  sender: ChatState['agent'],
): void {
  const shown = sender ?? draft.agent
  const id = isMap(response) && typeof response.chatmessage_id === 'string' ? response.chatmessage_id : String(seq)
  draft.items.push({
    kind: 'message',
    id,
    seq,
    from: 'agent',
    name: shown?.name ?? '',
    avatar: shown?.avatar ?? null,
    text: textOf(body.message),
    buttons: buttonsOf(body.buttons),
    attachments: [],
    time,
  })
}

function applyNote(draft: Draft, entry: EntryOf<'note'>): void {
  const { seq, time } = entry
  const line = (name: ChatLine['line'], detail: unknown) =>
    draft.items.push({ kind: 'line', line: name, detail: typeof detail === 'string' ? detail : null, seq, time })
  switch (entry.note) {
    case 'bot_message':
      draft.items.push({
        kind: 'message',
        id: textOf(entry.message_id),
        seq,
        from: 'bot',
        name: '',
        avatar: null,
        text: textOf(entry.text),
        buttons: buttonsOf(entry.buttons),
        attachments: [],
        time,
      })
      return
    case 'typing_hidden':
      draft.typing = false
      return
    case 'taken_over':
    case 'takeover_replaced':
      line('taken_over', entry.by)
      return
    case 'handed_back':
      line('handed_back', entry.by)
      return
    case 'link_opened':
      line('link_opened', entry.url)
      return
    case 'chat_ended':
      draft.ended = true
      line('ended', entry.why)
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const buttonsOf = (value: unknown): readonly Button[] => (Array.isArray(value) ? value.filter(isMap) : [])

const agentOf = ({ name, avatar }: Readonly<Record<string, unknown>>): ChatState['agent'] => ({
  name: typeof name === 'string' ? name : undefined,
  avatar: typeof avatar === 'string' ? avatar : undefined,
})
