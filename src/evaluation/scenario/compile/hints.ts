/** Finds steps that an author should change, without running the scenario. */
import type { FaultFields } from '../../../platform/faults/schema.ts'
import type { Hint } from '../format/scenario.ts'
import { isCheck, type Plan, type PlannedItem, type PlannedStep, stepsOf } from '../plan.ts'
import { callsOf, unknownFields } from './call-patterns.ts'

export function hintsOf(plans: readonly Plan[]): Hint[] {
  const hints = new Map<string, Hint>()
  for (const plan of plans) {
    const items = [...plan.steps, ...plan.finally]
    for (const hint of [
      ...waitHints(items, plan.clock?.mode ?? 'real'),
      ...heldEventHints(items),
      ...unknownFieldHints(items),
    ])
      hints.set(JSON.stringify(hint), hint)
  }
  return [...hints.values()]
}

function* unknownFieldHints(items: readonly PlannedItem[]): Iterable<Hint> {
  for (const { action, place } of stepsOf(items)) {
    if (action.verb !== 'expect') continue
    for (const call of callsOf(action.tree))
      for (const { name, hint } of unknownFields(call))
        yield { place, rule: 'unknown-field', message: `${call.call} has no field ${name}${hint}` }
  }
}

function* waitHints(items: readonly PlannedItem[], clock: 'real' | 'virtual'): Iterable<Hint> {
  const steps = items.filter(item => item.kind === 'step')
  for (const [index, { action, place }] of steps.entries()) {
    if (action.verb !== 'wait') continue
    const next = steps.slice(index + 1).find(other => other.action.verb !== 'log' && other.action.verb !== 'fault')
    if (next === undefined) continue
    const { verb } = next.action
    if (clock === 'virtual' && verb === 'none')
      yield {
        place,
        rule: 'virtual-wait-before-none',
        message: 'the wait takes no real time, so the intermediary had none to make a call in: use a longer `for`',
      }
    if (clock === 'real' && verb !== 'none' && isCheck(next))
      yield {
        place,
        rule: 'sleep-before-expect',
        message: `${verb} waits by itself: leave the wait out, or give it more time with \`within\``,
      }
  }
  for (const item of items)
    if (item.kind === 'parallel') for (const branch of item.branches) yield* waitHints(branch, clock)
}

interface HoldingFault {
  readonly fault: FaultFields
  readonly conversation: string
  /** How many more events it holds. */
  left: number
  /** How many events still pass before it releases the held one. */
  passing: number
}

/** Finds steps that wait for an event a fault holds. Skips parallel branches, which can release each other's events. */
function* heldEventHints(items: readonly PlannedItem[]): Iterable<Hint> {
  const taken = new Set<string>()
  let holding: HoldingFault[] = []
  for (const item of items) {
    if (item.kind === 'parallel') {
      holding = []
      continue
    }
    const { action, conversation, place } = item
    const isStart = action.verb === 'expect' && action.tree.op === 'call' && action.tree.call === 'start'
    if (isStart || (action.verb === 'agent' && action.does === 'accept')) taken.add(conversation)
    if (action.verb === 'fault') {
      const { fault } = action
      if ('clear' in fault) {
        holding = fault.clear === true ? [] : holding.filter(one => one.fault.name !== fault.clear)
        continue
      }
      const isHolding = fault.hold !== undefined || fault.swap === true
      const isPlain = fault.skip === undefined && fault.every === undefined && fault.chat_id === undefined
      const left = fault.times ?? Number.POSITIVE_INFINITY
      if (isHolding && isPlain) holding.push({ fault, conversation, left, passing: 0 })
    }
    const event = eventOf(item, taken.has(conversation))
    // Every fault counts the event, as it does in the run.
    const isHeld =
      event !== null &&
      holding.filter(one => {
        // Counts in the same way as the fault.
        if (conversation !== one.conversation || one.left === 0) return false
        if (one.passing > 0) {
          one.passing--
          return false
        }
        const { on, hold = 1 } = one.fault
        const names = typeof on === 'object' ? [on.webhook ?? []].flat() : ['any']
        if (!names.includes('any') && !names.includes(event)) return false
        one.left--
        one.passing = hold
        return true
      }).length > 0
    if (isHeld && 'async' in action && !action.async && action.ack !== null)
      yield {
        place,
        rule: 'held-event-is-waited-for',
        message:
          'a fault keeps this event back until a later one of the chat has passed, and none comes while the step waits ' +
          'for its answer: say `async: true`',
      }
  }
}

function eventOf({ action }: PlannedStep, isTaken: boolean): string | null {
  if (action.verb === 'press') return 'REQUESTING TAKEOVER'
  return action.verb === 'user' && isTaken ? 'MESSAGE FROM USER' : null
}
