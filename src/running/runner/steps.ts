/** Runs one step by its verb: acts as user, bot and agent, changes the environment, and waits for what a check expects. */
import { basename, dirname, extname, resolve } from 'node:path'
import { BUDGETS } from '../../base/files/budgets.ts'
import { readRegularFile } from '../../base/files/user-files.ts'
import { createRandom } from '../../base/runtime/random.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { makeToken } from '../../evaluation/evaluator/echo.ts'
import { type Action, stepsOf, type Verb } from '../../evaluation/scenario/plan.ts'
import type { Observed, StepDetails, TranscriptRow } from '../../evaluation/scenario/run-events.ts'
import type { WebhookEventName } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { FaultFields } from '../../platform/faults/schema.ts'
import { isOpen } from '../../platform/rules/availability.ts'
import { buildPayload } from '../../platform/rules/chats.ts'
import type { NewFile } from '../../platform/rules/files.ts'
import { type Chat, createTransaction } from '../../platform/rules/state.ts'
import { viewChat } from '../../platform/rules/transcript.ts'
import { botSays } from '../../platform/rules/user-actions.ts'
import { advancePaused } from '../../platform/simulator/core.ts'
import { parseFault } from '../../platform/simulator/parse-fault.ts'
import { findPastDelivery } from '../../platform/webhooks/manual.ts'
import { TargetStartError } from '../agent-driver/target.ts'
import { callDriver, pollInbox } from './inbox.ts'
import { type StepContext, StepError, scenarioSeed } from './run-context.ts'
import { awaitAck, InterruptedError, type Pending, pause, rejectOnAbort, waitUntil } from './waiting.ts'

type ActionOf<V extends Verb> = Extract<Action, { verb: V }>

/** Rejects with `StepError` when the step cannot be run, and with `InterruptedError` when the signal aborts. */
export async function runStep(stepContext: StepContext): Promise<StepDetails> {
  const { context, step, startSeq, signal } = stepContext
  const { action } = step
  const { core, driver } = context
  switch (action.verb) {
    case 'user': {
      const chat = getChat(stepContext)
      const text = String(context.interpolate(step, action.text) ?? '')
      const seedText = `${scenarioSeed(context.seed, context)} ${step.number}`
      const token = context.plan.tokens && text !== '' ? makeToken(seedText) : null
      const attach = action.attach.map(file => readAttachment(context.interpolate(step, file), context.plan.file))
      const sent = rejectUnaccepted(() => core.user.says(chat.id, { text: text + (token ?? ''), attach }))
      return waitForAck(stepContext, (await sent).deliveryId, action.async, token === null ? {} : { token })
    }
    case 'leaves': {
      const { id } = getChat(stepContext)
      await (action.does === 'close' ? core.user.closes(id) : core.user.deletes(id))
      return {}
    }
    case 'press': {
      const chat = getChat(stepContext)
      const button = String(context.interpolate(step, action.button))
      const sent = rejectUnaccepted(() => core.user.press(chat.id, button))
      return waitForAck(stepContext, (await sent).deliveryId, action.async)
    }
    case 'deliver': {
      const deliveryId = action.replay === null ? sendEvent(stepContext, action) : resend(stepContext, action.replay)
      return waitForAck(stepContext, deliveryId, action.async)
    }
    case 'bot': {
      const chat = getChat(stepContext)
      const transaction = createTransaction()
      const text = String(context.interpolate(step, action.text))
      const buttons = context.interpolate(step, action.buttons) as typeof action.buttons
      if (chat.status === 'agent') throw new StepError({ code: 'bot_silent' })
      botSays(core.platform, chat, text, buttons, transaction)
      core.committer.commitEffects(transaction.effects, startSeq)
      return {}
    }
    case 'agent':
      return callAgent(stepContext, action)
    case 'target': {
      const control = driver?.target ?? null
      if (control === null) return { missing: `target.${action.does}` }
      const work = async () => {
        if (action.does === 'restart' || action.does === 'kill') await control.kill()
        if (action.does === 'stop') await control.stop()
        if (action.does === 'restart' || action.does === 'start') await control.start()
      }
      try {
        await rejectOnAbort(work(), signal)
        return {}
      } catch (error) {
        throw error instanceof TargetStartError ? new StepError(error.failure) : error
      }
    }
    case 'wait': {
      const { ms: least, toMs = least } = action
      const { next } = createRandom(scenarioSeed(context.seed, context), `think ${step.number}`)
      const ms = Math.round(least + next() * (toMs - least))
      if (core.clock.isPaused()) await rejectOnAbort(advancePaused(core, ms), signal)
      else await pause(ms, signal)
      if (signal.aborted) throw new InterruptedError()
      return {}
    }
    case 'availability': {
      const reason = action.reason === undefined ? {} : { reason: action.reason }
      context.sim.setAvailability({ availability: action.value, ...reason })
      return {}
    }
    case 'fault':
      return setFault(stepContext, action)
    case 'log':
      context.note({ note: 'log', text: String(context.interpolate(step, action.text)) }, context.chatOf(step)?.id)
      return {}
    case 'expect':
    case 'none': {
      // Their calls are in the journal. Returns what a met `expect` captured.
      await waitUntil(context, () => pendingOf(stepContext), signal)
      const status = context.evaluator.status(step.number, core.journal.atMs)
      return status.state === 'met' && status.captured !== undefined ? { captured: status.captured } : {}
    }
    case 'check': {
      // Observes the chat after every entry, and records what has changed.
      const chat = context.chatOf(step) ?? [...context.conversations.values()][0]!
      let last = ''
      const observeAgain = () => {
        const observed = observe(stepContext, chat, action)
        const text = JSON.stringify(observed)
        if (text !== last) context.note(observed, chat.id)
        last = text
        return pendingOf(stepContext)
      }
      await waitUntil(context, observeAgain, signal)
      return {}
    }
    case 'sees': {
      if (!driver?.verbs.includes('inbox')) return { missing: 'inbox' }
      await pollInbox(context, { chat: getChat(stepContext), startSeq, signal }, () => pendingOf(stepContext))
      return {}
    }
  }
}

function getChat({ context, step }: StepContext): Chat {
  const chat = context.chatOf(step)
  if (chat === null) throw new StepError({ code: 'no_chat', conversation: step.conversation })
  return chat
}

/** Reports an unknown button, an empty message or a fault that is not valid as the control API does. */
async function rejectUnaccepted<Result>(work: () => Result): Promise<Awaited<Result>> {
  try {
    return await work()
  } catch (error) {
    throw new StepError({ code: 'not_accepted', detail: messageOf(error) })
  }
}

async function waitForAck(
  stepContext: StepContext,
  deliveryId: string | null,
  isAsync: boolean,
  details: StepDetails = {},
): Promise<StepDetails> {
  if (deliveryId !== null && !isAsync) await awaitAck(stepContext, deliveryId)
  return { ...details, delivery_id: deliveryId }
}

/** Sends an event of the scenario. Returns its delivery id. */
function sendEvent({ context, step }: StepContext, action: ActionOf<'deliver'>): string {
  const { core } = context
  const event = String(context.interpolate(step, action.event))
  const body = (context.interpolate(step, action.body) ?? {}) as Record<string, unknown>
  const chat = context.chatOf(step)
  const isKnown = Object.hasOwn(WEBHOOK_EVENTS, event) && chat !== null
  const defaults = isKnown ? buildPayload(core.platform, chat, event as WebhookEventName) : { event }
  const sent = { chatId: chat?.id, event, payload: { ...defaults, ...body }, sign: action.sign }
  core.dispatcher.trigger(sent).catch(error => core.onThrown('delivery', error))
  const notes = core.journal.query({ kind: 'note' })
  return String(notes.findLast(({ note }) => note === 'event_triggered')?.delivery_id)
}

/** Sends the bytes of an earlier step again. */
function resend({ context }: StepContext, id: string): string {
  const { plan, core, evaluator } = context
  const earlier = [...stepsOf([...plan.steps, ...plan.finally])].find(step => step.id === id)
  const ended = earlier === undefined ? null : evaluator.index.findEnd(earlier.number)
  const past = ended?.delivery_id == null ? undefined : findPastDelivery(core.journal, ended.delivery_id)
  if (past === undefined) throw new StepError({ code: 'nothing_to_resend', step: id })
  core.dispatcher.resend(past, false).catch(error => core.onThrown('delivery', error))
  return past.delivery_id
}

async function setFault({ context, step }: StepContext, action: ActionOf<'fault'>): Promise<StepDetails> {
  const { plan, conversations, core } = context
  const spec = context.interpolate(step, action.template ?? action.fault) as
    | FaultFields
    | { readonly clear: string | true }
  await rejectUnaccepted(() => {
    if ('clear' in spec) return spec.clear === true ? core.faults.clear() : core.faults.clear(spec.clear)
    // Limits a fault to the chat of its step when there are several. Availability has no chat.
    const chat = conversations.get(step.conversation)
    const isAboutBot = typeof spec.on === 'object' && 'api' in spec.on && [spec.on.api].flat().includes('availability')
    const isLimited = plan.conversations.length > 1 && chat !== undefined && !isAboutBot
    return core.faults.add(parseFault({ ...(isLimited ? { chat_id: chat.id } : {}), ...spec }))
  })
  return {}
}

/** Acts as the human agent. */
async function callAgent({ context, step, startSeq, signal }: StepContext, action: ActionOf<'agent'>) {
  const { driver } = context
  if (driver === null || !driver.verbs.includes(action.does)) return { missing: action.does }
  const value = context.interpolate(step, action.text)
  const text = value == null ? {} : { text: String(value) }
  const parameters = context.interpolate(step, action.with) as Record<string, unknown> | null | undefined
  const withParameters = action.does.startsWith('does.') ? { with: parameters ?? {} } : {}
  const chat = context.chatOf(step)
  const verbCall = { verb: action.does, chat, ...text, ...withParameters, cause: startSeq, signal }
  const call = await callDriver(context, verbCall)
  if (signal.aborted && call.outcome !== 'ok') throw new InterruptedError()
  return {}
}

/** What a checking step waits for; null when it is decided. */
function pendingOf({ context, step, waiting }: StepContext): Pending | null {
  const { atMs } = context.core.journal
  if (context.evaluationError !== null) return null
  const status = context.evaluator.status(step.number, atMs)
  if (status.state !== 'open') return null
  waiting(status.awaited, status.untilMs - atMs)
  return status
}

function observe({ context, step }: StepContext, chat: Chat, { check }: ActionOf<'check'>): Observed {
  const { platform } = context.core
  let transcript: TranscriptRow[] | undefined
  if (check.transcript !== undefined)
    transcript = viewChat(platform, chat).messages.map(({ from, text, name, buttons }) => {
      if (from === 'user') return { user: text }
      if (from === 'agent') return { agent: name, text }
      return buttons.length > 0 ? { bot: text, buttons } : { bot: text }
    })
  return {
    note: 'observed',
    step: step.number,
    chat_id: chat.id,
    status: chat.status,
    typing: chat.typing,
    availability: isOpen(platform, platform.state.bots.get(chat.botId)!) ? 'OPEN' : 'CLOSED',
    ...(transcript === undefined ? {} : { transcript }),
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.zip': 'application/zip',
}

/** An attachment as a scenario describes it: a file, or only its name, type and size. */
interface DescribedFile {
  readonly file?: string
  readonly name?: string
  readonly type?: string
  readonly size_kb?: number
}

function readAttachment(described: unknown, scenarioFile: string): NewFile {
  const { file, name, type, size_kb } = described as DescribedFile
  if (file === undefined) return { name: name!, type: type!, sizeKb: size_kb ?? 0, bytes: null }
  let bytes: Buffer
  try {
    bytes = readRegularFile(resolve(dirname(scenarioFile), file), BUDGETS.attachmentBytes)
  } catch (error) {
    throw new StepError({ code: 'attachment_unreadable', file, detail: messageOf(error) })
  }
  const shownName = name ?? basename(file)
  const guessedType = TYPES[extname(shownName).toLowerCase()] ?? 'application/octet-stream'
  const sizeKb = Math.ceil(bytes.length / 1024)
  return { name: shownName, type: type ?? guessedType, sizeKb, bytes: new Uint8Array(bytes) }
}
