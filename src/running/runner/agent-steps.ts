/** Executes steps of the driver: acts as the human agent, and controls the intermediary as a process. */

import type { DriverCall } from '../../evaluation/scenario/run-events.ts'
import type { OpenContent } from '../../platform/journal/entry.ts'
import type { Chat } from '../../platform/rules/state.ts'
import type { DriverContext, TargetControl } from '../agent-driver/driver.ts'
import { TargetStartError } from '../agent-driver/target.ts'
import { driverChat, type RunContext, StepError, type StepHandler } from './run-context.ts'
import { InterruptedError, rejectOnAbort } from './waiting.ts'

export const runAgentStep: StepHandler<'agent'> = async ({ context, step, action, startSeq, signal }) => {
  const { driver } = context
  if (driver === null || !driver.verbs.includes(action.does)) return { missing: action.does }
  const text = context.interpolate(step, action.text)
  const parameters = context.interpolate(step, action.with) as Record<string, unknown> | null | undefined
  const driverContext = {
    ...contextOf(context, context.chatOf(step)),
    ...(text == null ? {} : { text: String(text) }),
    ...(action.does.startsWith('does.') ? { with: parameters ?? {} } : {}),
  }
  const call = await driver.call(action.does, driverContext, signal)
  const written = driverContext.text === undefined ? {} : { text: driverContext.text }
  recordDriverCall(context, { ...call, ...written }, driverContext, startSeq)
  if (signal.aborted && call.outcome !== 'ok') throw new InterruptedError()
  return {}
}

export const runTargetStep: StepHandler<'target'> = async ({ context, action, signal }) => {
  const control = context.driver?.target ?? null
  if (control === null) return { missing: `target.${action.does}` }
  try {
    await rejectOnAbort(controlTarget(control, action.does), signal)
    return {}
  } catch (error) {
    throw error instanceof TargetStartError ? new StepError(error.failure) : error
  }
}

async function controlTarget(control: TargetControl, does: 'start' | 'stop' | 'restart' | 'kill'): Promise<void> {
  if (does === 'restart' || does === 'kill') await control.kill()
  if (does === 'stop') await control.stop()
  if (does === 'restart' || does === 'start') await control.start()
}

/** What a call of the driver needs. */
export type InboxContext = Pick<RunContext, 'driver' | 'url' | 'sim' | 'core'>

/** Records what the agent sees now. */
export async function readInbox(context: InboxContext, chat: Chat, cause: number, signal: AbortSignal): Promise<void> {
  const driverContext = contextOf(context, chat)
  const call = await context.driver?.inbox(driverContext, signal)
  if (call !== undefined) recordDriverCall(context, call, driverContext, cause)
}

function recordDriverCall({ core }: InboxContext, call: DriverCall, { chat }: DriverContext, cause: number): void {
  const of = chat === null ? {} : { chat_id: chat.id }
  core.journal.append({ ...call, kind: 'driver', ...of } as OpenContent, cause)
}

function contextOf({ url, sim }: InboxContext, chat: Chat | null): DriverContext {
  return {
    chat: chat === null ? null : driverChat(chat),
    sim: { url, api_key: sim.apiKey, bot_id: sim.botId },
  }
}
