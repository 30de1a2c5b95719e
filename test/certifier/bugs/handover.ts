/** The bugs that the checks of `handover` find. */
import type { FoundBug } from '../mutants.ts'

/** What the example does takes milliseconds. */

export const HANDOVER_BUGS: readonly FoundBug[] = [
  {
    bug: 'refuses-unknown-fields',
    check: 'FLW-07',
    outcome: 'fail',
    code: 'text-missing',
    says: /^No message call had message 1/,
  },
  {
    bug: 'reads-answers-by-position',
    check: 'FLW-07',
    outcome: 'fail',
    code: 'text-missing',
    says: /^No message call had message 1/,
  },
  {
    bug: 'shows-newest-first',
    check: 'FLW-02',
    outcome: 'fail',
    code: 'text-order',
    says: /^The agent got message 3, message 2, message 1; the order was message 1, message 2, message 3/,
  },
  {
    bug: 'shows-twice',
    check: 'FLW-02',
    outcome: 'fail',
    code: 'text-repeated',
    says: /^The agent got message 1 2 times; it was sent once/,
  },
  {
    bug: 'sends-twice',
    check: 'FLW-03',
    outcome: 'fail',
    code: 'text-repeated',
    says: /^The user got message 1 2 times/,
  },
  {
    bug: 'omits-sender',
    check: 'FLW-03',
    outcome: 'warn',
    code: 'sender-missing',
    says: /^3 message calls had no sender\.name and no sender\.avatar/,
  },
  {
    bug: 'ends-locally',
    check: 'FLW-04',
    outcome: 'fail',
    code: 'call-missing',
    says: /^No end came within \d+s after the agent left/,
  },
  {
    bug: 'ends-twice',
    check: 'FLW-04',
    outcome: 'fail',
    code: 'end-repeated',
    says: /^end was called 2 times after the agent left, the last \d+ms after the first/,
  },
  {
    bug: 'says-goodbye-late',
    check: 'FLW-04',
    outcome: 'fail',
    code: 'call-after-end',
    says: /^message was called \d+ms after end, when the bot answers again/,
  },
  {
    bug: 'key-in-address',
    check: 'FLW-05',
    outcome: 'warn',
    code: 'lint',
    says: /^#\d+ has a key or token in the address\. .* So are \d more calls\.$/,
  },
  {
    bug: 'sends-a-rating-late',
    check: 'FLW-05',
    outcome: 'fail',
    code: 'call-refused',
    says: /^POST \/api\/v2\/handover\/rating was answered with 404/,
  },
  {
    bug: 'keeps-old-conversation',
    check: 'FLW-06',
    outcome: 'fail',
    code: 'second-request-unseen',
    says: /^The agent does not see the second request of the same chat within \d+s/,
  },
  {
    bug: 'sends-plain-text',
    check: 'FLW-05',
    outcome: 'fail',
    code: 'lint',
    says: /Content-Type/,
  },
]
