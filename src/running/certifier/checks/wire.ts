/** WIR: requests that HTTP allows and that are rarely seen. */
import type { CheckDefinition } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { bodyOf, withHeader } from '../signatures/sent-bodies.ts'
import { expectCleanAnswers, reportAnswer, sendVariant, type VariantEvent } from './clean-answers.ts'

export const WIRE_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'WIR-01',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    texts: {
      title: 'Every legal way to send a request is accepted',
      sends:
        'REQUESTING TAKEOVER in chunks, with header names in unusual case, slowly in pieces, and with a charset; each in a chat of its own.',
      observes: 'The status of each answer.',
      passes: 'Each status is 200.',
    },
    run: expectAllAccepted,
  },
  {
    id: 'WIR-02',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    texts: {
      title: 'Unusual requests are answered cleanly',
      sends:
        'REQUESTING TAKEOVER with a byte order mark, without a Content-Type, and with two; each validly signed. Then a usual one.',
      observes: 'The status and the time of each answer.',
      passes:
        'Each is accepted, or refused with 4xx, within the time of an acknowledgement; the usual event is answered with 200.',
    },
    run: expectCleanRefusals,
  },
]

const PIECES_TAKE = '500ms'

const LEGAL: readonly VariantEvent[] = [
  { variant: 'chunked', event: () => ({ sending: { http: ['chunked'] } }) },
  { variant: 'header-case', event: () => ({ sending: { http: ['header-case'] } }) },
  { variant: 'slow-body', event: () => ({ sending: { drip: PIECES_TAKE } }) },
  { variant: 'charset', event: withContentType('application/json; charset=utf-8') },
]

function withContentType(value: string | string[] | null): VariantEvent['event'] {
  return () => ({ alteration: { headers: signed => withHeader(signed, 'content-type', value) } })
}

async function expectAllAccepted(check: CheckContext): Promise<void> {
  if (!check.hasWire) return check.inconclusive({ code: 'no_wire' })
  await Promise.all(LEGAL.map(one => expectAccepted(check, one)))
}

async function expectAccepted(check: CheckContext, sent: VariantEvent): Promise<void> {
  const answer = await sendVariant(check, sent)
  const { event, status } = answer
  if (!reportAnswer(check, sent.variant, answer) || status === 200 || status === null) return
  check.report('SHOULD', 'variant-refused', { event, variant: sent.variant, status }, [answer])
}

async function expectCleanRefusals(check: CheckContext): Promise<void> {
  await expectCleanAnswers(check, [
    { variant: 'byte-order-mark', event: chat => ({ alteration: { body: `\ufeff${bodyOf(check, chat)}` } }) },
    { variant: 'content-type-missing', event: withContentType(null) },
    { variant: 'content-type-twice', event: withContentType(['application/json', 'application/json; charset=utf-8']) },
  ])
}
