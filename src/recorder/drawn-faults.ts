/** Draws the steps that set faults. */
import { groupBy, isMap, withoutUndefined } from '../contract/objects.ts'
import { Fault, type FaultFields } from '../faults/schema.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { escapePlaceholders } from '../scenario/compile/step-compiler.ts'
import { isExpectable } from './recorded-calls.ts'
import type { Recording } from './recording.ts'

type Note = EntryOf<'note'>
type Hit = EntryOf<'fault'>

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
  const { chats } = recording
  const all = hitsOf(recording, set)
  const hits = all.filter(hit => !isOfRefusedCall(recording, hit))
  const fault = faultOf(recording, set, all, all.length - hits.length)
  if (fault === null) return { steps: [], note: null }
  const chatId = set.chat_id ?? String([...chats.keys()][0])
  if (chats.size === 1 || set.chat_id !== undefined) return { steps: [{ fault, chatId }], note: null }
  const groups = [...groupBy(hits, hit => hit.chat_id)]
  if (groups.length === 0) return { steps: [{ fault, chatId }], note: 'fault_never_hit' }
  const steps = groups.map(([id, { length }], index) => {
    const times = groups.length === 1 || fault.times === undefined ? {} : { times: length }
    const name = index === 0 ? {} : { name: `${set.fault}-${chats.get(id ?? '')?.name ?? 'availability'}` }
    return { chatId: id ?? chatId, fault: { ...fault, ...name, ...times, ...(id === undefined ? OF_NO_CHAT : {}) } }
  })
  return { steps, note: groups.length > 1 ? 'fault_of_several' : null }
}

/** The only calls without a chat. */
const OF_NO_CHAT = { on: { api: 'availability' } } as const

/** Until a fault of the same name is set. */
function hitsOf({ entries }: Recording, { fault, seq }: Note): Hit[] {
  const next = entries.find(entry => entry.seq > seq && isNote(entry, 'fault_set', fault))?.seq ?? Infinity
  return entries.filter(
    (entry): entry is Hit => entry.kind === 'fault' && entry.fault === fault && entry.seq > seq && entry.seq < next,
  )
}

/** Such a call is no step, so the fault must not apply to the next one instead. */
function isOfRefusedCall({ entries }: Recording, { cause }: Hit): boolean {
  const call = entries.find(({ seq }) => seq === cause)
  return call?.kind === 'api' && !isExpectable(call)
}

/** Null when nothing is left of it. `more`: hits that the scenario does not repeat. */
function faultOf(
  { entries, hitsBefore }: Recording,
  set: Note,
  hits: readonly Hit[],
  more: number,
): FaultFields | null {
  const name = String(set.fault)
  const used = hits[0] === undefined ? (hitsBefore.get(name) ?? 0) : hits[0].hit - 1
  const times = typeof set.of === 'number' ? set.of - used - more : undefined
  if (times !== undefined && times <= 0) return null
  const { on, effect, skip, every, respond } = set
  const effects = isMap(effect) ? effect : {}
  const isHolding = effects.hold !== undefined || effects.swap !== undefined
  const isNamed = isHolding || !/^fault-\d+$/.test(name) || entries.some(entry => isNote(entry, 'fault_cleared', name))
  const spec = { name: isNamed ? name : undefined, on, ...effects, ...(respond ? { respond } : {}), skip, every, times }
  const parsed = Fault.safeParse(withoutUndefined(spec))
  return parsed.success ? escapePlaceholders(parsed.data) : null
}

const isNote = (entry: Entry, name: string, fault: unknown): boolean =>
  entry.kind === 'note' && entry.note === name && entry.fault === fault
