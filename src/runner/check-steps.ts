/** Steps that look: they wait until the judge has decided, and fetch what the judge cannot see in the journal. */
import { isOpen } from '../platform/availability.ts'
import { type MessageView, viewChat } from '../platform/chat-view.ts'
import type { Chat } from '../platform/state.ts'
import type { Observed, TranscriptRow } from '../scenario/run-events.ts'
import { readInbox } from './agent-steps.ts'
import type { ActionContext, StepContext, StepHandler } from './step-context.ts'
import { type Open, waitUntil } from './waiting.ts'

const decided = ({ context, step, waiting }: StepContext): Open | null => {
  const { atMs } = context.core.journal
  if (context.evaluationError !== null) return null
  const look = context.evaluator.look(step.number, atMs)
  if (look.state !== 'open') return null
  waiting(look.waitingFor, look.untilMs - atMs)
  return look
}

const waitForVerdict = async (stepContext: StepContext) => {
  await waitUntil(stepContext.context, () => decided(stepContext), stepContext.signal)
  return {}
}

export const expect: StepHandler<'expect'> = stepContext => waitForVerdict(stepContext)
export const none: StepHandler<'none'> = stepContext => waitForVerdict(stepContext)

/** The chat is looked at again with every entry; only what has changed is written down. */
export const check: StepHandler<'check'> = async stepContext => {
  const { context, step } = stepContext
  const chat = context.chatOf(step) ?? [...context.conversations.values()][0]!
  let last = ''
  const look = () => {
    const lastSeq = observe(stepContext, chat)
    const text = JSON.stringify(lastSeq)
    if (text !== last) context.note(lastSeq, chat.id)
    last = text
    return decided(stepContext)
  }
  await waitUntil(context, look, stepContext.signal)
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
const LONGEST_PAUSE_MS = 200

/** The one thing that has to be asked for again and again: nobody tells us what an agent sees. */
export const sees: StepHandler<'sees'> = async stepContext => {
  const { context, step, startSeq, signal } = stepContext
  if (!context.driver?.verbs.includes('inbox')) return { missing: 'inbox' }
  const chat = context.chatOf(step)!
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    await readInbox(context, chat, startSeq, signal)
    const open = decided(stepContext)
    if (open === null) return {}
    await pauseOrProgress(stepContext, open, pause)
  }
}

/** Until it is worth asking again; delayed events of a virtual clock get their chance meanwhile. */
async function pauseOrProgress({ context, signal }: StepContext, open: Open, pauseMs: number): Promise<void> {
  const { journal } = context.core
  const untilMs = Math.min(open.untilMs + 1, journal.atMs + pauseMs)
  await waitUntil(context, () => (journal.atMs >= untilMs ? null : { untilMs }), signal)
}
