/** Chooses the chats and the entries of a recording. A scenario begins without a handover, so the range does as well. */
import { groupBy } from '../../base/objects.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { Chat } from '../../platform/rules/state.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { ControlProblem, getChat } from '../../server/control/problems.ts'
import type { RecordingRequest } from '../../server/control/recorder.ts'
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

const MOST_STEPS = 200

/** Throws `ControlProblem`. */
export function rangeOf(core: Core, { chatIds, after = 0, before }: RecordingRequest): Range {
  const all = core.journal.query().filter(({ seq }) => before === undefined || seq < before)
  const chats = chosenChats(core, all, chatIds, after)
  const ids = new Set(chats.map(({ id }) => id))
  const own = all.filter(({ chat_id }) => chat_id !== undefined && ids.has(chat_id))
  const actions = own.filter(entry => entry.seq > after && isAction(entry))
  if (actions.length === 0) throw nothingHappened(after, before)
  // Each makes a step, and the rest of the work takes long in a long range.
  refuseTooLong(actions.filter(({ kind }) => kind !== 'api').length)
  const byChat = groupBy(own, ({ chat_id }) => chat_id)
  const begin = beginOf([...byChat.values()], after)
  refuseEvicted(core, byChat, ids, begin)
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

/** Throws `ControlProblem`. */
export function refuseTooLong(steps: number): void {
  if (steps > MOST_STEPS) throw new ControlProblem(422, 'too_long', RECORD_PROBLEMS.tooLong(steps, MOST_STEPS))
}

/** The latest point at or before `after` at which no chat had a handover or a request for one. */
function beginOf(chats: readonly (readonly Entry[])[], after: number): number {
  const earliest = chats.reduce((least, entries) => Math.min(least, handoverBefore(entries, after)), after)
  return earliest < after ? beginOf(chats, earliest) : after
}

/** The seq before the handover, or the request, that is in progress at `after`; `after` when there is none. */
function handoverBefore(own: readonly Entry[], after: number): number {
  let begin: number | null = null
  for (const entry of own) {
    if (entry.seq > after) break
    if (isNote(entry, 'handed_back')) begin = null
    else if ((entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') || isNote(entry, 'taken_over'))
      begin ??= (entry.cause ?? entry.seq) - 1
  }
  return begin ?? after
}

const isNote = (entry: Entry, name: string): boolean => entry.kind === 'note' && entry.note === name
type EntriesByChat = ReadonlyMap<string | undefined, readonly Entry[]>

/** A chat whose beginning was dropped may have been in a handover at the beginning of the range. */
function refuseEvicted({ journal }: Core, chats: EntriesByChat, ids: ReadonlySet<string>, after: number): void {
  const { firstSeq } = journal
  const isWhole = (id: string) => chats.get(id)?.some(entry => isNote(entry, 'chat_created')) ?? false
  if (firstSeq === 1 || [...ids].every(isWhole)) return
  const isInside = [...chats.values()].some(entries => {
    const first = entries.find(entry => isNote(entry, 'taken_over') || isNote(entry, 'handed_back'))
    return first !== undefined && isNote(first, 'handed_back')
  })
  if (after + 1 >= firstSeq && !isInside) return
  throw new ControlProblem(409, 'journal_evicted', RECORD_PROBLEMS.evicted(firstSeq))
}
