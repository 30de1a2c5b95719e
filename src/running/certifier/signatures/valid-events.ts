/** Sends valid events, once and again: a refused one is diagnosed, and a replay must not open a second conversation. */

import { InterruptedError } from '../../runner/waiting.ts'
import { type ChatCall, type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckContext, EventAnswer } from '../context.ts'
import { awaitInbox, effectWithin, requestsIn } from '../effects.ts'
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
  const { core, limits } = check
  const chat = await check.chat('replayed')
  const sentMs = core.journal.atMs
  const first = await check.send({ event: EVENT, chat })
  expectAcknowledged(check, first)
  const effect = await effectWithin(check, chat, limits.effectMs)
  if (effect === null) return check.inconclusive({ code: 'no_visible_effect', status: 200 })
  const waitedUntilMs = core.journal.atMs + limits.replayMs
  const isShown = await awaitInbox(check, chat, limits.replayMs, items => requestsIn(items) > 0)
  const shownMs = isShown ? core.journal.atMs - sentMs : 0
  await check.until(() => false, waitedUntilMs - core.journal.atMs)
  const before = await seenOf(check, chat, first)
  const replay = await resend(check, first)
  if (replay.status === null)
    return check.report('SHOULD', 'no-answer', { event: EVENT, failure: replay.failure ?? null }, [replay])
  // The help desk needs as long for a further request as for the first.
  await awaitInbox(check, chat, limits.quietMs + shownMs, items => requestsIn(items) > before.requests)
  await reportReplay(check, chat, before, [first, replay])
}

async function resend(check: CheckContext, past: EventAnswer): Promise<EventAnswer> {
  const answer = await check.core.dispatcher.resend(past, false)
  if (answer === null) throw new InterruptedError()
  return answer
}

/** What was there before the replay. */
interface Seen {
  readonly calls: number
  readonly requests: number
  /** Endpoints that are called again and again, such as a notice to those who wait. The replay does not cause them. */
  readonly repeated: ReadonlySet<ChatCall['endpoint']>
}

async function seenOf({ limits }: CheckContext, chat: CheckChat, first: EventAnswer): Promise<Seen> {
  const calls = chat.calls()
  const late = calls.filter(({ at_ms }) => at_ms > first.at_ms + limits.quietMs)
  const repeated = new Set(late.map(({ endpoint }) => endpoint))
  return { calls: calls.length, requests: requestsIn(await chat.inbox()), repeated }
}

/** These change nothing for the user or the agent. */
const READS: ReadonlySet<ChatCall['endpoint']> = new Set(['transcript', 'summarize', 'chat'])

async function reportReplay(check: CheckContext, chat: CheckChat, before: Seen, entries: readonly EventAnswer[]) {
  const requests = requestsIn(await chat.inbox()) - before.requests
  const further = chat.calls().slice(before.calls)
  const calls = further.filter(({ endpoint }) => !READS.has(endpoint) && !before.repeated.has(endpoint))
  if (requests <= 0 && calls.length === 0) return
  const endpoints = [...new Set(calls.map(({ endpoint }) => endpoint ?? 'an unknown path'))]
  const details = { event: EVENT, afterMs: check.limits.replayMs, requests: Math.max(0, requests), endpoints }
  check.report('SHOULD', 'replay-used', details, [...entries, ...calls])
}
