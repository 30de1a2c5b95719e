/** Executes checking steps: waits for the evaluator, and records what the journal does not contain by itself. */

import type { Observed, TranscriptRow } from '../../evaluation/scenario/run-events.ts'
import { isOpen } from '../../platform/rules/availability.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { type MessageView, viewChat } from '../../platform/rules/transcript.ts'
import { type InboxContext, readInbox } from './agent-steps.ts'
import type { ActionContext, StepContext, StepHandler } from './run-context.ts'
import { type Pending, type WaitContext, waitUntil } from './waiting.ts'

const statusOf = ({ context, step, waiting }: StepContext): Pending | null => {
  const { atMs } = context.core.journal
  if (context.evaluationError !== null) return null
  const status = context.evaluator.status(step.number, atMs)
  if (status.state !== 'open') return null
  waiting(status.awaited, status.untilMs - atMs)
  return status
}

/** Executes `expect` and `none`: their calls are in the journal. Returns what a met `expect` captured. */
export const waitForVerdict = async (stepContext: StepContext) => {
  const { context, step, signal } = stepContext
  await waitUntil(context, () => statusOf(stepContext), signal)
  const status = context.evaluator.status(step.number, context.core.journal.atMs)
  return status.state === 'met' && status.captured !== undefined ? { captured: status.captured } : {}
}

/** Observes the chat after every entry, and records what has changed. */
export const runCheckStep: StepHandler<'check'> = async stepContext => {
  const { context, step } = stepContext
  const chat = context.chatOf(step) ?? [...context.conversations.values()][0]!
  let last = ''
  const status = () => {
    const observed = observe(stepContext, chat)
    const text = JSON.stringify(observed)
    if (text !== last) context.note(observed, chat.id)
    last = text
    return statusOf(stepContext)
  }
  await waitUntil(context, status, stepContext.signal)
  return {}
}

function observe({ context, step, action }: ActionContext<'check'>, chat: Chat): Observed {
  const { platform } = context.core
  return {
    note: 'observed',
    step: step.number,
    chat_id: chat.id,
    status: chat.status,
    typing: chat.typing,
    availability: isOpen(platform, platform.state.bots.get(chat.botId)!) ? 'OPEN' : 'CLOSED',
    ...(action.check.transcript === undefined ? {} : { transcript: viewChat(platform, chat).messages.map(rowOf) }),
  }
}

function rowOf({ from, text, name, buttons }: MessageView): TranscriptRow {
  if (from === 'user') return { user: text }
  if (from === 'agent') return { agent: name, text }
  return buttons.length > 0 ? { bot: text, buttons } : { bot: text }
}

const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 200

/** Polls the inbox: a help desk does not report what an agent sees. */
export const runSeesStep: StepHandler<'sees'> = async stepContext => {
  const { context, step, startSeq, signal } = stepContext
  if (!context.driver?.verbs.includes('inbox')) return { missing: 'inbox' }
  const chat = context.chatOf(step)!
  await pollInbox(context, { chat, startSeq, signal }, () => statusOf(stepContext))
  return {}
}

/** Reads the inbox of a chat until `status` returns null. Lets a virtual clock deliver delayed events in between. */
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
    const untilMs = Math.min(pending.untilMs + 1, journal.atMs + pause)
    await waitUntil(context, () => (journal.atMs >= untilMs ? null : { untilMs }), signal)
  }
}
