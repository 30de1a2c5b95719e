/** Picks the entries that concern the platform out of the journal, and derives settings, availability and faults at any moment. */
import { isMap } from '../../../base/objects.ts'
import { effectOf } from '../../../platform/faults/effects.ts'
import type { NamedFault } from '../../../platform/faults/registry.ts'
import type { FaultOn } from '../../../platform/faults/schema.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { append, countUntil } from './journal-log.ts'

type Note = EntryOf<'note'>
type Settings = Readonly<Record<string, unknown>>

export interface PlatformLog {
  /** Notes after which settings, availability, faults or the clock are others. */
  readonly changes: readonly Note[]
  readonly attempts: readonly EntryOf<'delivery'>[]
  /** The seqs of the hits of each fault by its name. */
  readonly hits: ReadonlyMap<string, readonly { readonly seq: number }[]>
  /** Returns whether the entry concerns the platform. */
  add(entry: Entry): boolean
}

const CHANGES: readonly string[] = [
  'config',
  'availability',
  'fault_set',
  'fault_cleared',
  'clock_advanced',
  'clock_paused',
  'clock_resumed',
]

export function createPlatformLog(): PlatformLog {
  const changes: Note[] = []
  const attempts: EntryOf<'delivery'>[] = []
  const hits = new Map<string, { seq: number }[]>()
  return {
    changes,
    attempts,
    hits,
    add(entry) {
      if (entry.kind === 'delivery') {
        attempts.push(entry)
        if (attempts.length > 2 * MOST_ATTEMPTS) attempts.splice(0, MOST_ATTEMPTS)
      } else if (entry.kind === 'fault') append(hits, entry.fault, { seq: entry.seq })
      else if (entry.kind === 'note' && CHANGES.includes(entry.note)) changes.push(entry)
      else return false
      return true
    },
  }
}

/** As many as the server keeps entries. */
const MOST_ATTEMPTS = 10_000

/** The settings at a moment: those of now, with later changes undone. */
export function configAt(config: Settings, log: Pick<PlatformLog, 'changes'>, at: number | null): Settings {
  if (at === null) return config
  // The notes after a moment, newest first; none for the present.
  const { changes } = log
  const undone = (at === null ? [] : changes.slice(countUntil(changes, at)).reverse()).map(({ note, previous }) =>
    note === 'config' && isMap(previous) ? previous : {},
  )
  return Object.assign({}, config, ...undone)
}

export interface QueueState {
  readonly bot_id: number
  readonly queue: string
  readonly availability: 'OPEN' | 'CLOSED'
  readonly reason: string | null
  readonly updated_at: string | null
}

/** `config` is that of the moment. */
export const queuesAt = (
  queues: readonly QueueState[],
  log: Pick<PlatformLog, 'changes'>,
  at: number | null,
  config: Settings,
): readonly QueueState[] =>
  queues.map(queue => {
    const { changes } = log
    const own = changes.filter(
      ({ note, bot_id, queue: name }) => note === 'availability' && bot_id === queue.bot_id && name === queue.queue,
    )
    const count = at === null ? own.length : countUntil(own, at)
    if (count === own.length && queue.updated_at !== null) return queue
    const latest = own[count - 1]
    if (latest !== undefined) {
      const { availability, reason } = latest
      return { ...queue, availability: stateOf(availability), reason: textOrNull(reason), updated_at: latest.time }
    }
    const before = own[count]?.previous
    const { availability, reason } = isMap(before)
      ? before
      : { availability: config['availability.initial'], reason: null }
    return { ...queue, availability: stateOf(availability), reason: textOrNull(reason), updated_at: null }
  })

const stateOf = (value: unknown) => (value === 'CLOSED' ? 'CLOSED' : 'OPEN')
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** A fault that is set at a moment. */
export interface FaultState {
  readonly name: string
  /** Null when the journal no longer has the entry that set it. */
  readonly on: FaultOn | null
  readonly effect: unknown
  readonly chat_id: string | null
  readonly skip: number
  readonly every: number
  readonly of: number | null
  readonly hits: number
  /** How many events it holds; 0 at an earlier moment. */
  readonly holding: number
  /** The entries of its hits, oldest first. */
  readonly hitSeqs: readonly number[]
}

interface Lifetime {
  readonly name: string
  readonly from: number
  to: number
  readonly set: Note | null
}

/** When each fault was set and cleared. One whose beginning is no longer in the journal begins at 0. */
function lifetimesOf({ changes }: Pick<PlatformLog, 'changes'>, faults: readonly NamedFault[]): Lifetime[] {
  const lifetimes: Lifetime[] = []
  const open = (name: unknown) => lifetimes.findLast(one => one.name === name && one.to === Infinity)
  for (const entry of changes) {
    const name = String(entry.fault)
    if (entry.note === 'fault_set') lifetimes.push({ name, from: entry.seq, to: Infinity, set: entry })
    if (entry.note !== 'fault_cleared') continue
    const cleared = open(name)
    if (cleared === undefined) lifetimes.push({ name, from: 0, to: entry.seq, set: null })
    else cleared.to = entry.seq
  }
  for (const { name } of faults)
    if (open(name) === undefined) lifetimes.push({ name, from: 0, to: Infinity, set: null })
  return lifetimes
}

/** The faults that are set at a moment; `faults` are those of now. */
export function faultsAt(faults: readonly NamedFault[], log: PlatformLog, at: number | null): readonly FaultState[] {
  const until = at ?? Number.MAX_SAFE_INTEGER
  return lifetimesOf(log, faults)
    .filter(({ from, to }) => from <= until && until < to)
    .map(lifetime => {
      const now = lifetime.to === Infinity ? faults.find(({ name }) => name === lifetime.name) : undefined
      const hits = (log.hits.get(lifetime.name) ?? []).filter(({ seq }) => seq > lifetime.from && seq <= until)
      return faultState(
        lifetime,
        now,
        hits.map(({ seq }) => seq),
        at === null,
      )
    })
}

function faultState(
  { name, set }: Lifetime,
  now: NamedFault | undefined,
  hitSeqs: readonly number[],
  isNow: boolean,
): FaultState {
  return {
    name,
    on: now?.on ?? onOf(set?.on),
    effect: set?.effect ?? (now && effectOf(now)) ?? {},
    chat_id: now?.chat_id ?? set?.chat_id ?? null,
    skip: now?.skip ?? 0,
    every: now?.every ?? 1,
    of: now?.of ?? (typeof set?.of === 'number' ? set.of : null),
    hits: isNow && now !== undefined ? Math.max(now.hits, hitSeqs.length) : hitSeqs.length,
    holding: isNow && now !== undefined ? now.holding : 0,
    hitSeqs,
  }
}

const onOf = (on: unknown): FaultOn | null => {
  if (on === 'api' || on === 'webhook') return on
  return isMap(on) ? on : null
}
