/** Steps that wait for the answer to an event which a fault keeps back until a later one: nothing can let it go. */
import type { FaultSpec } from '../../faults/spec.ts'
import type { Warning } from '../format/loaded.ts'
import type { PlannedItem, PlannedStep } from '../plan.ts'

interface Keeping {
  readonly spec: FaultSpec
  readonly conversation: string
  /** How many more it will keep back. */
  left: number
  /** How many events go past the one it has. */
  passing: number
}

/** Only what can be seen for certain: branches beside each other may free each other's events. */
export function heldEventHints(items: readonly PlannedItem[]): Warning[] {
  const taken = new Set<string>()
  let keeping: Keeping[] = []
  return items.flatMap(item => {
    if (item.kind === 'parallel') keeping = []
    if (item.kind === 'parallel') return []
    if (isTakeover(item)) taken.add(item.conversation)
    keeping = afterFault(keeping, item)
    const by = keeping.filter(one => strikes(one, item, taken.has(item.conversation)))
    const waits = 'async' in item.action && !item.action.async && item.action.ack !== null
    return by.length > 0 && waits ? [{ place: item.place, rule: 'held-event-is-waited-for', message: MESSAGE }] : []
  })
}

const MESSAGE =
  'a fault keeps this event back until a later one of the chat has passed, and none comes while the step waits for its ' +
  'answer: say `async: true`'

const isTakeover = ({ action }: PlannedStep): boolean =>
  (action.verb === 'agent' && action.does === 'accept') ||
  (action.verb === 'expect' && action.tree.op === 'call' && action.tree.call === 'start')

function afterFault(keeping: Keeping[], { action, conversation }: PlannedStep): Keeping[] {
  if (action.verb !== 'fault') return keeping
  const { fault } = action
  if ('clear' in fault) return fault.clear === true ? [] : keeping.filter(({ spec }) => spec.name !== fault.clear)
  const keeps = fault.hold !== undefined || fault.swap === true
  const isPlain = fault.skip === undefined && fault.every === undefined && fault.chat_id === undefined
  if (!keeps || !isPlain) return keeping
  return [...keeping, { spec: fault, conversation, left: fault.times ?? Number.POSITIVE_INFINITY, passing: 0 }]
}

/** Counts as the fault itself would. */
function strikes(one: Keeping, { action, conversation }: PlannedStep, isTaken: boolean): boolean {
  const event =
    action.verb === 'press' ? 'REQUESTING TAKEOVER' : action.verb === 'user' && isTaken ? 'MESSAGE FROM USER' : null
  if (event === null || conversation !== one.conversation || one.left === 0) return false
  if (one.passing > 0) {
    one.passing--
    return false
  }
  const { on, hold = 1 } = one.spec
  const names = typeof on === 'object' ? [on.webhook ?? []].flat() : ['any']
  if (!names.includes('any') && !names.includes(event)) return false
  one.left--
  one.passing = hold
  return true
}
