/** The bugs that the checks of `faults` find. */
import type { FoundBug } from '../mutants.ts'

/** The bugs do not depend on what the platform leaves open, and a check with faults takes seconds. */
const flags = ['--no-rotate-unspecified']

export const FAULTS_BUGS: readonly FoundBug[] = [
  {
    bug: 'hurries-without-retry-after',
    check: 'FLT-02',
    outcome: 'warn',
    code: 'retry-too-early',
    says: /message was made again \d+ ms after an answer of 429 without Retry-After/,
    flags,
  },
  {
    bug: 'waits-too-briefly',
    check: 'FLT-01',
    outcome: 'warn',
    code: 'message-repeated',
    says: /saw the agent's message "First.*" \d times, while the platform answered one call slowly/,
    flags,
  },
  {
    bug: 'has-one-queue-for-all',
    check: 'FLT-01',
    outcome: 'warn',
    code: 'other-chat-blocked',
    says: /waited for the call of another chat, which the platform answered after 1600ms/,
    flags,
  },
  {
    bug: 'gives-up-on-503',
    check: 'FLT-02',
    outcome: 'warn',
    code: 'call-given-up',
    says: /start did not succeed within 5s .* with 503: the intermediary made 1 call in all/,
    flags,
  },
  {
    bug: 'gives-up-on-503',
    check: 'FLT-02',
    outcome: 'warn',
    code: 'call-given-up',
    says: /message did not succeed within 5s .* with 503: the intermediary made 1 call in all/,
    flags,
  },
  {
    bug: 'ignores-retry-after',
    check: 'FLT-02',
    outcome: 'warn',
    code: 'retry-too-early',
    says: /message was made again \d+ ms after an answer of 429 with Retry-After: 2/,
    flags,
  },
  {
    bug: 'sends-side-by-side',
    check: 'FLT-02',
    outcome: 'warn',
    code: 'messages-reordered',
    says: /second message of the agent before the first/,
    flags,
  },
  {
    bug: 'sends-side-by-side-one-late',
    check: 'FLT-02',
    outcome: 'warn',
    code: 'messages-reordered',
    says: /second message of the agent before the first/,
    flags,
  },
  {
    bug: 'never-stops-on-401',
    check: 'FLT-03',
    outcome: 'warn',
    code: 'key-refused-repeatedly',
    says: /made \d+ calls in one chat within \d+ ms, beginning with (message|start), although each was answered with 401/,
    flags,
  },
  {
    bug: 'stops-for-ever-on-401',
    check: 'FLT-03',
    outcome: 'warn',
    code: 'not-recovered',
    says: /After the platform accepted the key again/,
    flags,
  },
  {
    bug: 'repeats-after-lost-answer',
    check: 'FLT-04',
    outcome: 'warn',
    code: 'message-repeated',
    says: /\d times, after the answer to one call was lost/,
    flags,
  },
]
