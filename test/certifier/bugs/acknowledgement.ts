/** The bugs that the checks of `acknowledgement` find. */
import type { FoundBug } from '../mutants.ts'

/** Answers of the API take 1.6 times as long. */
const LIMIT = ['--ack-limit', '1s', '--no-rotate-unspecified']

export const ACKNOWLEDGEMENT_BUGS: readonly FoundBug[] = [
  {
    bug: 'acks-slowly',
    check: 'ACK-02',
    outcome: 'warn',
    code: 'acknowledged-late',
    says: /Of 20 events at once, 20 were not acknowledged within 1s\. The slowest was .*, with [\d.]+ s/,
    flags: LIMIT,
  },
  {
    bug: 'announces-before-ack',
    check: 'ACK-02',
    outcome: 'warn',
    code: 'acknowledgement-waits',
    says: /While every answer of the API took 1600ms, (REQUESTING TAKEOVER|MESSAGE FROM USER) was acknowledged after [12]\.\d s\. Usually it takes \d+/,
    flags: LIMIT,
  },
  {
    bug: 'answers-200-to-everything',
    check: 'ACK-03',
    outcome: 'warn',
    code: 'malformed-request',
    says: /answered 200 to a signed event with the content type text\/plain/,
  },
  {
    bug: 'waits-a-moment-for-calls',
    check: 'ACK-04',
    outcome: 'warn',
    code: 'called-before-acknowledgement',
    says: /made POST \/api\/v2\/handover\/message\/ before it answered REQUESTING TAKEOVER. That call took \d\S* m?s of the \d\S* m?s/,
  },
  {
    bug: 'acks-slowly',
    check: 'ACK-05',
    outcome: 'fail',
    code: 'sent-again',
    says: /MESSAGE FROM USER was not acknowledged within 1s.* received it 2 times, and acknowledged none of them in time\.$/,
    flags: LIMIT,
  },
  {
    bug: 'announces-before-ack',
    check: 'ACK-05',
    outcome: 'warn',
    code: 'sent-again',
    says: /REQUESTING TAKEOVER was not acknowledged within 1s, so the platform sent it again 1s later. The intermediary received it 2 times/,
    flags: LIMIT,
  },
]
