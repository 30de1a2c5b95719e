/** Whether anybody was there: an intermediary that never showed itself is a matter of the surroundings. */
import type { DeliveryFailure } from '../journal/entry.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import type { JournalIndex } from './journal-index.ts'

const UNREACHABLE: readonly string[] = [
  'connection_refused',
  'connect_timeout',
  'no_route',
  'dns_not_found',
  'dns_no_answer',
] satisfies DeliveryFailure['code'][]

export const isUnreachable = (failure: DeliveryFailure | undefined): boolean =>
  failure !== undefined && UNREACHABLE.includes(failure.code)

/** Why nobody could be reached after a step had waited in vain; null when nobody looked or somebody was there. */
export function unreachableReason({ entries }: JournalIndex): string | null {
  const gone = entries.find(entry => entry.kind === 'note' && entry.note === 'target_gone')
  return gone === undefined ? null : `the intermediary is gone: ${(gone as RunEventOf<'target_gone'>).why}`
}

/** It answered something, or called, at any time of the play. */
export const wasReachable = ({ calls, drivers, entries }: JournalIndex): boolean =>
  calls.length > 0 ||
  drivers.some(({ outcome }) => outcome !== 'unreachable') ||
  entries.some(entry => entry.kind === 'delivery' && entry.status !== null)
