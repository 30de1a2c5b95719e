/** The two messages that the agent writes in checks of faults, and what the user sees of them. */
import type { DriverCall } from '../../agent-driver/driver.ts'
import type { ChatCall, CheckChat } from '../chat.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import type { FaultKind } from '../findings/faults.ts'

export async function takenOver(check: CheckContext, name: string): Promise<CheckChat> {
  const chat = await check.chat(name)
  await chat.takeOver()
  return chat
}

export const FIRST_MESSAGE = 'First: I am looking at it.'
export const SECOND_MESSAGE = 'Second: it is on its way.'

/**
 * The agent writes both messages. The second waits for the call of the first, because a fault is to meet the first: calls
 * that are under way together may come in either order. Resolves with how the first was written.
 */
export async function writeBoth(check: CheckContext, chat: CheckChat): Promise<DriverCall> {
  const written = await chat.tryAgent('says', { text: FIRST_MESSAGE })
  await check.until(() => chat.calls('message').length > 0, check.limits.effectMs)
  await chat.tryAgent('says', { text: SECOND_MESSAGE })
  return written
}

/** The calls by which the user sees this text, oldest first. */
export const shownTo = (chat: CheckChat, text: string): ChatCall[] =>
  chat.calls('message').filter(call => isShown(call) && textInCall(call) === text)

/** A lost answer does not change that the platform processed the call. */
const isShown = ({ status, answer_lost }: ChatCall): boolean => status === 200 || answer_lost === 'after'

export function textInCall({ request: { body } }: ChatCall): string | null {
  const message = (body as { readonly message?: unknown } | null)?.message
  return typeof message === 'string' ? message : null
}

interface Shown {
  readonly text: string
  /** The fault that the message meets. */
  readonly fault: FaultKind
}

/** Reports a message that the user does not see in time, which ends the check. */
export async function expectDelivered(
  check: CheckContext,
  chat: CheckChat,
  { text, fault, withinMs }: Shown & { readonly withinMs: number },
): Promise<void> {
  if (await check.until(() => shownTo(chat, text).length > 0, withinMs)) return
  check.report('SHOULD', 'message-missing', { chat: chat.name, text, fault, withinMs }, chat.calls('message'))
  throw new CheckEndedError(text)
}

/** Waits for repetitions, and reports more than `atMost`. */
export async function reportRepeats(
  check: CheckContext,
  chat: CheckChat,
  { text, fault, atMost }: Shown & { readonly atMost: number },
): Promise<void> {
  await check.until(() => shownTo(chat, text).length > atMost, check.limits.quietMs)
  const shown = shownTo(chat, text)
  if (shown.length > atMost)
    check.report('SHOULD', 'message-repeated', { text, fault, times: shown.length, atMost }, shown)
}
