/** Chooses the chats and the entries of a recording. A scenario begins without a handover, so the range does as well. */
import type { Entry } from '../journal/entry.ts'
import type { Chat } from '../platform/state.ts'
import { ControlProblem, getChat } from '../server/control/problems.ts'
import type { RecordingRequest } from '../server/control/recorder.ts'
import type { Core } from '../simulator/core.ts'
import { RECORD_PROBLEMS } from './texts.ts'

export interface Range {
  readonly chats: readonly Chat[]
  /** Entries of these chats, and entries of no chat. */
  readonly entries: readonly Entry[]
  /** The seq before the first entry. */
  readonly after: number
  /** Whether it begins earlier than the request says, because a handover was in progress. */
  readonly isExtended: boolean
}

/** Throws `ControlProblem`. */
export function rangeOf(core: Core, { chatIds, after = 0, before }: RecordingRequest): Range {
  const all = core.journal.query().filter(({ seq }) => before === undefined || seq < before)
  const chats = chosenChats(core, all, chatIds, after)
  const ids = new Set(chats.map(({ id }) => id))
  const own = all.filter(({ chat_id }) => chat_id !== undefined && ids.has(chat_id))
  if (!own.some(entry => entry.seq > after && isAction(entry))) throw nothingHappened(after, before)
  const begin = beginOf(own, ids, after)
  refuseEvicted(core, own, ids, begin)
  const entries = all.filter(({ seq, chat_id }) => seq > begin && (chat_id === undefined || ids.has(chat_id)))
  return { chats, entries, after: begin, isExtended: begin < after }
}

/** Something that a user or the intermediary did. */
const isAction = (entry: Entry): boolean =>
  entry.kind === 'user' || entry.kind === 'api' || (entry.kind === 'note' && entry.note === 'event_triggered')

function chosenChats(core: Core, all: readonly Entry[], ids: readonly string[] | undefined, after: number): Chat[] {
  if (ids !== undefined) return [...new Set(ids)].map(id => getChat(core, id))
  const { chats } = core.platform.state
  if (chats.size === 0) throw new ControlProblem(409, 'nothing_to_record', RECORD_PROBLEMS.noChats)
  const active = new Set(all.filter(entry => entry.seq > after && isAction(entry)).map(({ chat_id }) => chat_id))
  return [...chats.values()].filter(({ id }) => active.has(id))
}

function nothingHappened(after: number, before: number | undefined): ControlProblem {
  const range = [
    after > 0 ? RECORD_PROBLEMS.after(after) : '',
    before === undefined ? '' : RECORD_PROBLEMS.before(before),
  ]
  return new ControlProblem(409, 'nothing_to_record', RECORD_PROBLEMS.nothingHappened(range.join('')))
}

/** The latest point at or before `after` at which no chat had a handover or a request for one. */
function beginOf(own: readonly Entry[], ids: ReadonlySet<string>, after: number): number {
  const begins = [...ids].map(id =>
    handoverBefore(
      own.filter(entry => entry.chat_id === id),
      after,
    ),
  )
  const earliest = Math.min(after, ...begins)
  return earliest < after ? beginOf(own, ids, earliest) : after
}

/** The seq before the handover, or the request, that is in progress at `after`; `after` when there is none. */
function handoverBefore(own: readonly Entry[], after: number): number {
  let begin: number | null = null
  for (const entry of own) {
    if (entry.seq > after) break
    if (isNote(entry, 'handed_back')) begin = null
    else if (isRequest(entry) || isNote(entry, 'taken_over')) begin ??= (entry.cause ?? entry.seq) - 1
  }
  return begin ?? after
}

const isNote = (entry: Entry, name: string): boolean => entry.kind === 'note' && entry.note === name
const isRequest = (entry: Entry): boolean => entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER'

/** A chat whose beginning was dropped may have been in a handover at the beginning of the range. */
function refuseEvicted({ journal }: Core, own: readonly Entry[], ids: ReadonlySet<string>, after: number): void {
  const { firstSeq } = journal
  const isWhole = (id: string) => own.some(entry => entry.chat_id === id && isNote(entry, 'chat_created'))
  if (firstSeq === 1 || [...ids].every(isWhole)) return
  const changes = own.filter(entry => ['taken_over', 'handed_back'].some(name => isNote(entry, name)))
  const isInside = [...ids].some(id => {
    const [first] = changes.filter(({ chat_id }) => chat_id === id)
    return first !== undefined && isNote(first, 'handed_back')
  })
  if (after + 1 >= firstSeq && !isInside) return
  throw new ControlProblem(409, 'journal_evicted', RECORD_PROBLEMS.evicted(firstSeq))
}
