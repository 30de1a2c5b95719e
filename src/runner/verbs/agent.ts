/** The human agent, and the intermediary as a process: whatever goes through the driver. */
import type { Driver, DriverContext, TargetControl } from '../../driver/port.ts'
import type { OpenContent } from '../../journal/entry.ts'
import type { Chat } from '../../platform/state.ts'
import type { DriverCall } from '../../scenario/marks.ts'
import type { Stage } from '../play/stage.ts'
import { driverChat } from '../play/stage.ts'
import { Cut, orCut } from '../play/waiting.ts'
import { type Play, StepProblem } from './verb.ts'

export const agent: Play<'agent'> = async ({ stage, step, action, startSeq, signal }) => {
  const { driver } = stage
  if (driver === null || !driver.verbs.includes(action.does)) return { missing: action.does }
  const text = stage.fill(step, action.text)
  const parameters = stage.fill(step, action.with) as Record<string, unknown> | null | undefined
  const context = {
    ...contextOf(stage, stage.chatOf(step)),
    ...(text == null ? {} : { text: String(text) }),
    ...(parameters == null ? {} : { with: parameters }),
  }
  const done = await driver.call(action.does, context, signal)
  noteCall(stage, context.text === undefined ? done : { ...done, text: context.text }, context, startSeq)
  if (signal.aborted && done.outcome !== 'ok') throw new Cut()
  return {}
}

export const target: Play<'target'> = async ({ stage, action, signal }) => {
  const control = stage.driver?.target ?? null
  if (control === null) return { missing: `target.${action.does}` }
  try {
    await orCut(steer(control, action.does), signal)
    return {}
  } catch (error) {
    if (error instanceof Cut) throw error
    throw new StepProblem((error as Error).message, { environment: true })
  }
}

async function steer(control: TargetControl, does: 'start' | 'stop' | 'restart' | 'kill'): Promise<void> {
  if (does === 'restart' || does === 'kill') await control.kill()
  if (does === 'stop') await control.stop()
  if (does === 'restart' || does === 'start') await control.start()
}

/** What the agent sees now; also the way to know how much there was before a turn. */
export async function readInbox(stage: Stage, chat: Chat, cause: number, signal: AbortSignal): Promise<DriverCall> {
  const context = contextOf(stage, chat)
  const read = await (stage.driver as Driver).inbox(context, signal)
  noteCall(stage, read, context, cause)
  return read
}

function noteCall({ core }: Stage, call: DriverCall, { chat }: DriverContext, cause: number): void {
  const of = chat === null ? {} : { chat_id: chat.id }
  core.journal.append({ ...call, kind: 'driver', ...of } as OpenContent, cause)
}

function contextOf({ url, sim }: Stage, chat: Chat | null): DriverContext {
  return {
    chat: chat === null ? null : driverChat(chat),
    sim: { url, api_key: sim.apiKey, bot_id: sim.botId },
  }
}
