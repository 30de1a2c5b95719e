/** What the agent's side made of a step. */

import type { PlannedStep } from '../scenario/plan.ts'
import type { DriverEntry, JournalIndex } from './journal-index.ts'
import { plainText } from './matching/value-text.ts'
import { wasReachable } from './reachability.ts'
import type { StepResult } from './step-result.ts'

/** Null when it did as asked. One look into the inbox that failed is forgiven when a later one did not. */
export function driverResult(index: JournalIndex, step: PlannedStep): StepResult | null {
  const begun = index.begun(step.number)
  const last = index.drivers.filter(({ cause }) => cause === begun?.seq).at(-1)
  if (last === undefined || last.outcome === 'ok') return null
  const gone = last.outcome === 'unreachable' && !wasReachable(index)
  return {
    outcome: gone ? 'error' : 'fail',
    told: {
      kind: gone ? 'environment' : 'driver',
      wanted: step.label,
      happened: whatItSaid(last),
      rules: [],
      nearest: [],
      marks: [last.seq],
      ...hintFor(last),
    },
  }
}

/** The words of the driver may hold status and answer already. */
function whatItSaid({ how, status, error, answer = '' }: DriverEntry): string {
  const said = error ?? (status === undefined ? 'it failed' : `answered ${status}`)
  const more = answer.trim() === '' || hasItAlready(said, answer) ? '' : `: ${plainText(answer.trim(), 120)}`
  return `${how}: ${said}${more}`
}

/** White space aside: what was read from JSON is shown as it would be written again. */
const hasItAlready = (said: string, answer: string): boolean =>
  said.replace(/\s/g, '').includes(answer.replace(/\s/g, '').slice(0, 60))

const hintFor = ({ status, outcome, failure }: DriverEntry): { hint?: string } => {
  if (failure?.code === 'not_started')
    return { hint: 'Commands run in the folder of the driver file, without a shell.' }
  if (failure?.code === 'connection_closed' || failure?.code === 'connection_reset')
    return { hint: 'It broke off while it answered: what does the log of the intermediary say?' }
  if (outcome === 'unreachable')
    return { hint: 'Is the help desk of the intermediary running where the driver file says?' }
  if (status === 404)
    return { hint: 'Does the help desk know this chat yet, and is the path in the driver file right?' }
  if (status === 409) return { hint: OF_BEFORE }
  return {}
}

const OF_BEFORE =
  'If the help desk knows this chat from an earlier run: the same seed gives the same chats. Restart it, or give another --seed.'
