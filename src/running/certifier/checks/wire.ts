/** WIR: requests that HTTP allows and that are rarely seen. */

import type { CheckDefinition } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { bodyOf, withHeader } from '../signatures/sent-bodies.ts'
import { type AlteredEvent, expectAllAccepted, expectCleanAnswers } from './clean-answers.ts'

export const WIRE_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'WIR-01',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    title: 'Every legal way to send a request is accepted',
    sends:
      'REQUESTING TAKEOVER in chunks, with header names in unusual case, slowly in pieces, and with a charset; each in a chat of its own.',
    observes: 'The status of each answer.',
    passes: 'Each status is 200.',
    run: sendLegalRequests,
  },
  {
    id: 'WIR-02',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    title: 'Unusual requests are answered cleanly',
    sends:
      'REQUESTING TAKEOVER with a byte order mark, without a Content-Type, and with two; each validly signed. Then a usual one.',
    observes: 'The status and the time of each answer.',
    passes:
      'Each is accepted, or refused with 4xx, within the time of an acknowledgement; the usual event is answered with 200.',
    run: sendUnusualRequests,
  },
]

async function sendLegalRequests(check: CheckContext): Promise<void> {
  if (!check.hasWire) return check.inconclusive({ code: 'no_wire' })
  await expectAllAccepted(check, {
    chunked: { sending: { http: ['chunked'] } },
    'header-case': { sending: { http: ['header-case'] } },
    'slow-body': { sending: { drip: '500ms' } },
    charset: withContentType('application/json; charset=utf-8'),
  })
}

async function sendUnusualRequests(check: CheckContext): Promise<void> {
  await expectCleanAnswers(check, {
    'byte-order-mark': chat => ({ alteration: { body: `\ufeff${bodyOf(check, chat)}` } }),
    'content-type-missing': withContentType(null),
    'content-type-twice': withContentType(['application/json', 'application/json; charset=utf-8']),
  })
}

function withContentType(value: string | string[] | null): AlteredEvent {
  return { alteration: { headers: signed => withHeader(signed, 'content-type', value) } }
}
