/** Calls the agent driver about a chat, and reads what the agent sees of it. */

import type { DriverCall } from '../../evaluation/scenario/run-events.ts'
import type { OpenContent } from '../../platform/journal/entry.ts'
import { isInboxFailure } from '../../platform/journal/run-failures.ts'
import type { Chat } from '../../platform/rules/state.ts'
import type { Core } from '../../platform/simulator/core.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { driverChat } from './run-context.ts'
import { type Pending, waitUntil } from './waiting.ts'

/** What a call of the driver needs. */
export interface DriverCaller {
  readonly driver: Driver | null
  readonly sim: PlatformSimulator
  readonly core: Core
  /** The address the intermediary calls. */
  readonly url: string
}

export interface VerbCall {
  readonly verb: string
  /** Null for a verb of the whole help desk. */
  readonly chat: Chat | null
  readonly text?: string
  readonly with?: Readonly<Record<string, unknown>>
  /** Seq of the entry that causes the call. */
  readonly cause: number | null
  readonly signal: AbortSignal
}

/** Calls a verb that the driver has, and records the call. */
export async function callDriver(
  { driver, sim, core, url }: DriverCaller,
  { verb, chat, cause, signal, ...more }: VerbCall,
): Promise<DriverCall> {
  const access = { url, api_key: sim.apiKey, bot_id: sim.botId }
  const call = await driver!.call(verb, { chat: chat && driverChat(chat), sim: access, ...more }, signal)
  const text = more.text === undefined ? {} : { text: more.text }
  const about = chat === null ? {} : { chat_id: chat.id }
  core.journal.append({ ...call, ...text, kind: 'driver', ...about } as OpenContent, cause)
  return call
}

const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 200

/** Reads the inbox of a chat until `status` returns null, because a help desk does not report what an agent sees. */
export async function pollInbox(
  caller: DriverCaller,
  { chat, startSeq, signal }: { readonly chat: Chat; readonly startSeq: number; readonly signal: AbortSignal },
  status: () => Pending | null,
): Promise<void> {
  const { journal } = caller.core
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    const { failure } = await callDriver(caller, { verb: 'inbox', chat, cause: startSeq, signal })
    const pending = status()
    // A driver that reads the inbox in a wrong way does so each time.
    if (pending === null || isInboxFailure(failure)) return
    // A virtual clock delivers delayed events in the meantime.
    const untilMs = Math.min(pending.untilMs + 1, journal.atMs + pause)
    await waitUntil(caller, () => (journal.atMs >= untilMs ? null : { untilMs }), signal)
  }
}
