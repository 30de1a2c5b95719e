/** Sends valid events, once and again: a refused one is diagnosed, and a replay must not open a second conversation. */

import { InterruptedError } from '../../runner/waiting.ts'
import { type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckContext, EventAnswer } from '../context.ts'
import { effectWithin } from '../effects.ts'
import { diagnoseEveryForm } from './diagnosis.ts'
import { EVENT } from './sent-bodies.ts'

/** Statuses with which intermediaries refuse signatures. */
const REFUSALS: ReadonlySet<number | null> = new Set([400, 401, 403])

export async function expectValidAccepted(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  const answer = await check.send({ event: EVENT, chat })
  const { event, status } = answer
  if (status === null || !REFUSALS.has(status)) return expectAcknowledged(check, answer)
  const { accepts, entries, probes } = await diagnoseEveryForm(check)
  check.report('MUST', 'valid-signature-refused', { event, status, accepts, probes }, [answer, ...entries])
}

export async function expectNoSecondConversation(check: CheckContext): Promise<void> {
  const chat = await check.chat('replayed')
  const first = await check.send({ event: EVENT, chat })
  expectAcknowledged(check, first)
  const effect = await effectWithin(check, chat, check.limits.effectMs)
  if (effect === null) return check.inconclusive({ code: 'no_visible_effect', status: 200 })
  await check.until(() => false, check.limits.replayMs)
  const before = await seenOf(chat)
  const replay = await resend(check, first)
  if (replay.status === null)
    return check.report('SHOULD', 'no-answer', { event: EVENT, failure: replay.failure ?? null }, [replay])
  await check.until(() => chat.calls().length > before.calls, check.limits.quietMs)
  await reportReplay(check, chat, before, [first, replay])
}

async function resend(check: CheckContext, past: EventAnswer): Promise<EventAnswer> {
  const answer = await check.core.dispatcher.resend(past, false)
  if (answer === null) throw new InterruptedError()
  return answer
}

interface Seen {
  readonly calls: number
  readonly requests: number
}

async function seenOf(chat: CheckChat): Promise<Seen> {
  const items = await chat.inbox()
  return { calls: chat.calls().length, requests: items.filter(({ request }) => request === true).length }
}

async function reportReplay(check: CheckContext, chat: CheckChat, before: Seen, entries: readonly EventAnswer[]) {
  const after = await seenOf(chat)
  const requests = after.requests - before.requests
  const calls = chat.calls().slice(before.calls)
  if (requests <= 0 && calls.length === 0) return
  const endpoints = [...new Set(calls.map(({ endpoint }) => endpoint ?? 'an unknown path'))]
  const details = { event: EVENT, afterMs: check.limits.replayMs, requests: Math.max(0, requests), endpoints }
  check.report('SHOULD', 'replay-used', details, [...entries, ...calls])
}
