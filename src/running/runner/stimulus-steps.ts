/** Executes steps that change something: acts as the user and the bot, sends events, and changes the environment. */
import { basename, dirname, extname, resolve } from 'node:path'
import { BUDGETS } from '../../base/files/budgets.ts'
import { readRegularFile } from '../../base/files/user-files.ts'
import type { Maybe } from '../../base/runtime/activity.ts'
import { wallDelay } from '../../base/runtime/clock.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { makeToken } from '../../evaluation/evaluator/echo.ts'
import { stepsOf } from '../../evaluation/scenario/plan.ts'
import type { StepDetails } from '../../evaluation/scenario/run-events.ts'
import type { WebhookEventName } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { FaultFields } from '../../platform/faults/schema.ts'
import { botSays } from '../../platform/rules/bot.ts'
import { payloadOf } from '../../platform/rules/chats.ts'
import type { NewFile } from '../../platform/rules/files.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { createTransaction } from '../../platform/rules/state.ts'
import type { UserOutcome } from '../../platform/rules/user-actions.ts'
import { advancePaused } from '../../platform/simulator/core.ts'
import { parseFault } from '../../platform/simulator/parse-fault.ts'
import { findPastDelivery } from '../../platform/webhooks/manual.ts'
import {
  type ActionContext,
  type RunContext,
  type StepContext,
  StepError,
  type StepHandler,
  scenarioSeed,
} from './run-context.ts'
import { awaitAck, InterruptedError, rejectOnAbort, stepEvent } from './waiting.ts'

export const runWaitStep: StepHandler<'wait'> = async ({ context, action, signal }) => {
  const { core } = context
  if (core.clock.isPaused()) await rejectOnAbort(advancePaused(core, action.ms), signal)
  else await wallDelay(action.ms, signal)
  if (signal.aborted) throw new InterruptedError()
  return {}
}

export const runAvailabilityStep: StepHandler<'availability'> = ({ context, action }) => {
  const reason = action.reason === undefined ? {} : { reason: action.reason }
  context.sim.setAvailability({ availability: action.value, ...reason })
  return {}
}

export const runFaultStep: StepHandler<'fault'> = ({ context, step, action }) => {
  const { faults } = context.core
  const spec = context.interpolate(step, action.fault) as FaultFields | { readonly clear: string | true }
  try {
    if ('clear' in spec) spec.clear === true ? faults.clear() : faults.clear(spec.clear)
    else faults.add(parseFault({ ...ofConversation(context, step.conversation, spec), ...spec }))
    return {}
  } catch (error) {
    throw notAccepted(error)
  }
}

const notAccepted = (error: unknown) => new StepError({ code: 'not_accepted', detail: messageOf(error) })

/** Limits a fault to the chat of its step when there are several. Availability has no chat. */
function ofConversation(
  { plan, conversations }: RunContext,
  conversation: string,
  spec: FaultFields,
): { chat_id?: string } {
  const chat = conversations.get(conversation)
  const noChat = typeof spec.on === 'object' && 'api' in spec.on && [spec.on.api].flat().includes('availability')
  return plan.conversations.length < 2 || chat === undefined || noChat ? {} : { chat_id: chat.id }
}

export const runLogStep: StepHandler<'log'> = ({ context, step, action }) => {
  context.note({ note: 'log', text: String(context.interpolate(step, action.text)) }, context.chatOf(step)?.id)
  return {}
}

export const runDeliverStep: StepHandler<'deliver'> = async stepContext => {
  const { replay: earlier, async } = stepContext.action
  const delivery_id = earlier === null ? trigger(stepContext) : replay(stepContext, earlier)
  if (!async) await awaitAck(stepContext, delivery_id)
  return { delivery_id }
}

/** Sends an event of the scenario. Returns its delivery id. */
function trigger({ context, step, action }: ActionContext<'deliver'>): string {
  const { core } = context
  const event = String(context.interpolate(step, action.event))
  const body = (context.interpolate(step, action.body) ?? {}) as Record<string, unknown>
  const chat = context.chatOf(step)
  const known = Object.hasOwn(WEBHOOK_EVENTS, event) && chat !== null
  const payload = known ? { ...payloadOf(core.platform, chat, event as WebhookEventName), ...body } : { event, ...body }
  const onThrown = (error: unknown) => core.onThrown('delivery', error)
  core.dispatcher.trigger({ chatId: chat?.id, event, payload, sign: action.sign }).catch(onThrown)
  const notes = core.journal.query({ kind: 'note' })
  return String(notes.findLast(({ note }) => note === 'event_triggered')?.delivery_id)
}

/** Sends the bytes of an earlier step again. */
function replay({ context }: ActionContext<'deliver'>, id: string): string {
  const steps = [...stepsOf([...context.plan.steps, ...context.plan.finally])]
  const earlier = steps.find(step => step.id === id)
  const ended = stepEvent(context.core.journal, 'step_ended', earlier?.number)
  const past = ended?.delivery_id == null ? undefined : findPastDelivery(context.core.journal, ended.delivery_id)
  if (past === undefined) throw new StepError({ code: 'nothing_to_resend', step: id })
  const onThrown = (error: unknown) => context.core.onThrown('delivery', error)
  context.core.dispatcher.resend(past, false).catch(onThrown)
  return past.delivery_id
}

export const runUserStep: StepHandler<'user'> = async stepContext => {
  const { context, step, action } = stepContext
  const chat = chatOf(stepContext)
  const text = String(context.interpolate(step, action.text) ?? '')
  const token =
    context.plan.tokens && text !== '' ? makeToken(`${scenarioSeed(context.seed, context)} ${step.number}`) : null
  const attach = await Promise.all(
    action.attach.map(file => readAttachment(context.interpolate(step, file), context.plan.file)),
  )
  const details = token === null ? {} : { token }
  return performUserAction(stepContext, details, () =>
    context.core.user.says(chat.id, { text: text + (token ?? ''), attach: attach as NewFile[] }),
  )
}

export const runPressStep: StepHandler<'press'> = stepContext => {
  const { context, step, action } = stepContext
  const chat = chatOf(stepContext)
  return performUserAction(stepContext, {}, () =>
    context.core.user.press(chat.id, String(context.interpolate(step, action.button))),
  )
}

export const runBotStep: StepHandler<'bot'> = ({ context, step, action, startSeq }) => {
  const chat = chatOf({ context, step })
  const transaction = createTransaction()
  const text = String(context.interpolate(step, action.text))
  const buttons = context.interpolate(step, action.buttons) as typeof action.buttons
  if (chat.status === 'agent') throw new StepError({ code: 'bot_silent' })
  botSays(context.core.platform, chat, text, buttons, transaction)
  context.core.commitEffects(transaction.effects, startSeq)
  return {}
}

function chatOf({ context, step }: Pick<StepContext, 'context' | 'step'>): Chat {
  const chat = context.chatOf(step)
  if (chat === null) throw new StepError({ code: 'no_chat', conversation: step.conversation })
  return chat
}

type UserActionContext = ActionContext<'user'> | ActionContext<'press'>

async function performUserAction(
  stepContext: UserActionContext,
  details: StepDetails,
  start: () => Maybe<UserOutcome>,
): Promise<StepDetails> {
  const { deliveryId } = await started(start)
  const done = { ...details, delivery_id: deliveryId }
  if (deliveryId === null || stepContext.action.async) return done
  await awaitAck(stepContext, deliveryId)
  return done
}

/** Reports an unknown button or an empty message as the control API does. */
async function started(start: () => Maybe<UserOutcome>): Promise<UserOutcome> {
  try {
    return await start()
  } catch (error) {
    throw notAccepted(error)
  }
}

interface Described {
  readonly file?: string
  readonly name?: string
  readonly type?: string
  readonly size_kb?: number
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

function readFileOfStep(file: string, scenarioFile: string): Buffer {
  try {
    return readRegularFile(resolve(dirname(scenarioFile), file), BUDGETS.attachmentBytes)
  } catch (error) {
    throw new StepError({ code: 'attachment_unreadable', file, detail: messageOf(error) })
  }
}

async function readAttachment(wanted: unknown, scenarioFile: string): Promise<NewFile> {
  const { file, name, type, size_kb } = wanted as Described
  if (file === undefined) return { name: name!, type: type!, sizeKb: size_kb ?? 0, bytes: null }
  const bytes = readFileOfStep(file, scenarioFile)
  const shown = name ?? basename(file)
  const guessed = TYPES[extname(shown).toLowerCase()] ?? 'application/octet-stream'
  return { name: shown, type: type ?? guessed, sizeKb: Math.ceil(bytes.length / 1024), bytes: new Uint8Array(bytes) }
}
