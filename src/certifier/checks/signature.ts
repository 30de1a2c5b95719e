/** SIG: the signature of events. */
import { defineTexts } from '../../text/texts.ts'
import { expectAcknowledged } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext, CheckEvent } from '../context.ts'
import { controlEvent, effectWithin } from '../effects.ts'

export const SIGNATURE_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'SIG-01',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4', 'WH2'],
    texts: defineTexts({
      title: 'A valid signature is accepted',
      sends: 'A validly signed REQUESTING TAKEOVER.',
      observes: 'The status of the answer.',
      passes: 'The status is 200.',
    }),
    async run(check) {
      const chat = await check.chat('first')
      expectAcknowledged(check, await check.send({ event: 'REQUESTING TAKEOVER', chat }))
    },
  },
  {
    id: 'SIG-02',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    texts: defineTexts({
      title: 'An event without a signature has no effect',
      sends: 'REQUESTING TAKEOVER without the signature headers, then a valid one in another chat.',
      observes: 'The answer, calls about the chat, and what the agent sees.',
      passes:
        'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
    }),
    run: check => expectRefused(check, [{ name: 'no signature', event: { sign: 'none' } }]),
  },
  {
    id: 'SIG-03',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    texts: defineTexts({
      title: 'A signature made with another key has no effect',
      sends: 'REQUESTING TAKEOVER signed with another key, then a valid one in another chat.',
      observes: 'The answer, calls about the chat, and what the agent sees.',
      passes: 'As SIG-02.',
    }),
    run: check => expectRefused(check, [{ name: 'a signature made with another key', event: { sign: 'wrong-key' } }]),
  },
]

interface Variant {
  /** Completes "with ...". */
  readonly name: string
  readonly event: Omit<CheckEvent, 'event' | 'chat'>
}

const EVENT = 'REQUESTING TAKEOVER'

/** Sends each variant in a chat of its own, and then the control event. */
async function expectRefused(check: CheckContext, variants: readonly Variant[]): Promise<void> {
  const accepted = await Promise.all(variants.map(variant => sendForged(check, variant)))
  const statuses = accepted.flatMap(status => (status === null ? [] : [status]))
  const isVisible = await controlEvent(check, statuses.length > 0)
  if (statuses.length > 0 && !isVisible) check.inconclusive({ code: 'no_visible_effect', status: statuses[0]! })
}

/** The status of an answer that accepts the event without a visible effect; null for one that refuses it. */
async function sendForged(check: CheckContext, { name: variant, event }: Variant): Promise<number | null> {
  const chat = await check.chat(variant)
  const answer = await check.send({ event: EVENT, chat, ...event })
  const { status } = answer
  const effect = await effectWithin(check, chat, check.limits.quietMs)
  if (effect !== null)
    check.report('MUST', 'forged-event-used', { event: EVENT, variant, effect: effect.kind }, [answer, effect])
  if (status === null) check.report('MUST', 'no-answer', { event: EVENT, failure: answer.failure ?? null }, [answer])
  else if (status < 400 || status > 499)
    check.report('SHOULD', 'forged-event-accepted', { event: EVENT, variant, status }, [answer])
  return effect === null && status !== null && status < 300 ? status : null
}
