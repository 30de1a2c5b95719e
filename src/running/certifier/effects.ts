/** Finds out whether an event had an effect: a call about its chat, or something new in what the agent sees. */

import { isDriverCall } from '../../evaluation/scenario/run-events.ts'
import type { InboxItem } from '../agent-driver/driver.ts'
import type { CheckChat } from './chat.ts'
import { type CheckContext, CheckEndedError } from './context.ts'

export interface ObservedEffect {
  readonly kind: 'call' | 'inbox'
  /** The entry that shows it. */
  readonly seq: number
}

/** Between two reads of the inbox. */
export const INBOX_MS = 200

/** Waits for the first effect on a chat that had none before; null when none comes in time. */
export async function effectWithin(
  check: CheckContext,
  chat: CheckChat,
  withinMs: number,
): Promise<ObservedEffect | null> {
  const { journal } = check.core
  const untilMs = journal.atMs + withinMs
  for (;;) {
    const leftMs = untilMs - journal.atMs
    const called = await check.until(() => chat.calls().length > 0, Math.min(INBOX_MS, Math.max(0, leftMs)))
    if (called) return { kind: 'call', seq: chat.calls()[0]!.seq }
    const items = await chat.inbox()
    if (items.length > 0) return { kind: 'inbox', seq: journal.nextSeq - 1 }
    if (journal.atMs >= untilMs) return null
  }
}

/**
 * Sends a valid request for an agent in a new chat, which every hostile check ends with. Reports when it is not answered
 * with 200. True: it had a visible effect, so that a missing one means something.
 */
export async function controlEvent(check: CheckContext, mustShowEffect: boolean): Promise<boolean> {
  const chat = await check.chat('control')
  const answer = await check.send({ event: 'REQUESTING TAKEOVER', chat })
  if (answer.status !== 200) {
    check.report('MUST', 'control-refused', { event: answer.event, status: answer.status }, [answer])
    return false
  }
  return mustShowEffect ? (await effectWithin(check, chat, check.limits.effectMs)) !== null : false
}

export const requestsIn = (items: readonly InboxItem[]): number =>
  items.filter(({ request }) => request === true).length

/** Reads the inbox until `isEnough` returns true; false when it does not in time. */
export async function awaitInbox(
  check: CheckContext,
  chat: CheckChat,
  withinMs: number,
  isEnough: (items: readonly InboxItem[]) => boolean,
): Promise<boolean> {
  const { journal } = check.core
  const untilMs = journal.atMs + withinMs
  for (;;) {
    if (isEnough(await chat.inbox())) return true
    if (journal.atMs >= untilMs) return false
    await check.until(() => false, Math.min(INBOX_MS, untilMs - journal.atMs))
  }
}

/** Ends the check as inconclusive when the last read of the inbox failed: an inbox that cannot be read is not empty. */
export function requireReadInbox(check: CheckContext, { id }: CheckChat): void {
  const calls = check.core.journal.query({ kind: 'driver', chatId: id }).filter(isDriverCall)
  const last = calls.findLast(({ verb }) => verb === 'inbox')
  if (last === undefined || last.outcome === 'ok') return
  check.inconclusive({ code: 'inbox_failed', failure: last.failure ?? null })
  throw new CheckEndedError('inbox')
}
