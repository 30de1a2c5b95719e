import type { EntryOf, FaultEffect } from '../../platform/journal/entry.ts'
import { effectText } from '../../platform/wording/faults.ts'
import { stepsOf } from '../scenario/plan.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import type { Rule } from './rule.ts'

type FaultSet = EntryOf<'note'> & { readonly fault: string; readonly effect: FaultEffect }

/** Reports faults that nothing was applied to; only when every step ended, because later calls may use a fault. */
export const faultUnused: Rule = {
  id: 'fault-unused',
  level: 'SHOULD',
  *judgeAll({ entries }, { plan }) {
    const faults = entries.filter((entry): entry is FaultSet => entry.kind === 'note' && entry.note === 'fault_set')
    const ended = new Set<unknown>()
    for (const entry of entries) if (isRunEvent(entry, 'step_ended')) ended.add(entry.step)
    const steps = [...stepsOf([...plan.steps, ...plan.finally])]
    if (steps.length === 0 || !steps.every(({ number }) => ended.has(number))) return
    for (const { fault, effect, seq, chat_id } of faults) {
      // A fault of the same name can be set after the first is cleared.
      const until = faults.find(other => other.fault === fault && other.seq > seq)?.seq ?? Number.POSITIVE_INFINITY
      const isUsed = entries.some(
        one => one.kind === 'fault' && one.fault === fault && one.seq > seq && one.seq < until,
      )
      if (isUsed) continue
      yield {
        happened: `The fault ${fault} (${effectText(effect)}), set with #${seq}, was not applied to any call or event, so the scenario does not test it.`,
        hint: 'Set it before the call or event it is for, for the right chat, or remove it.',
        chat_id,
        entries: [{ seq }],
      }
    }
  },
}
