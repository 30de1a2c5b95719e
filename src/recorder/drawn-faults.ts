/** Draws the steps that set and clear faults. */
import { isMap, withoutUndefined } from '../contract/objects.ts'
import type { NamedFault } from '../faults/registry.ts'
import { Fault, type FaultFields } from '../faults/schema.ts'
import type { EntryOf } from '../journal/entry.ts'
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
  readonly notes: readonly ('fault_never_hit' | 'fault_of_several' | 'fault_forgotten')[]
}

/** In a scenario with several chats a fault is for one of them: the chat to which it applied. */
export function faultsOf(recording: Recording, set: Note): DrawnFaults {
  const { chats, entries } = recording
  const name = String(set.fault)
  const hits = entries.filter((entry): entry is EntryOf<'fault'> => entry.kind === 'fault' && entry.fault === name)
  const chatIds = set.chat_id === undefined ? [...new Set(hits.flatMap(({ chat_id }) => chat_id ?? []))] : [set.chat_id]
  const [first = '', ...others] = chatIds.filter(id => chats.has(id))
  const live = recording.faults.find(one => one.name === name && one.of === set.of)
  const fault = faultOf(recording, set, hits, live)
  if (fault === null) return { steps: [], notes: [] }
  const forgotten = live === undefined && fault.respond !== undefined ? (['fault_forgotten'] as const) : []
  if (chats.size === 1 || others.length === 0) {
    const chatId = first || String([...chats.keys()][0])
    const neverHit = first === '' && chats.size > 1 ? (['fault_never_hit'] as const) : []
    return { steps: [{ fault, chatId }], notes: [...forgotten, ...neverHit] }
  }
  const steps = [first, ...others].map((chatId, index) => {
    const count = hits.filter(({ chat_id }) => chat_id === chatId).length
    const own = index === 0 ? name : `${name}-${chats.get(chatId)?.name ?? index}`
    return { chatId, fault: { ...fault, name: own, ...(fault.times === undefined ? {} : { times: count }) } }
  })
  return { steps, notes: [...forgotten, 'fault_of_several'] }
}

/** Null when it was used up before. */
function faultOf(
  { entries }: Recording,
  set: Note,
  hits: readonly EntryOf<'fault'>[],
  live: NamedFault | undefined,
): FaultFields | null {
  const name = String(set.fault)
  const before = (hits[0]?.hit ?? 1) - 1
  const times = typeof set.of === 'number' ? set.of - (hits.length === 0 ? (live?.hits ?? 0) : before) : undefined
  if (times !== undefined && times <= 0) return null
  const isCleared = entries.some(
    entry => entry.kind === 'note' && entry.note === 'fault_cleared' && entry.fault === name,
  )
  const isNamed = isCleared || !/^fault-\d+$/.test(name)
  const spec = live === undefined ? { on: set.on, ...(isMap(set.effect) ? set.effect : {}) } : specOf(live)
  const parsed = Fault.safeParse(withoutUndefined({ ...spec, name: isNamed ? name : undefined, times }))
  return parsed.success ? escapePlaceholders(parsed.data) : null
}

function specOf(fault: NamedFault): FaultFields {
  const { name: _, hits: __, of: ___, used_up: ____, holding: _____, chat_id: ______, ...spec } = fault
  return spec
}
