/** Derives what the chat column shows: the messages of a chat, with their entries and the lines between them. */
import { isMap } from '../../../base/objects.ts'
import { callAnswer, deliveryAnswer } from '../../../evaluation/timeline/entry-line.ts'
import { problemIn } from '../../../evaluation/timeline/problems.ts'
import type { Button } from '../../../platform/contract/schemas.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { isInvalidSign } from '../../../platform/wording/hints.ts'
import type { ChatAnswer } from '../../../server/control/routes/chats.ts'

/** A message as the user sees it, or a line between messages. */
export type ChatItem = ChatMessage | ChatLine

type AnsweredMessage = ChatAnswer['messages'][number]

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
  readonly notice?: 'opened' | 'closed' | 'joined' | 'left'
  /** The journal has only the beginning of its call. */
  readonly isCut?: true
  /** Its event was not delivered so far. */
  readonly trouble?: Trouble | undefined
}

export interface ChatLine {
  readonly kind: 'line'
  readonly seq: number
  readonly line: 'pressed' | 'link_opened' | 'ended' | 'refused'
  /** The label of the button, the address, or the text of the agent that the platform refused. */
  readonly detail: string
  readonly time: string
  readonly trouble?: Trouble | undefined
}

export interface ChatState {
  readonly items: readonly ChatItem[]
  readonly status: ChatAnswer['status']
  readonly typing: boolean
  /** The agent who has the chat. */
  readonly agent: ChatAnswer['agent']
  readonly ended: boolean
  readonly language: string
  readonly source: string
  readonly user: string
  readonly bot: string
}

/** `answer` is the chat as the server has it after the entry `until`; `entries` are those of the chat. */
export function chatStateOf(answer: ChatAnswer, entries: readonly Entry[], until: number): ChatState {
  const { messages, status, typing, agent, active, language, source } = answer
  const [first] = entries
  const created = first?.kind === 'note' && first.note === 'chat_created' ? first : undefined
  const nameOf = (from: 'user' | 'bot') => messages.find(message => message.from === from)?.name ?? ''
  return {
    items: itemsOf(messages, entries, until),
    status,
    typing,
    agent,
    ended: !active,
    language,
    source,
    user: textOf(created?.user_name) || nameOf('user'),
    bot: textOf(created?.bot_name) || nameOf('bot'),
  }
}

/** What the journal knows of a message. */
interface MessageFacts {
  readonly seq: number
  readonly avatar?: string | null
  notice?: ChatMessage['notice']
  trouble?: Trouble | undefined
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

function itemsOf(messages: readonly AnsweredMessage[], entries: readonly Entry[], until: number): readonly ChatItem[] {
  const facts = new Map<unknown, MessageFacts>()
  const lines: Writable<ChatLine>[] = []
  /** What the user wrote or pressed, by the delivery of its event. */
  const ofDelivery = new Map<string, { trouble?: Trouble | undefined }>()
  let act: EntryOf<'user' | 'api'> | null = null
  let last: MessageFacts | null = null
  let avatar: string | null = null
  for (const entry of entries) {
    const { seq, time, cause } = entry
    // What an act changes is in the answer from the entry of the act on.
    if (seq > until && (cause === null || cause > until)) continue
    if (entry.kind === 'user') {
      act = entry
      if (entry.action === 'press') lines.push({ kind: 'line', line: 'pressed', detail: entry.button ?? '', seq, time })
      else facts.set(entry.message_id, { seq })
    } else if (entry.kind === 'delivery') {
      const item = ofDelivery.get(entry.delivery_id)
      if (item !== undefined && entry.probe === undefined && !isInvalidSign(entry.sign)) item.trouble = troubleOf(entry)
    } else if (entry.kind === 'api') {
      act = entry
      const body = isMap(entry.request.body) ? entry.request.body : {}
      if (isMap(body.sender)) avatar = textOf(body.sender.avatar) || (entry.endpoint === 'start' ? null : avatar)
      if (entry.endpoint === 'message' && isMap(entry.response))
        facts.set(entry.response.chatmessage_id, { seq, avatar })
      if (entry.endpoint === 'message') {
        // A message that was tried again is shown once: as it came in the end, or as refused.
        const tried = lines.findIndex(line => line.line === 'refused' && line.detail === textOf(body.message))
        if (tried !== -1) lines.splice(tried, 1)
        if (entry.status >= 400)
          lines.push({
            kind: 'line',
            line: 'refused',
            detail: textOf(body.message),
            seq,
            time,
            trouble: troubleOf(entry),
          })
      }
    } else if (entry.kind === 'note' && entry.note === 'bot_message') {
      last = { seq, notice: act?.seq === cause && act !== null ? noticeAfter(act) : undefined }
      facts.set(entry.message_id, last)
    } else if (entry.kind === 'note' && entry.note === 'link_opened') {
      // A link that was opened replaces the line of its button.
      if (lines.at(-1)?.seq === cause) lines.pop()
      lines.push({ kind: 'line', line: 'link_opened', detail: textOf(entry.url), seq, time })
    } else if (entry.kind === 'note' && entry.note === 'chat_ended') {
      lines.push({ kind: 'line', line: 'ended', detail: '', seq, time })
    } else if (entry.kind === 'event' && act?.seq === cause && act?.kind === 'user') {
      // A request that is accepted has an event after the message of the bot.
      if (entry.event === 'REQUESTING TAKEOVER' && last?.notice === 'closed') last.notice = 'opened'
      const item = act.action === 'press' ? lines.findLast(line => line.seq === cause) : facts.get(act.message_id)
      if (item !== undefined) ofDelivery.set(entry.delivery_id, item)
    }
  }

  const items: ChatItem[] = []
  let nextLine = 0
  for (const { created, ...message } of messages) {
    const { seq, avatar = null, notice, trouble } = facts.get(message.id) ?? { seq: null }
    for (let line = lines[nextLine]; seq !== null && line !== undefined && line.seq < seq; line = lines[nextLine]) {
      items.push(line)
      nextLine++
    }
    items.push({ kind: 'message', ...message, seq, avatar, time: created, trouble, ...(notice && { notice }) })
  }
  return [...items, ...lines.slice(nextLine)]
}

/** Nothing while no webhook is set: the header of the page says that. */
function troubleOf(entry: EntryOf<'api' | 'delivery'>): Trouble | undefined {
  const problem = problemIn(entry)
  if (problem === null || (entry.kind === 'delivery' && entry.outcome === 'delivered')) return undefined
  const what = entry.kind === 'api' ? 'refused' : 'not delivered'
  const { short } = entry.kind === 'api' ? callAnswer(entry) : deliveryAnswer(entry)
  return { text: `${what}: ${short}`, seq: entry.seq, isOrdered: problem === 'ordered' }
}

/** Which notice a message of the bot is, by the act that caused it. */
function noticeAfter(act: EntryOf<'user' | 'api'>): ChatMessage['notice'] {
  if (act.kind === 'user') return act.action === 'press' ? 'closed' : undefined
  return act.endpoint === 'start' ? 'joined' : act.endpoint === 'end' ? 'left' : undefined
}

/** The chat of a run that has no server any more, as far as its entries show it, after the entry `at`. */
export function chatOfEntries(
  entries: readonly Entry[],
  at: number | null,
): Pick<ChatState, 'items' | 'typing' | 'agent' | 'language'> {
  const until = at ?? Number.MAX_SAFE_INTEGER
  // A fault that answers in place of the platform follows its call, which then changed nothing.
  const unprocessed = new Set<number | null>()
  for (const entry of entries)
    if (entry.kind === 'fault' && (entry.effect.respond !== undefined || entry.effect.drop === 'before'))
      unprocessed.add(entry.cause)
  const messages: (AnsweredMessage & { readonly isCut?: true })[] = []
  let typing = false
  let agent: ChatState['agent'] = null
  let [language, user, bot] = ['', '', '']
  for (const entry of entries) {
    const { seq, time: created } = entry
    if (seq > until) break
    if (entry.kind === 'user' && entry.action === 'message') {
      const { message_id, text = '', text_for_agent: original, attachments = [] } = entry
      const translated = original === undefined ? {} : { original }
      const files = [...attachments]
      const id = message_id ?? String(seq)
      messages.push({ id, from: 'user', name: user, text, ...translated, buttons: [], attachments: files, created })
    } else if (entry.kind === 'api' && entry.status > 0 && entry.status < 400 && !unprocessed.has(seq)) {
      if (entry.endpoint === 'typing_start') typing = true
      else if (entry.endpoint === 'typing_stop') typing = false
      else if (entry.endpoint === 'message') messages.push(messageOfCall(entry))
    } else if (entry.kind === 'note') {
      switch (entry.note) {
        case 'chat_created':
          language = textOf(entry.language)
          user = textOf(entry.user_name)
          bot = textOf(entry.bot_name)
          break
        case 'bot_message': {
          const [id, text, buttons] = [textOf(entry.message_id), textOf(entry.text), buttonsOf(entry.buttons)]
          messages.push({ id, from: 'bot', name: bot, text, buttons, attachments: [], created })
          break
        }
        case 'typing_hidden':
          typing = false
          break
        case 'taken_over':
        case 'takeover_replaced':
          agent = typeof entry.by === 'string' ? { name: entry.by } : {}
          break
        case 'handed_back':
          agent = null
      }
    }
  }
  return { items: itemsOf(messages, entries, until), typing, agent, language }
}

function messageOfCall({ seq, time, request, response, shown_to_user: shown }: EntryOf<'api'>) {
  const body = isMap(request.body) ? request.body : {}
  const sent = textOf(body.message)
  return {
    id: (isMap(response) ? textOf(response.chatmessage_id) : '') || String(seq),
    from: 'agent' as const,
    name: shown?.name ?? (isMap(body.sender) ? textOf(body.sender.name) : ''),
    text: shown?.text ?? sent,
    ...(shown?.text === undefined ? {} : { original: sent }),
    buttons: buttonsOf(body.buttons),
    attachments: [],
    created: time,
    ...(request.truncated_from === undefined ? {} : { isCut: true as const }),
  }
}

/** How many messages of the chat a journal does not have; null for an unknown number, because its beginning was dropped. */
export function missingMessages([first]: readonly Entry[]): number | null {
  if (first === undefined) return 0
  return first.kind === 'note' && first.note === 'chat_created' ? Number(first.history_count ?? 0) : null
}

/** The text of the message that an entry adds to its chat; null for an entry that adds none. */
export function messageTextOf(entry: Entry): { readonly isFromUser: boolean; readonly text: string } | null {
  if (entry.kind === 'user' && entry.action === 'message') {
    const names = (entry.attachments ?? []).map(({ name }) => name)
    return { isFromUser: true, text: entry.text || names.join(', ') }
  }
  if (entry.kind === 'note' && entry.note === 'bot_message') return { isFromUser: false, text: textOf(entry.text) }
  if (entry.kind !== 'api' || entry.endpoint !== 'message' || entry.status === 0 || entry.status >= 400) return null
  return { isFromUser: false, text: messageOfCall(entry).text }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const buttonsOf = (value: unknown): Button[] => (Array.isArray(value) ? value.filter(isMap) : [])
