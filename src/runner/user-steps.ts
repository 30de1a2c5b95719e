/** Executes steps of the end user and of the bot. */

import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import { makeToken } from '../evaluator/tokens.ts'
import { botSays } from '../platform/bot.ts'
import { andThen, type Maybe } from '../platform/engines.ts'
import type { NewFile } from '../platform/files.ts'
import type { Chat } from '../platform/state.ts'
import { createTransaction } from '../platform/transaction.ts'
import type { UserOutcome } from '../platform/user-actions.ts'
import type { StepDetails } from '../scenario/run-events.ts'
import { awaitAck } from './await-ack.ts'
import { scenarioSeed } from './run-context.ts'
import { type ActionContext, type StepContext, StepError, type StepHandler } from './step-context.ts'

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
    return await andThen(start(), outcome => outcome)
  } catch (error) {
    throw new StepError({ code: 'not_accepted', detail: error instanceof Error ? error.message : String(error) })
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

async function readAttachment(wanted: unknown, scenarioFile: string): Promise<NewFile> {
  const { file, name, type, size_kb } = wanted as Described
  if (file === undefined) return { name: name!, type: type!, sizeKb: size_kb ?? 0, bytes: null }
  const bytes = await readFile(resolve(dirname(scenarioFile), file)).catch((error: Error) => {
    throw new StepError({ code: 'attachment_unreadable', file, detail: error.message })
  })
  const shown = name ?? basename(file)
  const guessed = TYPES[extname(shown).toLowerCase()] ?? 'application/octet-stream'
  return { name: shown, type: type ?? guessed, sizeKb: Math.ceil(bytes.length / 1024), bytes: new Uint8Array(bytes) }
}
