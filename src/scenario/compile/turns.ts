/**
 * Turns: a run of stimuli, then a run of checks. A check looks from the first stimulus of its turn. Branches begin
 * with the turn before them; after them a check looks from the earliest of their last turns.
 */
import { isCheck, isStimulus, type PlannedItem, type PlannedStep, stepsOf } from '../plan.ts'

interface Turn {
  readonly opened: readonly number[]
  /** A check has been seen: the next stimulus opens a new turn. */
  readonly checked: boolean
}

/** The same items with `turn` and `readsInboxOf`. */
export function withTurns(steps: readonly PlannedItem[], last: readonly PlannedItem[]) {
  const body = placed(steps, { opened: [], checked: true })
  const end = placed(last, body.turn)
  const inboxes = inboxReads([...body.items, ...end.items])
  return { steps: withReads(body.items, inboxes), finally: withReads(end.items, inboxes) }
}

interface Placed {
  readonly items: PlannedItem[]
  readonly turn: Turn
}

function placed(items: readonly PlannedItem[], before: Turn): Placed {
  let turn = before
  const done = items.map(item => {
    const next = item.kind === 'step' ? placeStep(item, turn) : placeParallel(item.branches, turn)
    turn = next.turn
    return next.item
  })
  return { items: done, turn }
}

function placeStep(step: PlannedStep, turn: Turn): { item: PlannedItem; turn: Turn } {
  const next = after(step, turn)
  return { item: { ...step, turn: next.opened }, turn: next }
}

function after(step: PlannedStep, turn: Turn): Turn {
  if (isCheck(step)) return { ...turn, checked: true }
  if (!isStimulus(step) || !turn.checked) return turn
  return { opened: [step.number], checked: false }
}

function placeParallel(branches: readonly (readonly PlannedItem[])[], turn: Turn): { item: PlannedItem; turn: Turn } {
  const played = branches.map(branch => placed(branch, turn))
  const opened = [...new Set(played.flatMap(branch => branch.turn.opened))].sort((a, b) => a - b)
  const checked = played.every(branch => branch.turn.checked)
  return { item: { kind: 'parallel', branches: played.map(({ items }) => items) }, turn: { opened, checked } }
}

/** Step number -> lanes whose inbox a later `sees` of its turn looks into. */
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
