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

export interface Windows {
  /** The first stimulus of the turn. */
  turnStart(step: PlannedStep): Moment
  /** Where the step with this id began. */
  since(id: string): Moment
  /** The latest stimulus of the turn, of its own conversation where there is one. */
  stimulus(step: PlannedStep): Moment
  /** Adds a step to a plan that receives its steps one by one. */
  addStep(step: PlannedStep): void
}

export function createWindows(index: JournalIndex): Windows {
  const turns = openedTurns([...index.plan.steps], [...index.plan.finally])
  const byId = new Map([...index.steps.values()].flatMap(step => (step.id === null ? [] : [[step.id, step.number]])))

  function begun(step: number): Moment | null {
    const mark = index.begun(step)
    return mark === null ? null : { atMs: mark.at_ms, seq: mark.seq, step }
  }

  const momentsOf = (steps: readonly number[]): Moment[] =>
    steps
      .map(begun)
      .filter(moment => moment !== null)
      .sort((a, b) => a.seq - b.seq)

  return {
    turnStart: step => momentsOf(step.turn)[0] ?? BEGINNING,
    since: id => begun(byId.get(id) ?? 0) ?? BEGINNING,
    stimulus(step) {
      const stimuli = step.turn.flatMap(opener => turns.get(opener) ?? [])
      const before = stimuli.filter(({ number }) => number < step.number)
      const own = before.filter(({ conversation }) => conversation === step.conversation)
      return momentsOf((own.length > 0 ? own : before).map(({ number }) => number)).at(-1) ?? BEGINNING
    },
    addStep(step) {
      if (step.id !== null) byId.set(step.id, step.number)
      if (!isStimulus(step)) return
      const opener = step.turn[0] ?? step.number
      turns.set(opener, [...(turns.get(opener) ?? []), step])
    },
  }
}

type Turns = Map<number, readonly PlannedStep[]>

/** The stimuli of a turn by each number it could be opened with. */
function openedTurns(...lists: PlannedItem[][]): Turns {
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
  readonly claims: Pick<ClaimRegistry, 'floorOf'>
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
