/** Derives what the chat column shows: the messages of a chat, with their entries and the lines between them. */
import { isMap } from '../../../base/objects.ts'
import { type ChatStatus, isAcceptance, isDeparture, statusAfter } from '../../../evaluation/history.ts'
import { lineOf } from '../../../evaluation/timeline/entry-line.ts'
import { problemIn } from '../../../evaluation/timeline/problems.ts'
import type { Button } from '../../../platform/contract/schemas.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { isInvalidSign } from '../../../platform/wording/hints.ts'
import type { ChatViewResponse } from '../../../server/control/routes/chats.ts'

/** A message as the user sees it, or a line between messages. */
export type ChatItem = ChatMessage | ChatLine

type AnsweredMessage = ChatViewResponse['messages'][number]

/** What went wrong with a message or a request, in a few words. */
export interface Trouble {
  readonly text: string
  /** The entry that shows it. */
  readonly seq: number
  /** Whether a fault that the user set made it. */
  readonly isOrdered: boolean
}

export interface ChatMessage extends Omit<AnsweredMessage, 'created'> {
  readonly kind: 'message'
  /** The entry that added it; null for the messages with which the chat began. */
  readonly seq: number | null
  readonly avatar: string | null
  readonly time: string
  /** Messages of the bot that tell the state of the handover. */
  readonly notice?: 'opened' | 'closed' | 'joined' | 'left' | undefined
  /** The journal has only the beginning of its call. */
  readonly isCut?: true
  /** Its event was not delivered so far. */
  readonly trouble?: Trouble | undefined
}

export interface ChatLine {
  readonly kind: 'line'
  readonly seq: number
  readonly line: 'pressed' | 'link_opened' | 'ended' | 'closed' | 'deleted' | 'lost' | 'refused'
  /** The label of the button, the address, the text of the user that was lost, or that of the agent that the platform refused. */
  readonly detail: string
  readonly time: string
  readonly trouble?: Trouble | undefined
}

export interface ChatView {
  readonly items: readonly ChatItem[]
  readonly typing: boolean
  /** The agent who has the chat. */
  readonly agent: ChatViewResponse['agent']
  readonly language: string
  readonly user: string
  readonly bot: string
}

export interface ChatState extends ChatView, Pick<ChatViewResponse, 'status' | 'source'> {
  readonly ended: boolean
}

/** What the entries of a chat show after the entry `until`; `messages` are those of the server, where it still has them. */
export function chatOfEntries(
  entries: readonly Entry[],
  until: number,
  messages?: ChatViewResponse['messages'],
): ChatView {
  const { messages: read, lines, ...view } = readChat(entries, until)
  const byId = new Map(read.map(message => [message.id, message]))
  const shown = messages?.map(({ created, ...message }): ChatMessage => {
    const { seq = null, avatar = null, notice, trouble } = byId.get(message.id) ?? {}
    return { kind: 'message', ...message, seq, avatar, time: created, trouble, notice }
  })
  return { ...view, items: arranged(shown ?? read, lines) }
}

/** The chat as the server answers with it, with what the entries show of it. */
export function chatStateOf(answer: ChatViewResponse, entries: readonly Entry[], until: number): ChatState {
  const { messages, active, ...state } = answer
  const { items, user, bot } = chatOfEntries(entries, until, messages)
  const nameOf = (from: 'user' | 'bot') => messages.find(message => message.from === from)?.name ?? ''
  return { ...state, items, ended: !active, user: user || nameOf('user'), bot: bot || nameOf('bot') }
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

interface ChatReading extends Omit<Writable<ChatView>, 'items'> {
  /** Without those with which the chat began. */
  readonly messages: Writable<ChatMessage>[]
  readonly lines: Writable<ChatLine>[]
}

function readChat(entries: readonly Entry[], until: number): ChatReading {
  const reading: ChatReading = { messages: [], lines: [], typing: false, agent: null, language: '', user: '', bot: '' }
  const { messages, lines } = reading
  // A fault that answers in place of the platform follows its call, which then changed nothing.
  const unprocessed = new Set<number | null>()
  for (const entry of entries)
    if (entry.kind === 'fault' && (entry.effect.respond !== undefined || entry.effect.drop === 'before'))
      unprocessed.add(entry.cause)
  /** What the user wrote or pressed, by the delivery of its event. */
  const ofDelivery = new Map<string, Writable<ChatItem>>()
  let actSeq = 0
  /** What the latest act added, when it is one of the user. */
  let actItem: Writable<ChatItem> | null = null
  /** What a message of the bot that the latest act causes tells. */
  let notice: ChatMessage['notice']
  let ofBot: Writable<ChatMessage> | null = null
  let avatar: string | null = null
  let status: ChatStatus = 'unknown'
  for (const entry of entries) {
    const { seq, time, cause } = entry
    // What an act changes is in the answer from the entry of the act on.
    if (seq > until && (cause === null || cause > until)) continue
    status = statusAfter(status, entry)
    if (isAcceptance(entry)) reading.agent = typeof entry.by === 'string' ? { name: entry.by } : {}
    else if (status !== 'agent') reading.agent = null
    const message = unprocessed.has(seq) ? null : messageIn(entry)
    if (message !== null) messages.push(message)
    if (entry.kind === 'user') {
      actSeq = seq
      notice = entry.action === 'press' ? 'closed' : undefined
      if (entry.action === 'delete') {
        messages.length = 0
        lines.length = 0
      }
      actItem = message ?? { kind: 'line', ...lineOfAct(entry), seq, time }
      if (actItem.kind === 'message') actItem.name = reading.user
      else lines.push(actItem)
    } else if (entry.kind === 'api') {
      actSeq = seq
      notice = entry.endpoint === 'start' ? 'joined' : entry.endpoint === 'end' ? 'left' : undefined
      actItem = null
      const body = isMap(entry.request.body) ? entry.request.body : {}
      if (isMap(body.sender)) avatar = textOf(body.sender.avatar) || (entry.endpoint === 'start' ? null : avatar)
      if (message !== null) message.avatar = avatar
      if (entry.endpoint === 'message') {
        // A message that was tried again is shown once: as it came in the end, or as refused.
        const detail = textOf(body.message)
        const tried = lines.findIndex(line => line.line === 'refused' && line.detail === detail)
        if (tried !== -1) lines.splice(tried, 1)
        if (entry.status >= 400)
          lines.push({ kind: 'line', line: 'refused', detail, seq, time, trouble: troubleOf(entry) })
      } else if (entry.status > 0 && entry.status < 400 && !unprocessed.has(seq)) {
        if (entry.endpoint === 'typing_start') reading.typing = true
        else if (entry.endpoint === 'typing_stop') reading.typing = false
      }
    } else if (entry.kind === 'event' && actSeq === cause && actItem !== null) {
      // A request that is accepted has an event after the message of the bot.
      if (entry.event === 'REQUESTING TAKEOVER' && ofBot?.notice === 'closed') ofBot.notice = 'opened'
      ofDelivery.set(entry.delivery_id, actItem)
    } else if (entry.kind === 'delivery') {
      const item = ofDelivery.get(entry.delivery_id)
      if (item !== undefined && entry.probe === undefined && !isInvalidSign(entry.sign)) item.trouble = troubleOf(entry)
    } else if (entry.kind === 'note') {
      switch (entry.note) {
        case 'chat_created':
          reading.language = textOf(entry.language)
          reading.user = textOf(entry.user_name)
          reading.bot = textOf(entry.bot_name)
          break
        case 'bot_message':
          ofBot = message
          if (ofBot === null) break
          ofBot.name = reading.bot
          if (actSeq === cause) ofBot.notice = notice
          break
        case 'typing_hidden':
          reading.typing = false
          break
        case 'link_opened':
          // A link that was opened replaces the line of its button.
          if (lines.at(-1)?.seq === cause) lines.pop()
          lines.push({ kind: 'line', line: 'link_opened', detail: textOf(entry.url), seq, time })
          break
        case 'chat_ended':
          // The line of the user's act says it.
          if (isDeparture(entry)) break
          lines.push({ kind: 'line', line: 'ended', detail: '', seq, time })
      }
    }
  }
  return reading
}

/** The line of an act of the user that adds no message. */
function lineOfAct({ action, button = '', text = '' }: EntryOf<'user'>): Pick<ChatLine, 'line' | 'detail'> {
  if (action === 'message') return { line: 'lost', detail: text }
  if (action === 'press') return { line: 'pressed', detail: button }
  return { line: action === 'close' ? 'closed' : 'deleted', detail: '' }
}

/** The message that an entry adds to its chat; null for an entry that adds none. */
export function messageIn(entry: Entry): Writable<ChatMessage> | null {
  const { seq, time } = entry
  const message = { kind: 'message' as const, seq, time, name: '', avatar: null, buttons: [], attachments: [] }
  if (entry.kind === 'user' && entry.action === 'message' && entry.message_id !== null) {
    const { message_id, text = '', text_for_agent: original, attachments = [] } = entry
    const translated = original === undefined ? {} : { original }
    return {
      ...message,
      id: message_id,
      from: 'user',
      text,
      ...translated,
      attachments: [...attachments],
    }
  }
  if (entry.kind === 'note' && entry.note === 'bot_message') {
    const [id, text, buttons] = [textOf(entry.message_id), textOf(entry.text), buttonsOf(entry.buttons)]
    return { ...message, id, from: 'bot', text, buttons }
  }
  if (entry.kind !== 'api' || entry.endpoint !== 'message' || entry.status === 0 || entry.status >= 400) return null
  const { request, response, shown_to_user: shown } = entry
  const body = isMap(request.body) ? request.body : {}
  const sent = textOf(body.message)
  return {
    ...message,
    id: (isMap(response) ? textOf(response.chatmessage_id) : '') || String(seq),
    from: 'agent',
    name: shown?.name ?? (isMap(body.sender) ? textOf(body.sender.name) : ''),
    text: shown?.text ?? sent,
    ...(shown?.text !== undefined && { original: sent }),
    buttons: buttonsOf(body.buttons),
    ...(request.truncated_from !== undefined && { isCut: true as const }),
  }
}

/** The text of the message that an entry adds, or the names of its files; null for an entry that adds none. */
export function messageTextOf(entry: Entry): string | null {
  const message = messageIn(entry)
  return message && (message.text || message.attachments.map(({ name }) => name).join(', '))
}

/** Puts each line before the messages of later entries. */
function arranged(messages: readonly ChatMessage[], lines: readonly ChatLine[]): readonly ChatItem[] {
  const items: ChatItem[] = []
  let nextLine = 0
  for (const message of messages) {
    const { seq } = message
    for (let line = lines[nextLine]; seq !== null && line !== undefined && line.seq < seq; line = lines[nextLine]) {
      items.push(line)
      nextLine++
    }
    items.push(message)
  }
  return [...items, ...lines.slice(nextLine)]
}

/** Nothing while no webhook is set: the header of the page says that. */
function troubleOf(entry: EntryOf<'api' | 'delivery'>): Trouble | undefined {
  const problem = problemIn(entry)
  if (problem === null || (entry.kind === 'delivery' && entry.outcome === 'delivered')) return undefined
  const what = entry.kind === 'api' ? 'refused' : 'not delivered'
  return { text: `${what}: ${lineOf(entry).answer?.short ?? ''}`, seq: entry.seq, isOrdered: problem === 'ordered' }
}

/** How many messages of the chat a journal does not have; null for an unknown number, because its beginning was dropped. */
export function missingMessages([first]: readonly Entry[]): number | null {
  if (first === undefined) return 0
  return first.kind === 'note' && first.note === 'chat_created' ? Number(first.history_count ?? 0) : null
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const buttonsOf = (value: unknown): Button[] => (Array.isArray(value) ? value.filter(isMap) : [])
