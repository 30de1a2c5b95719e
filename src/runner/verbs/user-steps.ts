/** The end user and the bot: what happens in the chat window. */

import { makeToken } from '../../evaluator/tokens/token.ts'
import { botSays } from '../../platform/bot.ts'
import { andThen, type Maybe } from '../../platform/engines.ts'
import type { NewFile } from '../../platform/files.ts'
import type { Chat } from '../../platform/state.ts'
import { createTx } from '../../platform/transaction.ts'
import type { UserOutcome } from '../../platform/user.ts'
import { seedOfPlay } from '../play/run-context.ts'
import { fileFrom } from './attachment.ts'
import { awaitAnswer } from './await-ack.ts'
import { type ActionContext, type Details, type Play, type StepContext, StepProblem } from './step-context.ts'

export const user: Play<'user'> = async turn => {
  const { context, step, action } = turn
  const chat = chatOf(turn)
  const said = String(context.fill(step, action.text) ?? '')
  const token =
    context.plan.tokens && said !== '' ? makeToken(`${seedOfPlay(context.seed, context)} ${step.number}`) : null
  const attach = await Promise.all(action.attach.map(file => fileFrom(context.fill(step, file), context.plan.file)))
  const details = token === null ? {} : { token }
  return act(turn, details, () =>
    context.core.user.says(chat.id, { text: said + (token ?? ''), attach: attach as NewFile[] }),
  )
}

export const press: Play<'press'> = turn => {
  const { context, step, action } = turn
  const chat = chatOf(turn)
  return act(turn, {}, () => context.core.user.press(chat.id, String(context.fill(step, action.button))))
}

export const bot: Play<'bot'> = ({ context, step, action, startSeq }) => {
  const chat = chatOf({ context, step })
  const tx = createTx()
  const text = String(context.fill(step, action.text))
  const buttons = context.fill(step, action.buttons) as typeof action.buttons
  if (chat.status === 'agent') throw new StepProblem('The bot is silent while an agent has the chat.')
  botSays(context.core.room, chat, text, buttons, tx)
  context.core.commitEffects(tx.effects, startSeq)
  return {}
}

function chatOf({ context, step }: Pick<StepContext, 'context' | 'step'>): Chat {
  const chat = context.chatOf(step)
  if (chat === null) throw new StepProblem(`There is no chat ${JSON.stringify(step.conversation)}.`)
  return chat
}

type Acting = ActionContext<'user'> | ActionContext<'press'>

async function act(turn: Acting, details: Details, start: () => Maybe<UserOutcome>): Promise<Details> {
  const { deliveryId } = await started(start)
  const done = { ...details, delivery_id: deliveryId }
  if (deliveryId === null || turn.action.async) return done
  await awaitAnswer(turn, deliveryId)
  return done
}

/** An unknown button, an empty message: the words are those of the control API. */
async function started(start: () => Maybe<UserOutcome>): Promise<UserOutcome> {
  try {
    return await andThen(start(), outcome => outcome)
  } catch (error) {
    throw new StepProblem((error as Error).message)
  }
}
