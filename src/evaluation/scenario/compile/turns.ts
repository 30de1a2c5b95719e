/**
 * Divides steps into turns: a run of stimuli, then a run of checks. A check considers calls since the first stimulus
 * of its turn. Branches begin with the turn before them; a check after them considers calls since the earliest of
 * their last turns.
 */
import { isCheck, isStimulus, type PlannedItem, type PlannedStep, stepsOf } from '../plan.ts'

export interface Turn {
  /** Numbers of the steps that opened it; several after a parallel. */
  readonly opened: readonly number[]
  /** Whether it has a check, so that the next stimulus opens a new turn. */
  readonly checked: boolean
}

export const FIRST_TURN: Turn = { opened: [], checked: true }

/** The turn of a step, given the turn before it. */
export function turnAfter(step: PlannedStep, before: Turn): Turn {
  if (isCheck(step)) return { ...before, checked: true }
  if (!isStimulus(step) || !before.checked) return before
  return { opened: [step.number], checked: false }
}

/** The same items with `turn` and `readsInboxOf`. */
export function withTurns(steps: readonly PlannedItem[], last: readonly PlannedItem[]) {
  const body = divide(steps, FIRST_TURN)
  const end = divide(last, body.turn)
  const inboxes = inboxReads([...body.items, ...end.items])
  return { steps: withReads(body.items, inboxes), finally: withReads(end.items, inboxes) }
}

interface Divided {
  readonly items: PlannedItem[]
  /** The last turn. */
  readonly turn: Turn
}

function divide(items: readonly PlannedItem[], before: Turn): Divided {
  let turn = before
  const divided = items.map(item => {
    if (item.kind === 'step') {
      turn = turnAfter(item, turn)
      return { ...item, turn: turn.opened }
    }
    const branches = item.branches.map(branch => divide(branch, turn))
    turn = afterBranches(branches)
    return { ...item, branches: branches.map(({ items: inner }) => inner) }
  })
  return { items: divided, turn }
}

const afterBranches = (branches: readonly Divided[]): Turn => ({
  opened: [...new Set(branches.flatMap(({ turn }) => turn.opened))].sort((a, b) => a - b),
  checked: branches.every(({ turn }) => turn.checked),
})

/** Step number -> conversations whose inbox a later `sees` of its turn reads. */
function inboxReads(items: readonly PlannedItem[]): Map<number, Set<string>> {
  const reads = new Map<number, Set<string>>()
  for (const { action, turn, conversation } of stepsOf(items)) {
    if (action.verb !== 'sees') continue
    for (const number of turn) reads.set(number, (reads.get(number) ?? new Set()).add(conversation))
  }
  return reads
}

function withReads(items: readonly PlannedItem[], reads: ReadonlyMap<number, ReadonlySet<string>>): PlannedItem[] {
  return items.map(item => {
    if (item.kind === 'step') return { ...item, readsInboxOf: [...(reads.get(item.number) ?? [])] }
    return { ...item, branches: item.branches.map(branch => withReads(branch, reads)) }
  })
}
