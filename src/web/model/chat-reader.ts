/** Reads chats at any moment. A chat that was read before continues from there when entries were added. */
import type { Entry } from '../../journal/entry.ts'
import { applyEntry, type ChatBeginning, type ChatDraft, type ChatState, draftOf, stateOf } from './chat-at.ts'
import { countUntil } from './journal-log.ts'

/** What is known of a chat. The objects are the same until something else than its entries changes. */
export interface ChatSource {
  readonly entries: readonly Entry[]
  /** Undefined when the journal has the whole chat, or while it is asked for. */
  readonly beginning: ChatBeginning | undefined
}

/** Returns the state after the entry `at`, null for now; null when the chat is not there yet. Equal states are one object. */
export type ReadChat = (chatId: string, at: number | null) => ChatState | null

interface Reading extends ChatSource {
  readonly draft: ChatDraft
  /** How many entries are applied. */
  count: number
  state: ChatState
}

export function createChatReader(sourceOf: (chatId: string) => ChatSource): ReadChat {
  const [latest, earlier] = [new Map<string, Reading>(), new Map<string, Reading>()]
  return (chatId, at) => {
    const source = sourceOf(chatId)
    const count = at === null ? source.entries.length : countUntil(source.entries, at)
    if (count === 0 && source.beginning === undefined) return null
    return advance(at === null ? latest : earlier, chatId, source, count).state
  }
}

function advance(readings: Map<string, Reading>, chatId: string, source: ChatSource, count: number): Reading {
  const known = readings.get(chatId)
  const reading = known && continues(known, source, count) ? known : begin(source)
  if (reading.count < count) {
    for (const entry of source.entries.slice(reading.count, count)) applyEntry(reading.draft, entry)
    reading.count = count
    reading.state = stateOf(reading.draft)
  }
  readings.set(chatId, reading)
  return reading
}

const continues = (known: Reading, { entries, beginning }: ChatSource, count: number) =>
  known.entries === entries && known.beginning === beginning && known.count <= count

function begin({ entries, beginning }: ChatSource): Reading {
  const draft = draftOf(beginning)
  return { entries, beginning, draft, count: 0, state: stateOf(draft) }
}
