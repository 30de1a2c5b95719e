/** What a careful author would change, seen without playing. */
import type { Verb } from '../action.ts'
import type { Warning } from '../format/loaded.ts'
import { isCheck, type Plan, type PlannedItem, type PlannedStep, stepsOf } from '../plan.ts'
import { callsOf } from './call-patterns.ts'
import { heldEventHints } from './held-event-hints.ts'
import { unknownFields } from './unknown-fields.ts'

export function hintsOf(plans: readonly Plan[]): Warning[] {
  const all = plans.flatMap(plan => {
    const items = [...plan.steps, ...plan.finally]
    return [...hintsIn(items, plan.clock?.mode ?? 'real'), ...heldEventHints(items), ...fieldsIn(items)]
  })
  const key = ({ place, rule, message }: Warning) => `${rule} ${place?.file}:${place?.line}:${place?.column} ${message}`
  return all.filter((one, index) => one.place === null || all.findIndex(other => key(other) === key(one)) === index)
}

const fieldsIn = (items: readonly PlannedItem[]): Warning[] =>
  [...stepsOf(items)].flatMap(({ action, place }) =>
    (action.verb === 'expect' ? [...callsOf(action.tree)] : []).flatMap(call =>
      unknownFields(call).map(({ name, hint }) => {
        return { place, rule: 'unknown-field', message: `${call.call} has no field ${name}${hint}` }
      }),
    ),
  )

function hintsIn(items: readonly PlannedItem[], clock: 'real' | 'virtual'): Warning[] {
  const steps = items.filter(item => item.kind === 'step')
  const branches = items.flatMap(item => (item.kind === 'parallel' ? item.branches : []))
  const compiler = steps.flatMap((step, index) => {
    if (step.action.verb !== 'wait') return []
    const next = steps.slice(index + 1).find(other => !PASSING.includes(other.action.verb))
    const found = next === undefined ? null : hint(step, next, clock)
    return found === null ? [] : [found]
  })
  return [...compiler, ...branches.flatMap(branch => hintsIn(branch, clock))]
}

const PASSING: readonly Verb[] = ['log', 'fault']

function hint(wait: PlannedStep, next: PlannedStep, clock: 'real' | 'virtual'): Warning | null {
  if (clock === 'virtual' && next.action.verb === 'none') {
    const message = 'the wait takes no real time, so the intermediary had none to make a call in: use a longer `for`'
    return { place: wait.place, rule: 'virtual-wait-before-none', message }
  }
  if (clock === 'real' && isCheck(next) && next.action.verb !== 'none') {
    const message = `${next.action.verb} waits by itself: leave the wait out, or give it more time with \`within\``
    return { place: wait.place, rule: 'sleep-before-expect', message }
  }
  return null
}
