/** Reads what the agent sees of a chat through the driver, and records calls of the driver. */

import type { DriverCall } from '../../evaluation/scenario/run-events.ts'
import type { OpenContent } from '../../platform/journal/entry.ts'
import type { Chat } from '../../platform/rules/state.ts'
import type { DriverContext } from '../agent-driver/driver.ts'
import { driverChat, type RunContext } from './run-context.ts'
import { type Pending, type WaitContext, waitUntil } from './waiting.ts'

/** What a call of the driver needs. */
export type InboxContext = Pick<RunContext, 'driver' | 'url' | 'sim' | 'core'>

export const driverContextOf = ({ url, sim }: InboxContext, chat: Chat | null): DriverContext => ({
  chat: chat === null ? null : driverChat(chat),
  sim: { url, api_key: sim.apiKey, bot_id: sim.botId },
})

export function recordDriverCall(
  { core }: InboxContext,
  call: DriverCall,
  { chat }: DriverContext,
  cause: number,
): void {
  const about = chat === null ? {} : { chat_id: chat.id }
  core.journal.append({ ...call, kind: 'driver', ...about } as OpenContent, cause)
}

/** Records what the agent sees now. */
export async function readInbox(context: InboxContext, chat: Chat, cause: number, signal: AbortSignal): Promise<void> {
  const driverContext = driverContextOf(context, chat)
  const call = await context.driver?.inbox(driverContext, signal)
  if (call !== undefined) recordDriverCall(context, call, driverContext, cause)
}

const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 200

/** Reads the inbox of a chat until `status` returns null, because a help desk does not report what an agent sees. */
export async function pollInbox(
  context: InboxContext & WaitContext,
  { chat, startSeq, signal }: { readonly chat: Chat; readonly startSeq: number; readonly signal: AbortSignal },
  status: () => Pending | null,
): Promise<void> {
  const { journal } = context.core
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    await readInbox(context, chat, startSeq, signal)
    const pending = status()
    if (pending === null) return
    // A virtual clock delivers delayed events in the meantime.
    const untilMs = Math.min(pending.untilMs + 1, journal.atMs + pause)
    await waitUntil(context, () => (journal.atMs >= untilMs ? null : { untilMs }), signal)
  }
}
