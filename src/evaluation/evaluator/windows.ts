/** Computes when a step begins to look at calls, and when its time is up. */

import { isCheck, isStimulus, type PlannedItem, type PlannedStep } from '../scenario/plan.ts'
import type { ClaimRegistry } from './claims.ts'
import type { Within } from './failure.ts'
import type { ConversationKey, JournalIndex } from './journal-index.ts'
import { stepName } from './references.ts'

/** A moment, and the entry it is known by: null for the beginning of the play. */
export interface Moment {
  readonly atMs: number
  readonly seq: number
  readonly step: number | null
}

export const BEGINNING: Moment = { atMs: Number.NEGATIVE_INFINITY, seq: 0, step: null }

export class Windows {
  readonly #index: JournalIndex
  readonly #turns: Turns
  readonly #byId: Map<string, number>

  constructor(index: JournalIndex) {
    this.#index = index
    this.#turns = openedTurns(index.plan.steps, index.plan.finally)
    this.#byId = new Map([...index.steps.values()].flatMap(({ id, number }) => (id === null ? [] : [[id, number]])))
  }

  #begun(step: number): Moment | null {
    const entry = this.#index.begun(step)
    return entry === null ? null : { atMs: entry.at_ms, seq: entry.seq, step }
  }

  #momentsOf(steps: readonly number[]): Moment[] {
    const moments = steps.map(step => this.#begun(step)).filter(moment => moment !== null)
    return moments.sort((a, b) => a.seq - b.seq)
  }

  /** The first stimulus of the turn. */
  turnStart({ turn }: PlannedStep): Moment {
    return this.#momentsOf(turn)[0] ?? BEGINNING
  }

  /** Whether all calls since the beginning of the turn were read, and not evicted before. */
  isWhole({ turn, conversation }: PlannedStep): boolean {
    if (this.#index.isWhole(conversation)) return true
    const opener = Math.min(...turn)
    if (this.#begun(opener) === null) return false
    const before = [...this.#index.steps.values()].filter(step => step.conversation === conversation)
    return turn.length > 0 && before.some(step => isCheck(step) && step.number < opener)
  }

  /** Where the step with this id began. */
  since(id: string): Moment {
    return this.#begun(this.#byId.get(id) ?? 0) ?? BEGINNING
  }

  /** The latest stimulus of the turn, of its own conversation where there is one. */
  stimulus(step: PlannedStep): Moment {
    const stimuli = step.turn.flatMap(opener => this.#turns.get(opener) ?? [])
    const before = stimuli.filter(({ number }) => number < step.number)
    const own = before.filter(({ conversation }) => conversation === step.conversation)
    return this.#momentsOf((own.length > 0 ? own : before).map(({ number }) => number)).at(-1) ?? BEGINNING
  }

  /** Adds a step to a plan that receives its steps one by one. */
  addStep(step: PlannedStep): void {
    if (step.id !== null) this.#byId.set(step.id, step.number)
    if (!isStimulus(step)) return
    const opener = step.turn[0] ?? step.number
    const turn = this.#turns.get(opener)
    if (turn === undefined) this.#turns.set(opener, [step])
    else turn.push(step)
  }

  /** Drops these steps. */
  evict(steps: readonly number[]): void {
    const dropped = new Set(steps)
    for (const [id, number] of this.#byId) if (dropped.has(number)) this.#byId.delete(id)
    for (const [opener, turn] of this.#turns) {
      const rest = turn.filter(({ number }) => !dropped.has(number))
      if (rest.length === 0) this.#turns.delete(opener)
      else if (rest.length < turn.length) this.#turns.set(opener, rest)
    }
  }
}

type Turns = Map<number, PlannedStep[]>

/** The stimuli of a turn by each number it could be opened with. */
function openedTurns(...lists: (readonly PlannedItem[])[]): Turns {
  const turns: Turns = new Map()
  for (const items of lists) collect(items, turns)
  return turns
}

function collect(items: readonly PlannedItem[], turns: Turns): void {
  let run: PlannedStep[] = []
  for (const item of items) {
    if (item.kind === 'parallel') {
      run = []
      for (const branch of item.branches) collect(branch, turns)
    } else if (isCheck(item)) run = []
    else if (isStimulus(item)) {
      run.push(item)
      turns.set(item.number, run)
    }
  }
}

export interface Deadline {
  readonly atMs: number
  readonly within: Within
}

interface DeadlineContext {
  readonly windows: Windows
  readonly index: JournalIndex
  readonly claims: ClaimRegistry
}

/**
 * `within` counts from the turn's stimulus or the conversation's last claimed call, whichever is later, and is meant
 * strictly. A stimulus that takes time itself, so that nothing reaches the intermediary meanwhile, counts from its end.
 * The default only says how long to wait: it counts from the start of the step when that is later still.
 */
export function deadlineOf(
  context: DeadlineContext,
  step: PlannedStep,
  conversation: ConversationKey,
  withinMs: number | null,
): Deadline {
  const begun = context.index.startOf(step.number).at_ms
  const base = baseOf(context, step, conversation)
  const waitMs = 'waitMs' in step.action ? step.action.waitMs : undefined
  const ms = withinMs ?? waitMs ?? context.index.plan.timeouts.expectMs
  if (base === null || (withinMs === null && base.atMs < begun)) return { atMs: begun + ms, within: { ms, from: null } }
  return { atMs: base.atMs + ms, within: { ms, from: base.from } }
}

interface Base {
  readonly atMs: number
  readonly from: Within['from']
}

function baseOf(
  { windows, index, claims }: DeadlineContext,
  step: PlannedStep,
  conversation: ConversationKey,
): Base | null {
  const stimulus = windows.stimulus(step)
  const claimed = claims.floorOf(conversation)
  const own = stimulus.step === null ? undefined : index.steps.get(stimulus.step)
  const takesTime = own?.action.verb === 'wait' || own?.action.verb === 'target'
  const atMs = takesTime ? (index.endOf(own.number)?.at_ms ?? stimulus.atMs) : stimulus.atMs
  if (claimed !== null && claimed.readAt > atMs) return { atMs: claimed.readAt, from: { seq: claimed.seq } }
  return own === undefined ? null : { atMs, from: { step: stepName(own) } }
}
