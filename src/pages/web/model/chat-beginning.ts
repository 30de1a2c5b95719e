/** Finds what a chat had before its entries: messages of a history, and those whose entries are no longer in the journal. */
import type { Entry } from '../../../platform/journal/entry.ts'
import type { ChatAnswer } from '../../../server/control/routes/chats.ts'
import { type ChatBeginning, type ChatMessage, EMPTY_BEGINNING } from './chat-at.ts'

/** Whether the journal has all messages of the chat. */
export function isWhole([first]: readonly Entry[]): boolean {
  return first?.kind === 'note' && first.note === 'chat_created' && first.history_count === undefined
}

/** How many messages of the chat a journal does not have; null for an unknown number, because its beginning was dropped. */
export function missingMessages([first]: readonly Entry[]): number | null {
  if (first === undefined) return 0
  return first.kind === 'note' && first.note === 'chat_created' ? Number(first.history_count ?? 0) : null
}

/** The beginning of a chat of which only these entries are known. */
export const beginningOfEntries = (entries: readonly Entry[]): ChatBeginning => ({
  ...EMPTY_BEGINNING,
  ...stateBefore(EMPTY_BEGINNING, entries),
})

/** `answer` is the chat as the control API has it now; `entries` are those of the chat. */
export function beginningOf(answer: ChatAnswer, entries: readonly Entry[]): ChatBeginning {
  const messages = answer.messages.map(toMessage)
  return {
    messages: messages.slice(0, countBefore(answer, entries)),
    whole: new Map(messages.map(message => [message.id, message])),
    ...stateBefore(answer, entries),
    language: answer.language,
    source: answer.source,
    user: nameOf(answer, 'user'),
    bot: nameOf(answer, 'bot'),
  }
}

/** Empty when the chat has no message of them. */
const nameOf = ({ messages }: ChatAnswer, sender: 'user' | 'bot'): string =>
  messages.find(({ from }) => from === sender)?.name ?? ''

const toMessage = ({ created, ...message }: ChatAnswer['messages'][number]): ChatMessage => ({
  kind: 'message',
  ...message,
  seq: null,
  avatar: null,
  time: created,
})

/** Messages of the answer that are later than the first entry also have entries, which may arrive after the answer. */
function countBefore({ messages }: ChatAnswer, entries: readonly Entry[]): number {
  const [first] = entries
  if (first === undefined) return messages.length
  if (first.kind === 'note' && first.note === 'chat_created') return Number(first.history_count ?? 0)
  const known = new Set(entries.map(messageIdOf))
  const index = messages.findIndex(({ id, created }) => known.has(id) || Date.parse(created) > Date.parse(first.time))
  return index === -1 ? messages.length : index
}

function messageIdOf(entry: Entry): unknown {
  if (entry.kind === 'user' || entry.kind === 'note') return entry.message_id
  if (entry.kind !== 'api' || entry.endpoint !== 'message') return undefined
  const { response } = entry
  return typeof response === 'object' && response !== null && 'chatmessage_id' in response
    ? response.chatmessage_id
    : undefined
}

/** The state before the entries, as far as the first change of it says; without a change, it is the state of now. */
function stateBefore(
  answer: Pick<ChatBeginning, 'status' | 'typing'>,
  entries: readonly Entry[],
): Pick<ChatBeginning, 'status' | 'typing'> {
  if (isCreation(entries[0])) return { status: 'bot', typing: false }
  const status =
    entries
      .map((entry, index) => {
        const previous = entries[index - 1]
        if (entry.kind === 'event')
          return entry.event === 'REQUESTING TAKEOVER' ? statusBeforeRequest(entry, previous) : null
        if (entry.kind !== 'note') return null
        if (entry.note === 'taken_over') return 'pending'
        return entry.note === 'handed_back' || entry.note === 'takeover_replaced' ? 'agent' : null
      })
      .find(one => one !== null) ?? answer.status
  const typing = entries.map(typingBefore).find(one => one !== null) ?? answer.typing
  return { status, typing }
}

export const isCreation = (entry: Entry | undefined): boolean => entry?.kind === 'note' && entry.note === 'chat_created'

/** The bot says that it passes the user on, except when an agent has the chat already. */
function statusBeforeRequest({ cause }: Entry, previous: Entry | undefined): ChatBeginning['status'] | null {
  if (previous === undefined || cause === null) return null
  if (previous.cause === cause) return 'bot'
  return previous.seq === cause ? 'agent' : null
}

function typingBefore(entry: Entry): boolean | null {
  if (entry.kind === 'note') return entry.note === 'typing_hidden' ? true : null
  if (entry.kind !== 'api' || entry.status >= 400 || entry.faults !== undefined) return null
  return entry.endpoint === 'typing_start' || entry.endpoint === 'typing_stop' ? false : null
}
