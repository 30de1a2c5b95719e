/** Sends events with bad signatures, each in a chat of its own, and reports those that are not refused. */

import { failureText } from '../../../platform/wording/failures.ts'
import { type CheckChat, openChat } from '../chat.ts'
import type { CheckContext, CheckEvent, EventAnswer } from '../context.ts'
import { type FindingLevel, suffix } from '../finding.ts'
import { controlEvent, EFFECT_TEXTS, effectWithin, type ObservedEffect } from '../observe.ts'
import { bodyOf, changeSignature, EVENT, signatureOf } from './sent-bodies.ts'

const VERIFY =
  'Verify the signature before anything else is done with the event, and answer 401 when it does not match (A4).'
const WHOLE =
  'Only a part of the signature is compared. Compare the lengths and then all characters: timingSafeEqual in Node, hmac.compare_digest in Python, hash_equals in PHP.'
const TEXT =
  'The header is decoded before it is compared, and the decoder forgives. Compare it as text with the base64 of the HMAC.'

/** How an event is forged: what it has, which completes "an event with ...", and how to refuse it. */
const FORGERIES = {
  none: ['no signature', VERIFY],
  'wrong-key': ['a signature made with another key', VERIFY],
  tampered: [
    'one byte changed after signing',
    'Compute the HMAC over the whole raw body of this request, and compare it with the header.',
  ],
  empty: [
    'an empty signature',
    `An empty signature matches the beginning of every signature, or is taken for none. ${WHOLE}`,
  ],
  truncated: ['only the first 33 characters of its signature', WHOLE],
  'other-end': ['a signature that begins like the right one and ends otherwise', WHOLE],
  'letter-case': [
    'its signature in other letter case',
    'Base64 is case-sensitive: compare the header as it arrived, without toLowerCase.',
  ],
  'other-event': [
    'the signature of another event',
    'Compute the HMAC of this body with each request. A signature that was valid once says nothing about another body.',
  ],
  long: ['a signature of 10 KB', VERIFY],
  hex: [
    'its signature in hexadecimal instead of base64',
    'Compare the header as text with the base64 of the HMAC, and accept no other encoding.',
  ],
  base64url: ['its signature in base64url instead of base64', TEXT],
  doubled: ['its signature written twice, one after the other', TEXT],
} as const

export type Forgery = keyof typeof FORGERIES

/** The whole right signature in another writing: only who has the key can make it, so accepting it opens no way in. */
const EQUIVALENT_ENCODINGS: ReadonlySet<Forgery> = new Set(['hex', 'base64url', 'doubled'])

const TRUNCATED_CHARS = 33
const LONG_CHARS = 10_240

async function forge(
  check: CheckContext,
  chat: CheckChat,
  forgery: Forgery,
): Promise<Omit<CheckEvent, 'event' | 'chat'>> {
  const key = check.sim.apiKey
  if (forgery === 'none' || forgery === 'wrong-key' || forgery === 'tampered' || forgery === 'hex')
    return { sign: forgery }
  if (forgery === 'base64url')
    // Three of four signatures have a letter that base64url writes otherwise: changes the user until this one has.
    for (let user = 0; ; user++) {
      const body = bodyOf(check, chat, { user: { id: String(user).padStart(24, '0') } })
      const signature = await signatureOf(key, body)
      const recoded = signature.replaceAll('+', '-').replaceAll('/', '_')
      if (recoded !== signature) return { alteration: { body, headers: changeSignature(check, () => recoded) } }
    }
  const ofOtherEvent = await signatureOf(key, bodyOf(check, chat, { event: 'MESSAGE FROM USER' }))
  const withChangedSignature = (signature: string): string => {
    switch (forgery) {
      case 'empty':
        return ''
      case 'truncated':
        return signature.slice(0, TRUNCATED_CHARS)
      case 'other-end': {
        // Valid base64, so that a decoder accepts it.
        const start = signature.slice(0, TRUNCATED_CHARS - 1)
        const end = signature.slice(TRUNCATED_CHARS - 1)
        return start + end.replace(/[^=]/g, char => (char === 'A' ? 'E' : 'A'))
      }
      case 'letter-case':
        return signature.replace(/[a-z]/gi, char => (char < 'a' ? char.toLowerCase() : char.toUpperCase()))
      case 'other-event':
        return ofOtherEvent
      case 'long':
        return 'A'.repeat(LONG_CHARS)
      case 'doubled':
        return signature + signature
    }
  }
  return { alteration: { headers: changeSignature(check, withChangedSignature) } }
}

interface SentForgery {
  readonly forgery: Forgery
  readonly chat: CheckChat
  readonly answer: EventAnswer
  readonly effect: ObservedEffect | null
  readonly level: FindingLevel
}

/**
 * Sends each forgery in a chat of its own, and then the control event. An accepted forgery without an effect is looked at
 * again when the control event has shown its effect: a help desk may show requests later than the check waits at first.
 */
export async function expectRefused(check: CheckContext, forgeries: readonly Forgery[]): Promise<void> {
  const unseen: SentForgery[] = []
  for (const sent of await Promise.all(forgeries.map(forgery => sendForged(check, forgery)))) {
    const { status } = sent.answer
    // The answer accepts the event, and nothing shows whether it was used.
    if (sent.effect === null && status !== null && status < 300) unseen.push(sent)
    else reportForged(check, sent)
  }
  const isVisible = await controlEvent(check, unseen.length > 0)
  for (const sent of unseen) {
    const effect = isVisible ? await effectWithin(check, sent.chat, 0) : null
    reportForged(check, { ...sent, effect })
  }
  const first = unseen.find(({ level }) => level === 'MUST')
  if (first !== undefined && !isVisible)
    check.inconclusive({ code: 'no_visible_effect', status: first.answer.status ?? 0 })
}

async function sendForged(check: CheckContext, forgery: Forgery): Promise<SentForgery> {
  const chat = await openChat(check, forgery)
  const answer = await check.send({ event: EVENT, chat, ...(await forge(check, chat, forgery)) })
  const effect = await effectWithin(check, chat, check.limits.quietMs)
  return { forgery, chat, answer, effect, level: EQUIVALENT_ENCODINGS.has(forgery) ? 'SHOULD' : 'MUST' }
}

/** One finding says it: an event that is used is not also reported as accepted. */
function reportForged(check: CheckContext, { forgery, answer, effect, level }: SentForgery): void {
  const { status, failure = null } = answer
  const [difference, hint] = FORGERIES[forgery]
  const event = `${EVENT} with ${difference}`
  const details = { event: EVENT, forgery }
  if (effect !== null)
    check.report(level, 'forged-event-used', {
      happened: `The webhook accepted a forged event: ${event} had an effect: ${EFFECT_TEXTS[effect.kind]}.`,
      hint,
      details: { ...details, effect: effect.kind },
      entries: [answer, effect],
    })
  else if (status === null)
    check.report(level, 'forged-event-unanswered', {
      happened: `The webhook gave no answer to a forged event, ${event}${suffix(failure && failureText(failure))}.`,
      hint: 'Look for an exception in the comparison that nothing catches. timingSafeEqual of Node throws when the lengths differ; a handler that throws must still answer.',
      details: { ...details, failure },
      entries: [answer],
    })
  else if (status >= 500)
    check.report('SHOULD', 'forged-event-error', {
      happened: `The webhook failed at a forged event: it answered ${status} to ${event}.`,
      hint: 'Look for an exception in the comparison, and answer 401. timingSafeEqual of Node throws when the lengths differ, and decoders throw for text that is not base64: compare the lengths first, as text.',
      details: { ...details, status },
      entries: [answer],
    })
  else if (status < 400)
    check.report('SHOULD', 'forged-event-accepted', {
      happened: `The webhook accepted a forged event: it answered ${status} to ${event}.`,
      hint: `${hint} An answer of 200 hides a wrong key: all events would be lost without a sign.`,
      details: { ...details, status },
      entries: [answer],
    })
}
