/** SIG: the signature of events. */
import type { HeaderLines } from '../../../base/runtime/transport.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { expectRefused } from '../signatures/forged-events.ts'
import { algorithmHeaderOf, changeSignature, withHeader } from '../signatures/sent-bodies.ts'
import { expectEverySerialisation } from '../signatures/serialisations.ts'
import { expectNoSecondConversation, expectValidAccepted } from '../signatures/valid-events.ts'
import { expectCleanAnswers } from './clean-answers.ts'

export const SIGNATURE_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'SIG-01',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4', 'WH2'],
    texts: {
      title: 'A valid signature is accepted',
      sends: 'A validly signed REQUESTING TAKEOVER.',
      observes: 'The status of the answer.',
      passes: 'The status is 200.',
    },
    run: expectValidAccepted,
  },
  {
    id: 'SIG-02',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    texts: {
      title: 'An event without a signature has no effect',
      sends: 'REQUESTING TAKEOVER without the signature headers, then a valid one in another chat.',
      observes: 'The answer, calls about the chat, and what the agent sees.',
      passes:
        'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
    },
    run: check => expectRefused(check, ['none']),
  },
  {
    id: 'SIG-03',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    texts: {
      title: 'A signature made with another key has no effect',
      sends: 'REQUESTING TAKEOVER signed with another key, then a valid one in another chat.',
      observes: 'The answer, calls about the chat, and what the agent sees.',
      passes:
        'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
    },
    run: check => expectRefused(check, ['wrong-key']),
  },
  {
    id: 'SIG-04',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    texts: {
      title: 'A body that was changed after signing has no effect',
      sends: 'REQUESTING TAKEOVER in which one byte of a value was changed after signing, then a valid one.',
      observes: 'The answer, calls about the chat, and what the agent sees.',
      passes:
        'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
    },
    // In another order of fields, the changed byte would be in the name of the event.
    knobs: { 'webhook.json': 'compact' },
    run: check => expectRefused(check, ['tampered']),
  },
  {
    id: 'SIG-05',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    texts: {
      title: 'A signature that is only similar to the right one has no effect',
      sends:
        'REQUESTING TAKEOVER with a signature that is empty, cut, right only at its beginning, in other letter case, of another event, 10 KB long, hexadecimal, base64url, or written twice; each in a chat of its own. Then a valid one.',
      observes: 'The answers, calls about the chats, and what the agent sees.',
      passes:
        'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200. That the whole right signature in another writing (hexadecimal, base64url, twice) has no effect is a SHOULD.',
    },
    run: check => expectRefused(check, SIMILAR),
  },
  {
    id: 'SIG-06',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['PUB'],
    texts: {
      title: 'Missing and repeated signature headers are answered',
      sends:
        'REQUESTING TAKEOVER without the header that names the algorithm, with another value of it, with it twice, and with two signature headers, equal and different. Then a valid one.',
      observes: 'The status and the time of each answer.',
      passes:
        'Each is accepted, or refused with 4xx, within the time of an acknowledgement; the valid event is answered with 200.',
    },
    run: expectHeadersAnswered,
  },
  {
    id: 'SIG-07',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4', 'PUB'],
    texts: {
      title: 'The signature is verified over the raw body',
      sends:
        'REQUESTING TAKEOVER, validly signed, in seven forms of the same JSON: compact, with spaces, with \\u escapes, with \\/, indented, with a newline at the end, in another order of fields.',
      observes: 'The status of each answer. When one is refused, up to 20 wrong signatures, to name the mistake.',
      passes: 'Each status is 200.',
    },
    knobs: { 'webhook.json': 'compact' },
    run: expectEverySerialisation,
  },
  {
    id: 'SIG-08',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    texts: {
      title: 'A replayed request opens no second conversation',
      sends: 'REQUESTING TAKEOVER, and exactly the same bytes and headers again after 10 s.',
      observes: 'Calls about the chat, and what the agent sees, after the replay.',
      passes: 'There is no further request for the agent, and no further call.',
    },
    run: expectNoSecondConversation,
  },
]

const SIMILAR = [
  'empty',
  'truncated',
  'other-end',
  'letter-case',
  'other-event',
  'long',
  'hex',
  'base64url',
  'doubled',
] as const

function expectHeadersAnswered(check: CheckContext): Promise<void> {
  const algorithm = (value: string[] | string | null) => () => ({
    alteration: { headers: (signed: HeaderLines) => withHeader(signed, algorithmHeaderOf(check), value) },
  })
  const signature = (change: (right: string) => string[]) => () => ({
    alteration: { headers: changeSignature(check, change) },
  })
  const named = 'HMAC-SHA-256 (base64 encoded)'
  return expectCleanAnswers(check, [
    { variant: 'algorithm-missing', event: algorithm(null) },
    { variant: 'algorithm-other', event: algorithm('HMAC-SHA-512 (hex encoded)') },
    { variant: 'algorithm-twice', event: algorithm([named, named]) },
    { variant: 'signature-twice', event: signature(right => [right, right]) },
    { variant: 'signatures-differ', event: signature(right => [right, right.toLowerCase()]) },
  ])
}
