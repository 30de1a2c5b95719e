/** Draws the steps that set and clear faults. */
import { isMap, withoutUndefined } from '../contract/objects.ts'
import { Fault, type FaultFields } from '../faults/schema.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { escapePlaceholders } from '../scenario/compile/step-compiler.ts'
import type { Recording } from './recording.ts'

type Note = EntryOf<'note'>

export interface FaultStep {
  readonly fault: FaultFields
  /** The id of the chat it is for. */
  readonly chatId: string
}

export interface DrawnFaults {
  readonly steps: readonly FaultStep[]
  readonly note: 'fault_never_hit' | 'fault_of_several' | null
}

/** In a scenario with several chats a fault is for one of them: the chat to which it applied. */
export function faultsOf(recording: Recording, set: Note): DrawnFaults {
  const { chats, entries } = recording
  const name = String(set.fault)
  const hits = entries.filter((entry): entry is EntryOf<'fault'> => entry.kind === 'fault' && entry.fault === name)
  const chatIds = set.chat_id === undefined ? [...new Set(hits.flatMap(({ chat_id }) => chat_id ?? []))] : [set.chat_id]
  const [first = '', ...others] = chatIds.filter(id => chats.has(id))
  const fault = faultOf(recording, set, hits)
  if (fault === null) return { steps: [], note: null }
  if (chats.size === 1 || others.length === 0) {
    const chatId = first || String([...chats.keys()][0])
    return { steps: [{ fault, chatId }], note: first === '' && chats.size > 1 ? 'fault_never_hit' : null }
  }
  const steps = [first, ...others].map((chatId, index) => {
    const count = hits.filter(({ chat_id }) => chat_id === chatId).length
    const own = index === 0 ? name : `${name}-${chats.get(chatId)?.name ?? index}`
    return { chatId, fault: { ...fault, name: own, ...(fault.times === undefined ? {} : { times: count }) } }
  })
  return { steps, note: 'fault_of_several' }
}

/** Null when it was used up before. */
function faultOf({ entries, hitsBefore }: Recording, set: Note, hits: readonly EntryOf<'fault'>[]): FaultFields | null {
  const name = String(set.fault)
  const used = hits[0] === undefined ? (hitsBefore.get(name) ?? 0) : hits[0].hit - 1
  const times = typeof set.of === 'number' ? set.of - used : undefined
  if (times !== undefined && times <= 0) return null
  const isCleared = entries.some(entry => isClearing(entry, name))
  const isNamed = isCleared || !/^fault-\d+$/.test(name)
  const { on, effect, skip, every, respond } = set
  const spec = withoutUndefined({ ...(isMap(effect) ? effect : {}), on, skip, every, ...(respond ? { respond } : {}) })
  const parsed = Fault.safeParse(withoutUndefined({ name: isNamed ? name : undefined, ...spec, times }))
  return parsed.success ? escapePlaceholders(parsed.data) : null
}

const isClearing = (entry: Entry, name: string): boolean =>
  entry.kind === 'note' && entry.note === 'fault_cleared' && entry.fault === name
