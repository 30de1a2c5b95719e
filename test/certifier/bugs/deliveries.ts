/** The bugs that the checks of `deliveries` find. */
import type { FoundBug } from '../mutants.ts'

/** Until an effect counts as missing. */

export const DELIVERIES_BUGS: readonly FoundBug[] = [
  {
    bug: 'opens-twice',
    check: 'DLV-01',
    outcome: 'warn',
    code: 'conversation-repeated',
    says: /was delivered twice, 50 ms apart, and the agent sees 2 requests/,
  },
  {
    bug: 'request-undoes-takeover',
    check: 'DLV-01',
    outcome: 'warn',
    code: 'conversation-repeated',
    says: /was delivered again while an agent had the chat, and the agent sees [23] requests/,
  },
  {
    bug: 'drops-repeats',
    check: 'DLV-02',
    outcome: 'fail',
    code: 'repeated-text-lost',
    says: /The user wrote "ok, parcel-17" 2 times, and the agent sees it once/,
  },
  {
    bug: 'drops-repeats-after-a-webhook',
    check: 'DLV-02',
    outcome: 'fail',
    code: 'repeated-text-lost',
    says: /The user wrote "ok, parcel-17" 2 times, and the agent sees it once/,
  },
  {
    bug: 'reads-the-latest-message',
    check: 'DLV-03',
    outcome: 'warn',
    code: 'overtaken-text-lost',
    says: /delivered 400 ms after a later one, and the agent does not see "Written first, delivered last"/,
    // Which other checks it fails depends on the time that a transcript takes.
    flags: ['--no-rotate-unspecified'],
  },
  {
    bug: 'answers-after-end',
    check: 'DLV-04',
    outcome: 'warn',
    code: 'late-message-starts-call',
    says: /made POST \/api\/v2\/handover\/message\/ after a message that came when the handover was over/,
  },
]
