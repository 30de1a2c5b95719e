/** The journal of a play as it leaves the house. */
import type { Entry } from '../../journal/entry.ts'
import type { Simulator } from '../../simulator/simulator.ts'
import { presentEntry } from '../../wording/entry.ts'

/** From the play's first mark on. */
export function maskedJournal(sim: Simulator): Entry[] {
  const entries = sim.journal.query()
  const first = entries.findIndex(entry => entry.kind === 'note' && entry.note === 'scenario_started')
  const header = String(sim.config()['webhook.signatureHeader'])
  return entries.slice(Math.max(0, first)).map(entry => presentEntry(entry, header))
}
