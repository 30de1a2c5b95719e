/** Reads what arrives on the other side of a conversation, and compares it with what was written. */

import { isMap } from '../../base/objects.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { InboxItem } from '../agent-driver/driver.ts'
import type { ChatCall, CheckChat } from './chat.ts'
import type { CheckContext } from './context.ts'
import { INBOX_MS, requireReadInbox } from './effects.ts'
import type { FindingLevel } from './findings/index.ts'
import { differenceOf } from './text-difference.ts'

/** A text that the check writes. */
export interface Sample {
  /** Names it in findings, such as `an emoji`. */
  readonly name: string
  /** The part by which it is recognized when the rest has changed. */
  readonly token: string
  readonly text: string
}

/** to_agent: the user wrote it. to_user: the agent wrote it. */
export type TextDirection = 'to_agent' | 'to_user'

/** A text as it arrived, with the entry that shows it. */
export interface ReceivedText {
  readonly text: string
  readonly seq: number
}

/**
 * For checks that compare texts: the languages of the agent, which are not known, must not change them, and a missing
 * sender, which FLW-03 reports, must not hide them.
 */
export const UNTRANSLATED = { 'translation.engine': 'identity', 'strict.sender': 'off' } as const

const arrivedAll = (samples: readonly Sample[], texts: readonly ReceivedText[]): boolean =>
  samples.every(({ token }) => texts.some(({ text }) => text.includes(token)))

/** Reads the inbox until `isDone`, or until an effect must have been visible; resolves with what was read last. A failed last read ends the check. */
export async function inboxUntil(
  check: CheckContext,
  chat: CheckChat,
  isDone: (items: readonly InboxItem[]) => boolean,
): Promise<readonly InboxItem[]> {
  const { journal } = check.core
  const untilMs = journal.atMs + check.limits.effectMs
  for (;;) {
    const items = await chat.inbox()
    if (isDone(items)) return items
    if (journal.atMs >= untilMs) {
      requireReadInbox(check, chat)
      return items
    }
    await check.until(() => false, INBOX_MS)
  }
}

/** Reads the inbox until it has all samples; resolves with all its texts, oldest first. */
export async function textsSeenByAgent(
  check: CheckContext,
  chat: CheckChat,
  samples: readonly Sample[],
): Promise<readonly ReceivedText[]> {
  const textsIn = (items: readonly InboxItem[]) =>
    items.flatMap(({ text }) => (typeof text === 'string' ? [{ text, seq: check.core.journal.nextSeq - 1 }] : []))
  return textsIn(await inboxUntil(check, chat, items => arrivedAll(samples, textsIn(items))))
}

/** The latest entry, as what shows that something did not happen. */
export const lastEntry = ({ core: { journal } }: CheckContext): readonly Entry[] =>
  journal.query({ after: journal.nextSeq - 2 })

/** Waits until `message` calls have all samples; resolves with the texts of all calls that the platform accepted. */
export async function textsSentToUser(
  check: CheckContext,
  chat: CheckChat,
  samples: readonly Sample[],
): Promise<readonly ReceivedText[]> {
  const texts = () => acceptedMessages(chat).map(({ seq, request }) => ({ text: messageIn(request.body), seq }))
  await check.until(() => arrivedAll(samples, texts()), check.limits.effectMs)
  return texts()
}

export const isAccepted = ({ status }: ChatCall): boolean => status >= 200 && status < 300

export const acceptedMessages = (chat: CheckChat): ChatCall[] => chat.calls('message').filter(isAccepted)

/** The text of a `message` call; empty when there is none. */
export const messageIn = (body: unknown): string =>
  isMap(body) && typeof body.message === 'string' ? body.message : ''

/** Reports samples that did not arrive, and those that arrived with other characters. True: all arrived unchanged. */
export function compareSamples(
  check: CheckContext,
  level: FindingLevel,
  direction: TextDirection,
  samples: readonly Sample[],
  received: readonly ReceivedText[],
): boolean {
  const problems = samples.filter(sample => !arrivedUnchanged(check, level, direction, sample, received))
  return problems.length === 0
}

function arrivedUnchanged(
  check: CheckContext,
  level: FindingLevel,
  direction: TextDirection,
  { name, token, text }: Sample,
  received: readonly ReceivedText[],
): boolean {
  const found = received.filter(one => one.text.includes(token))
  const [first] = found
  if (first === undefined) {
    check.report(level, 'text-missing', { direction, name, withinMs: check.limits.effectMs }, lastEntry(check))
    return false
  }
  if (found.some(one => one.text === text)) return true
  const difference = differenceOf(text, first.text)
  if (difference !== null) check.report(level, 'text-changed', { direction, name, difference }, [first])
  return false
}

/** Reports samples that arrived more than once, or in another order. */
export function compareOrder(
  check: CheckContext,
  level: FindingLevel,
  direction: TextDirection,
  samples: readonly Sample[],
  received: readonly ReceivedText[],
): void {
  const arrived = received.flatMap(one => {
    const sample = samples.find(({ token }) => one.text.includes(token))
    return sample === undefined ? [] : [{ name: sample.name, seq: one.seq }]
  })
  for (const { name } of samples) {
    const copies = arrived.filter(one => one.name === name)
    if (copies.length > 1) check.report(level, 'text-repeated', { direction, name, times: copies.length }, copies)
  }
  const order = [...new Set(arrived.map(({ name }) => name))]
  const expected = samples.map(({ name }) => name).filter(name => order.includes(name))
  if (order.some((name, index) => name !== expected[index]))
    check.report(level, 'text-order', { direction, expected, received: order }, arrived)
}

/** Waits for as long as nothing may happen. */
export const observeSilence = (check: CheckContext): Promise<boolean> => check.until(() => false, check.limits.quietMs)
