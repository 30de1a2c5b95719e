/** Reads chats at any moment. A chat that was read before continues from there when entries were added. */
import type { Entry } from '../../../platform/journal/entry.ts'
import type { ChatAnswer } from '../../../server/control/routes/chats.ts'
import { applyEntry, type ChatBeginning, type ChatDraft, type ChatState, draftOf, stateOf } from './chat-at.ts'
import { beginningOf } from './chat-beginning.ts'
import { countUntil } from './journal-log.ts'

export interface ChatRecords {
  /** The entries of a chat: one list, to which entries are added. */
  entriesOf(chatId: string): readonly Entry[]
  /** The chat as the control API has it; undefined when the journal has all of it, or until the answer is there. */
  answerOf(chatId: string): ChatAnswer | undefined
}

/** Returns the state after the entry `at`, or the present state for null. It is null when the chat is not there yet. Equal states are one object. */
export type ReadChat = (chatId: string, at: number | null) => ChatState | null

interface Reading {
  /** Another one after the oldest entries were dropped: then it is read anew. */
  readonly first: Entry | undefined
  readonly entries: readonly Entry[]
  readonly beginning: ChatBeginning | undefined
  readonly draft: ChatDraft
  /** How many entries are applied. */
  count: number
  state: ChatState
}

export function createChatReader({ entriesOf, answerOf }: ChatRecords): ReadChat {
  const [latest, earlier] = [new Map<string, Reading>(), new Map<string, Reading>()]
  const beginnings = createBeginnings()
  return (chatId, at) => {
    const entries = entriesOf(chatId)
    const beginning = beginnings(answerOf(chatId), entries)
    const count = at === null ? entries.length : countUntil(entries, at)
    if (count === 0 && beginning === undefined) return null
    const readings = at === null ? latest : earlier
    const known = readings.get(chatId)
    const reading = known && continues(known, entries, beginning, count) ? known : begin(entries, beginning)
    advance(reading, count)
    readings.set(chatId, reading)
    return reading.state
  }
}

const continues = (
  known: Reading,
  entries: readonly Entry[],
  beginning: ChatBeginning | undefined,
  count: number,
): boolean =>
  known.entries === entries && known.first === entries[0] && known.beginning === beginning && known.count <= count

function begin(entries: readonly Entry[], beginning: ChatBeginning | undefined): Reading {
  const draft = draftOf(beginning)
  return { entries, first: entries[0], beginning, draft, count: 0, state: stateOf(draft) }
}

function advance(reading: Reading, count: number): void {
  if (reading.count === count) return
  for (const entry of reading.entries.slice(reading.count, count)) applyEntry(reading.draft, entry)
  reading.count = count
  reading.state = stateOf(reading.draft)
}

/** Computes a beginning again only when its answer, or the first entry, is another one. */
function createBeginnings() {
  const known = new WeakMap<ChatAnswer, { readonly first: Entry | undefined; readonly beginning: ChatBeginning }>()
  return (answer: ChatAnswer | undefined, entries: readonly Entry[]): ChatBeginning | undefined => {
    if (answer === undefined) return undefined
    const last = known.get(answer)
    if (last !== undefined && last.first === entries[0]) return last.beginning
    const beginning = beginningOf(answer, entries)
    known.set(answer, { first: entries[0], beginning })
    return beginning
  }
}
