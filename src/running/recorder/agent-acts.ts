/**
 * Draws what the agent did from the calls of the intermediary: `start` shows that the agent accepted, a message while an
 * agent has the chat that the agent wrote, `end` that the agent left. Other calls are the intermediary's own.
 */
import { isMap } from '../../base/objects.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { Step } from '../../evaluation/scenario/format/step.ts'
import { AGENT_WORDS } from '../../evaluation/scenario/format/stimuli.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { type ApiEntry, beganMs, hasFailed, isExpectable, isSameCall, type RecordedCall } from './recorded-calls.ts'

type AgentStep = NonNullable<Step['agent']>

export interface AgentActs {
  /** The step of the agent before the entry with this seq. */
  readonly before: ReadonlyMap<number, AgentStep>
  /** Calls that belong to the call before them: the platform received both for one act. */
  readonly joined: ReadonlySet<number>
  /** Calls without an agent: the intermediary made them by itself. */
  readonly byItself: ReadonlySet<number>
}

/** `entries`: of one chat, or those of no chat. */
export function agentActs(entries: readonly Entry[]): AgentActs {
  const acts = new ActReader(entries)
  entries.forEach((entry, index) => void acts.read(entry, index))
  return acts
}

class ActReader implements AgentActs {
  readonly before = new Map<number, AgentStep>()
  readonly joined = new Set<number>()
  readonly byItself = new Set<number>()
  readonly #entries: readonly Entry[]
  /** Whether the journal has the acts themselves, because an agent driver was used. */
  readonly #isDriven: boolean
  #isTaken = false
  #isTyping = false
  #last: RecordedCall | null = null
  /** When the user or the agent did something last. */
  #lastActMs = 0
  /** The intermediary's own calls since then. */
  #own: RecordedCall[] = []

  constructor(entries: readonly Entry[]) {
    this.#entries = entries
    this.#isDriven = entries.some(isDriverAct)
  }

  read(entry: Entry, index: number): void {
    if (entry.kind === 'api') this.#readCall(entry, index)
    else if (entry.kind === 'user' || isDriverAct(entry)) this.#acted(entry.at_ms)
    else if (entry.kind === 'note') this.#readNote(entry)
  }

  #readNote({ note }: EntryOf<'note'>): void {
    if (note === 'taken_over') this.#isTaken = true
    if (note === 'handed_back') this.#isTaken = false
    if (note === 'typing_hidden') this.#isTyping = false
  }

  #acted(atMs: number): void {
    this.#lastActMs = atMs
    this.#own = []
    this.#last = null
  }

  #readCall(call: ApiEntry, index: number): void {
    if (!isExpectable(call)) return
    const isRetry = this.#last !== null && hasFailed(this.#last) && isSameCall(this.#last, call)
    if (!isRetry) this.#readNewCall(call, index)
    if (call.endpoint.startsWith('typing_')) this.#isTyping = call.endpoint === 'typing_start'
    this.#last = call
  }

  #readNewCall(call: RecordedCall, index: number): void {
    if (this.#endsTyping(call, index)) return
    const step = this.#isDriven ? null : this.#stepFor(call)
    if (step === null) {
      this.#own.push(call)
      if (OF_AGENTS.includes(call.endpoint) && !this.#isTaken && !this.#isDriven) this.byItself.add(call.seq)
      return
    }
    const [first] = this.#leading(call)
    this.before.set(first?.seq ?? call.seq, step)
    this.#acted(call.at_ms)
  }

  /** The intermediary often hides the indicator itself when the agent sends a message or leaves. */
  #endsTyping(call: RecordedCall, index: number): boolean {
    if (call.endpoint !== 'typing_stop') return false
    const next = nextCall(this.#entries, index)
    const isBefore = next !== null && ENDS_TYPING.includes(next.endpoint) && isSoon(call, next)
    const isAfter = this.#last?.endpoint === 'message' && isSoon(this.#last, call)
    if (isBefore) this.#own.push(call)
    if (isBefore || isAfter) this.joined.add(isBefore ? next.seq : call.seq)
    return isBefore || isAfter
  }

  /** The calls before `call` that were made because of the same act: those that are much nearer to it than to the act before. */
  #leading(call: RecordedCall): RecordedCall[] {
    const isLeading = (own: RecordedCall) =>
      isNearer(beganMs(own) - this.#lastActMs, beganMs(call) - own.at_ms) ||
      (own.endpoint === 'typing_stop' && this.joined.has(call.seq))
    return this.#own.slice(this.#own.findLastIndex(own => !isLeading(own)) + 1)
  }

  /** Null for a call that no act of an agent explains. */
  #stepFor({ endpoint, request: { body } }: RecordedCall): AgentStep | null {
    if (endpoint === 'availability') return isMap(body) && body.availability === 'CLOSED' ? 'away' : 'back'
    if (endpoint === 'start') return this.#isTaken ? null : 'accept'
    if (!this.#isTaken) return null
    if (endpoint === 'message') return { says: escapePlaceholders(isMap(body) ? String(body.message ?? '') : '') }
    if (endpoint === 'typing_start') return 'type'
    if (endpoint === 'typing_stop') return this.#isTyping ? 'stop' : null
    return endpoint === 'end' ? 'leave' : null
  }
}

const ENDS_TYPING: readonly string[] = ['message', 'end']
const SOON_MS = 2_000
const isSoon = (one: ApiEntry, next: ApiEntry): boolean => beganMs(next) - one.at_ms < SOON_MS

/** A call that comes so soon after an act was made because of that act. */
const AT_ONCE_MS = 2_000
const isNearer = (sinceMs: number, untilMs: number): boolean => sinceMs > AT_ONCE_MS && untilMs < sinceMs / 4

/** Calls that usually follow an act of an agent. */
const OF_AGENTS: readonly string[] = ['message', 'end', 'typing_start', 'typing_stop']

const AGENT_VERBS: readonly string[] = [...AGENT_WORDS, 'says']

/** An act that an agent driver performed. */
export const isDriverAct = (entry: Entry): entry is EntryOf<'driver'> =>
  entry.kind === 'driver' && (AGENT_VERBS.includes(String(entry.verb)) || customVerb(entry) !== null)

/** The name of a verb that only this driver has. */
const customVerb = ({ verb }: EntryOf<'driver'>): string | null =>
  typeof verb === 'string' && verb.startsWith('does.') ? verb.slice('does.'.length) : null

/** The step of an act that an agent driver performed. */
export function driverStep(entry: EntryOf<'driver'>): AgentStep {
  const does = customVerb(entry)
  if (does !== null) return { does, ...(isMap(entry.with) && { with: escapePlaceholders(entry.with) }) }
  const word = AGENT_WORDS.find(one => one === entry.verb)
  return word ?? { says: escapePlaceholders(String(entry.text ?? '')) }
}

/** The next call of the chat, unless the user acts before it. */
function nextCall(entries: readonly Entry[], index: number): RecordedCall | null {
  for (let next = index + 1; next < entries.length; next++) {
    const entry = entries[next]
    if (entry?.kind === 'user') return null
    if (entry?.kind === 'api' && isExpectable(entry)) return entry
  }
  return null
}
