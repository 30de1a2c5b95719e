/** Sends unusual requests, each in a chat of its own, and expects an answer in time that is no server error. */
import type { CheckChat } from '../chat.ts'
import type { CheckContext, CheckEvent, EventAnswer } from '../context.ts'
import { controlEvent } from '../effects.ts'
import type { RequestVariant } from '../findings/wire.ts'
import { EVENT } from '../signatures/sent-bodies.ts'

type Altered = Omit<CheckEvent, 'event' | 'chat'>

export interface VariantEvent {
  readonly variant: RequestVariant
  event(chat: CheckChat): Altered
}

/** Sends all at once, and then the control event. Any status below 500 is clean. */
export async function expectCleanAnswers(check: CheckContext, variants: readonly VariantEvent[]): Promise<void> {
  const answers = await Promise.all(variants.map(one => sendVariant(check, one)))
  for (const [at, { variant }] of variants.entries()) reportAnswer(check, variant, answers[at]!)
  await controlEvent(check, false)
}

export async function sendVariant(check: CheckContext, { variant, event }: VariantEvent): Promise<EventAnswer> {
  const chat = await check.chat(variant)
  return check.send({ event: EVENT, chat, ...event(chat) })
}

/** False when the answer was reported. */
export function reportAnswer(check: CheckContext, variant: RequestVariant, answer: EventAnswer): boolean {
  const { status, failure = null, duration_ms: durationMs } = answer
  const { ackMs } = check.limits
  const sent = { event: EVENT, variant }
  if (status === null) check.report('SHOULD', 'variant-unanswered', { ...sent, failure }, [answer])
  else if (status >= 500) check.report('SHOULD', 'variant-error', { ...sent, status }, [answer])
  else if (durationMs > ackMs) check.report('SHOULD', 'variant-late', { ...sent, durationMs, limitMs: ackMs }, [answer])
  else return true
  return false
}
