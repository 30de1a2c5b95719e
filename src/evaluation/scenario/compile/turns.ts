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
  // Step number -> conversations whose inbox a later `sees` of its turn reads.
  const reads = new Map<number, Set<string>>()
  for (const { action, turn, conversation } of stepsOf([...body.items, ...end.items]))
    if (action.verb === 'sees')
      for (const number of turn) reads.set(number, (reads.get(number) ?? new Set()).add(conversation))
  return { steps: withReads(body.items, reads), finally: withReads(end.items, reads) }
}

function divide(items: readonly PlannedItem[], before: Turn): { readonly items: PlannedItem[]; readonly turn: Turn } {
  let turn = before
  const divided: PlannedItem[] = []
  for (const item of items) {
    if (item.kind === 'step') {
      turn = turnAfter(item, turn)
      divided.push({ ...item, turn: turn.opened })
      continue
    }
    const branches = item.branches.map(branch => divide(branch, turn))
    const opened = new Set(branches.flatMap(branch => branch.turn.opened))
    turn = { opened: [...opened].sort((a, b) => a - b), checked: branches.every(branch => branch.turn.checked) }
    divided.push({ ...item, branches: branches.map(branch => branch.items) })
  }
  return { items: divided, turn }
}

const withReads = (items: readonly PlannedItem[], reads: ReadonlyMap<number, ReadonlySet<string>>): PlannedItem[] =>
  items.map(item =>
    item.kind === 'step'
      ? { ...item, readsInboxOf: [...(reads.get(item.number) ?? [])] }
      : { ...item, branches: item.branches.map(branch => withReads(branch, reads)) },
  )
