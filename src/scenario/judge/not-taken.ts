/** What the user did and the webhook did not take: nothing can come of it. */
import type { Entry } from '../../journal/entry.ts'
import type { PlannedStep } from '../plan.ts'
import { whatCame } from './ack.ts'
import type { Delivery } from './facts.ts'
import type { Bench } from './watch.ts'

const OF_USERS = ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']

/** Of the latest thing the user did in the turn of a step; null when it arrived, or is still on its way. */
export function notTakenHint({ facts, windows }: Bench, step: PlannedStep): string | null {
  const from = windows.stimulus(step)
  const own = (entry: Entry): entry is Delivery =>
    entry.kind === 'delivery' &&
    entry.seq > from.seq &&
    OF_USERS.includes(entry.event) &&
    facts.laneOfChat(entry.chat_id) === step.lane
  const last = from.step === null ? undefined : facts.entries.findLast(own)
  if (last === undefined || last.outcome === 'delivered') return null
  return `The webhook did not take ${last.event}: ${whatCame(last)}`
}
