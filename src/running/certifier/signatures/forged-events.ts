/** Sends events with bad signatures, each in a chat of its own, and reports those that are not refused. */
import type { CheckChat } from '../chat.ts'
import type { CheckContext, CheckEvent, EventAnswer } from '../context.ts'
import { controlEvent, effectWithin, type ObservedEffect } from '../effects.ts'
import type { FindingLevel } from '../findings/index.ts'
import type { Forgery } from '../findings/signature.ts'
import { bodyOf, changeSignature, EVENT, signatureOf } from './sent-bodies.ts'

type Altered = Omit<CheckEvent, 'event' | 'chat'>
type Forge = (check: CheckContext, chat: CheckChat) => Altered | Promise<Altered>

const TRUNCATED_CHARS = 33
const LONG_CHARS = 10_240

const resigned =
  (change: (signature: string) => string): Forge =>
  check => ({ alteration: { headers: changeSignature(check, change) } })

const FORGERIES: Readonly<Record<Forgery, Forge>> = {
  none: () => ({ sign: 'none' }),
  'wrong-key': () => ({ sign: 'wrong-key' }),
  tampered: () => ({ sign: 'tampered' }),
  empty: resigned(() => ''),
  truncated: resigned(signature => signature.slice(0, TRUNCATED_CHARS)),
  'other-end': resigned(signature => `${signature.slice(0, TRUNCATED_CHARS - 1)}${otherEnd(signature)}`),
  'letter-case': resigned(swappedCase),
  'other-event': signedForAnotherEvent,
  long: resigned(() => 'A'.repeat(LONG_CHARS)),
  hex: () => ({ sign: 'hex' }),
  base64url: inBase64url,
  doubled: resigned(signature => signature + signature),
}

/** Valid base64, so that a decoder accepts it. */
const otherEnd = (signature: string) =>
  [...signature.slice(TRUNCATED_CHARS - 1)].map(char => (char === '=' ? char : char === 'A' ? 'E' : 'A')).join('')

function swappedCase(signature: string): string {
  return signature.replace(/[a-z]/gi, char => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()))
}

async function signedForAnotherEvent(check: CheckContext, chat: CheckChat): Promise<Altered> {
  const signature = await signatureOf(check.sim.apiKey, bodyOf(check, chat, { event: 'MESSAGE FROM USER' }))
  return { alteration: { headers: changeSignature(check, () => signature) } }
}

/** Three of four signatures have a letter that base64url writes otherwise: changes the user until this one has. */
async function inBase64url(check: CheckContext, chat: CheckChat): Promise<Altered> {
  for (let user = 0; ; user++) {
    const body = bodyOf(check, chat, { user: { id: String(user).padStart(24, '0') } })
    const signature = await signatureOf(check.sim.apiKey, body)
    const recoded = signature.replaceAll('+', '-').replaceAll('/', '_')
    if (recoded !== signature) return { alteration: { body, headers: changeSignature(check, () => recoded) } }
  }
}

/** The whole right signature in another writing: only who has the key can make it, so accepting it opens no way in. */
const HARMLESS: ReadonlySet<Forgery> = new Set(['hex', 'base64url', 'doubled'])

/**
 * Sends each forgery in a chat of its own, and then the control event. An accepted forgery without an effect is looked at
 * again when the control event has shown its effect: a help desk may show requests later than the check waits at first.
 */
export async function expectRefused(check: CheckContext, forgeries: readonly Forgery[]): Promise<void> {
  const sent = await Promise.all(forgeries.map(forgery => sendForged(check, forgery)))
  const unseen = sent.filter(hasNoVisibleEffect)
  for (const one of sent) if (!unseen.includes(one)) reportForged(check, one)
  const isVisible = await controlEvent(check, unseen.length > 0)
  for (const one of unseen)
    reportForged(check, { ...one, effect: isVisible ? await effectWithin(check, one.chat, 0) : null })
  const [first] = unseen.filter(({ level }) => level === 'MUST')
  if (first !== undefined && !isVisible)
    check.inconclusive({ code: 'no_visible_effect', status: first.answer.status ?? 0 })
}

/** The answer accepts the event, and nothing shows whether it was used. */
const hasNoVisibleEffect = ({ answer: { status }, effect }: SentForgery): boolean =>
  effect === null && status !== null && status < 300

async function sendForged(check: CheckContext, forgery: Forgery): Promise<SentForgery> {
  const chat = await check.chat(forgery)
  const answer = await check.send({ event: EVENT, chat, ...(await FORGERIES[forgery](check, chat)) })
  const effect = await effectWithin(check, chat, check.limits.quietMs)
  return { forgery, chat, answer, effect, level: HARMLESS.has(forgery) ? 'SHOULD' : 'MUST' }
}

interface SentForgery {
  readonly forgery: Forgery
  readonly chat: CheckChat
  readonly answer: EventAnswer
  readonly effect: ObservedEffect | null
  readonly level: FindingLevel
}

/** One finding says it: an event that is used is not also reported as accepted. */
function reportForged(check: CheckContext, { forgery, answer, effect, level }: SentForgery): void {
  const { status, failure = null } = answer
  const forged = { event: EVENT, forgery }
  if (effect !== null) check.report(level, 'forged-event-used', { ...forged, effect: effect.kind }, [answer, effect])
  else if (status === null) check.report(level, 'forged-event-unanswered', { ...forged, failure }, [answer])
  else if (status >= 500) check.report('SHOULD', 'forged-event-error', { ...forged, status }, [answer])
  else if (status < 400) check.report('SHOULD', 'forged-event-accepted', { ...forged, status }, [answer])
}
