/** Finds steps that an author should change, without running the scenario. */

import type { FaultFields } from '../../../platform/faults/schema.ts'
import type { Hint } from '../format/scenario.ts'
import { isCheck, type Plan, type PlannedItem, type PlannedStep, stepsOf, type Verb } from '../plan.ts'
import { callsOf, unknownFields } from './call-patterns.ts'
import { COMPILE_TEXTS } from './texts.ts'

export function hintsOf(plans: readonly Plan[]): Hint[] {
  const all = plans.flatMap(plan => {
    const items = [...plan.steps, ...plan.finally]
    return [...hintsIn(items, plan.clock?.mode ?? 'real'), ...heldEventHints(items), ...fieldsIn(items)]
  })
  const key = ({ place, rule, message }: Hint) => `${rule} ${place?.file}:${place?.line}:${place?.column} ${message}`
  return all.filter((one, index) => one.place === null || all.findIndex(other => key(other) === key(one)) === index)
}

const fieldsIn = (items: readonly PlannedItem[]): Hint[] =>
  [...stepsOf(items)].flatMap(({ action, place }) =>
    (action.verb === 'expect' ? [...callsOf(action.tree)] : []).flatMap(call =>
      unknownFields(call).map(({ name, hint }) => {
        return { place, rule: 'unknown-field', message: COMPILE_TEXTS.unknownField(call.call, name, hint) }
      }),
    ),
  )

function hintsIn(items: readonly PlannedItem[], clock: 'real' | 'virtual'): Hint[] {
  const steps = items.filter(item => item.kind === 'step')
  const branches = items.flatMap(item => (item.kind === 'parallel' ? item.branches : []))
  const found = steps.flatMap((step, index) => {
    if (step.action.verb !== 'wait') return []
    const next = steps.slice(index + 1).find(other => !PASSING.includes(other.action.verb))
    return next === undefined ? [] : waitHints(step, next, clock)
  })
  return [...found, ...branches.flatMap(branch => hintsIn(branch, clock))]
}

const PASSING: readonly Verb[] = ['log', 'fault']

function waitHints({ place }: PlannedStep, next: PlannedStep, clock: 'real' | 'virtual'): Hint[] {
  const { verb } = next.action
  if (clock === 'virtual' && verb === 'none') {
    return [{ place, rule: 'virtual-wait-before-none', message: COMPILE_TEXTS.virtualWait }]
  }
  if (clock === 'virtual' || verb === 'none' || !isCheck(next)) return []
  return [{ place, rule: 'sleep-before-expect', message: COMPILE_TEXTS.needlessWait(verb) }]
}

interface HoldingFault {
  readonly spec: FaultFields
  readonly conversation: string
  /** How many more events it holds. */
  left: number
  /** How many events still pass before it releases the held one. */
  passing: number
}

/** Finds steps that wait for an event a fault holds. Skips parallel branches, which can release each other's events. */
function heldEventHints(items: readonly PlannedItem[]): Hint[] {
  const taken = new Set<string>()
  let holding: HoldingFault[] = []
  return items.flatMap(item => {
    if (item.kind === 'parallel') holding = []
    if (item.kind === 'parallel') return []
    if (isTakeover(item)) taken.add(item.conversation)
    holding = afterFault(holding, item)
    const by = holding.filter(one => holds(one, item, taken.has(item.conversation)))
    const waits = 'async' in item.action && !item.action.async && item.action.ack !== null
    return by.length > 0 && waits
      ? [{ place: item.place, rule: 'held-event-is-waited-for', message: COMPILE_TEXTS.heldEvent }]
      : []
  })
}

const isTakeover = ({ action }: PlannedStep): boolean =>
  (action.verb === 'agent' && action.does === 'accept') ||
  (action.verb === 'expect' && action.tree.op === 'call' && action.tree.call === 'start')

function afterFault(holding: HoldingFault[], { action, conversation }: PlannedStep): HoldingFault[] {
  if (action.verb !== 'fault') return holding
  const { fault } = action
  if ('clear' in fault) return fault.clear === true ? [] : holding.filter(({ spec }) => spec.name !== fault.clear)
  const keeps = fault.hold !== undefined || fault.swap === true
  const isPlain = fault.skip === undefined && fault.every === undefined && fault.chat_id === undefined
  if (!keeps || !isPlain) return holding
  return [...holding, { spec: fault, conversation, left: fault.times ?? Number.POSITIVE_INFINITY, passing: 0 }]
}

/** Counts in the same way as the fault. */
function holds(one: HoldingFault, { action, conversation }: PlannedStep, isTaken: boolean): boolean {
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
