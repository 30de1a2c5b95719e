/** Whether a journal is of the steps it is judged by. */
import type { RunEventOf } from '../scenario/run-events.ts'
import type { JournalIndex } from './journal-index.ts'

/** A saved journal beside a file that was changed since: what it says of step 3 is about another step. */
export function otherSteps({ entries, steps }: JournalIndex): string | null {
  for (const entry of entries) {
    if (entry.kind !== 'note' || entry.note !== 'step_started') continue
    const { step, verb, label } = entry as RunEventOf<'step_started'>
    const now = steps.get(step)
    if (now?.action.verb === verb) continue
    const is = now === undefined ? 'is not there any more' : `is now ${now.label}`
    return `the scenario has other steps than the run played: step ${step} was ${label} and ${is}; play it again`
  }
  return null
}
