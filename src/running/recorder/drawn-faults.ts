/** Draws the steps that set faults. */
import { groupBy, isMap, withoutUndefined } from '../../base/objects.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import { Fault, type FaultFields } from '../../platform/faults/schema.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
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
export function faultsOf(recording: Recording, set: Note, index: FaultHits): DrawnFaults {
  const { chats } = recording
  const all = index.hitsOf(set)
  const hits = all.filter(hit => !index.isOfRefusedCall(hit))
  const fault = faultOf(recording, set, index, all.length - hits.length)
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

/** Finds the hits of each fault that was set. */
export class FaultHits {
  /** By the seq of the note that set the fault, until a fault of the same name is set. */
  readonly #bySet = new Map<number, Hit[]>()
  readonly #cleared = new Set<unknown>()
  readonly #refused: ReadonlySet<number | null>

  constructor({ entries, faultsBefore }: Recording) {
    const current = new Map<unknown, Hit[]>()
    const begin = ({ seq, fault }: Note) => {
      const hits: Hit[] = []
      current.set(fault, hits)
      this.#bySet.set(seq, hits)
    }
    faultsBefore.forEach(begin)
    for (const entry of entries) {
      if (entry.kind === 'fault') current.get(entry.fault)?.push(entry)
      else if (entry.kind === 'note' && entry.note === 'fault_set') begin(entry)
      else if (entry.kind === 'note' && entry.note === 'fault_cleared') this.#cleared.add(entry.fault)
    }
    const refused = entries.filter(entry => entry.kind === 'api' && !isExpectable(entry))
    this.#refused = new Set(refused.map(({ seq }) => seq))
  }

  hitsOf({ seq }: Note): readonly Hit[] {
    return this.#bySet.get(seq) ?? []
  }

  isCleared(name: string): boolean {
    return this.#cleared.has(name)
  }

  /** Such a call is no step, so the fault must not apply to the next one instead. */
  isOfRefusedCall({ cause }: Hit): boolean {
    return this.#refused.has(cause)
  }
}

/** Null when nothing is left of it. `more`: hits that the scenario does not repeat. */
function faultOf({ hitsBefore }: Recording, set: Note, index: FaultHits, more: number): FaultFields | null {
  const name = String(set.fault)
  const hits = index.hitsOf(set)
  const used = hits[0] === undefined ? (hitsBefore.get(name) ?? 0) : hits[0].hit - 1
  const times = typeof set.of === 'number' ? set.of - used - more : undefined
  if (times !== undefined && times <= 0) return null
  const { on, effect, skip, every, respond } = set
  const effects = isMap(effect) ? effect : {}
  const isHolding = effects.hold !== undefined || effects.swap !== undefined
  const isNamed = isHolding || !/^fault-\d+$/.test(name) || index.isCleared(name)
  const spec = { name: isNamed ? name : undefined, on, ...effects, ...(respond ? { respond } : {}), skip, every, times }
  const parsed = Fault.safeParse(withoutUndefined(spec))
  return parsed.success ? escapePlaceholders(parsed.data) : null
}
