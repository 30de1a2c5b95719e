/** The bugs that the checks of `resilience` find. */
import type { FoundBug } from '../mutants.ts'

const flags = ['--no-rotate-unspecified']

export const RESILIENCE_BUGS: readonly FoundBug[] = [
  {
    bug: 'mixes-up-chats',
    check: 'CON-01',
    outcome: 'fail',
    code: 'text-in-other-chat',
    says: /With 20 chats at once, \d+ texts? came to another chat. The first: what the agent of the chat "20 at once, \d+" wrote was sent to the user of "20 at once, \d+"/,
    flags,
  },
  {
    bug: 'forgets-on-restart',
    check: 'RST-01',
    outcome: 'warn',
    code: 'lost-by-restart',
    says: /After a restart with kill -9, start did not come: the agent driver failed at accept, answered 404/,
    flags,
  },
  {
    bug: 'forgets-and-answers-202',
    check: 'RST-01',
    outcome: 'warn',
    code: 'lost-by-restart',
    says: /message did not come: the agent driver performed says, and no call followed within/,
    flags: [...flags, '--within', '1s'],
  },
  {
    bug: 'acks-before-storing',
    check: 'RST-01',
    outcome: 'warn',
    code: 'lost-by-restart',
    says: /After a restart with kill -9, start did not come/,
    flags,
  },
  {
    bug: 'ends-locally',
    check: 'RST-01',
    outcome: 'warn',
    code: 'lost-by-restart',
    says: /end did not come: the agent driver performed leave, and no call followed within/,
    flags,
  },
  {
    bug: 'refuses-crowds',
    check: 'CON-01',
    outcome: 'fail',
    code: 'events-refused-under-load',
    says: /With 200 chats at once, \d+ events had another answer than 200: 503/,
    flags,
  },
  {
    bug: 'answers-no-crowds',
    check: 'CON-01',
    outcome: 'warn',
    code: 'answers-missing-at-once',
    says: /^Of 200 events sent at once, each on a connection of its own, \d+ had no answer: timeout: .* 100 at once were all answered\.$/,
    flags: [...flags, '--ack-limit', '2s'],
  },
  {
    bug: 'leaves-a-lock',
    check: 'RST-01',
    outcome: 'warn',
    code: 'not-restarted',
    says: /did not start again after kill -9: .*EEXIST/s,
    flags,
  },
]
