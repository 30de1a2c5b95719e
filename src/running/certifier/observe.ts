/** Observes what follows an event or a message: calls about the chat, and what the agent sees. */

import { isDriverCall } from '../../evaluation/scenario/run-events.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { InboxItem } from '../agent-driver/driver.ts'
import { type CheckChat, openChat } from './chat.ts'
import { type CheckContext, CheckEndedError } from './context.ts'
import { inboxFailed } from './reason.ts'
import { answerText } from './words.ts'

/** The first effect of an event: a call about its chat, or something that the agent sees. */
export interface ObservedEffect {
  readonly kind: 'call' | 'inbox'
  /** The entry that shows it. */
  readonly seq: number
}

/** Follows "an event had an effect". */
export const EFFECT_TEXTS = {
  call: 'the intermediary called the platform about its chat',
  inbox: 'the agent sees it',
} as const

/** Between two reads of the inbox. */
const INBOX_MS = 200

/** Waits for the first effect on a chat that had none before; null when none comes in time. */
export async function effectWithin(
  check: CheckContext,
  chat: CheckChat,
  withinMs: number,
): Promise<ObservedEffect | null> {
  const { journal } = check.core
  const untilMs = journal.atMs + withinMs
  const isCalled = () => chat.calls().length > 0
  for (;;) {
    const leftMs = Math.max(0, untilMs - journal.atMs)
    if (await check.until(isCalled, Math.min(INBOX_MS, leftMs))) return { kind: 'call', seq: chat.calls()[0]!.seq }
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
  const chat = await openChat(check, 'control')
  const answer = await check.send({ event: 'REQUESTING TAKEOVER', chat })
  const { event, status } = answer
  if (status === 200) return mustShowEffect && (await effectWithin(check, chat, check.limits.effectMs)) !== null
  check.report('MUST', 'control-refused', {
    happened: `The webhook ${answerText(answer)} to a validly signed ${event}, the valid event with which this check ends.`,
    hint:
      status === 401 || status === 403
        ? 'Run SIG-01 and SIG-07, which show how the signature is verified. If both pass, look for a block list that a bad event of this check has filled.'
        : 'Look for a crash, a closed server, or a block list that a bad event has filled.',
    details: { event, status },
    entries: [answer],
  })
  return false
}

/** Reads the inbox until `isDone` returns true or the time is over, and resolves with the last read. */
export async function readInboxUntil(
  check: CheckContext,
  chat: CheckChat,
  withinMs: number,
  isDone: (items: readonly InboxItem[]) => boolean,
): Promise<readonly InboxItem[]> {
  const { journal } = check.core
  const untilMs = journal.atMs + withinMs
  for (;;) {
    const items = await chat.inbox()
    if (isDone(items) || journal.atMs >= untilMs) return items
    await check.pause(Math.min(INBOX_MS, untilMs - journal.atMs))
  }
}

/** Reads the inbox until an effect must have been visible. A failed last read ends the check. */
export async function inboxUntil(
  check: CheckContext,
  chat: CheckChat,
  isDone: (items: readonly InboxItem[]) => boolean,
): Promise<readonly InboxItem[]> {
  const items = await readInboxUntil(check, chat, check.limits.effectMs, isDone)
  if (!isDone(items)) requireReadInbox(check, chat)
  return items
}

/** Reads the inbox until it shows each text so many times, or an effect must have been visible. A failed last read ends the check. */
export async function inboxWith(
  check: CheckContext,
  chat: CheckChat,
  texts: readonly string[],
  times = 1,
): Promise<readonly InboxItem[]> {
  return inboxUntil(check, chat, items => texts.every(text => timesSeen(items, text) >= times))
}

/** Ends the check as inconclusive when the last read of the inbox failed: an inbox that cannot be read is not empty. */
export function requireReadInbox(check: CheckContext, { id }: CheckChat): void {
  const calls = check.core.journal.query({ kind: 'driver', chatId: id }).filter(isDriverCall)
  const last = calls.findLast(({ verb }) => verb === 'inbox')
  if (last === undefined || last.outcome === 'ok') return
  check.inconclusive(inboxFailed(last.failure ?? null))
  throw new CheckEndedError('inbox')
}

export const requestsIn = (items: readonly InboxItem[]): number =>
  items.filter(({ request }) => request === true).length

/** A help desk may show more with a text, such as the name of the user. */
export const timesSeen = (items: readonly InboxItem[], text: string): number =>
  items.filter(item => item.text?.includes(text)).length

/** The latest entry, as what shows that something did not happen. */
export const lastEntry = ({ core: { journal } }: CheckContext): readonly Entry[] =>
  journal.query({ after: journal.nextSeq - 2 })
