/** The end user and the bot: what happens in the chat window. */
import { andThen, type Maybe } from '../../engines/engines.ts'
import { botSays } from '../../platform/bot.ts'
import type { NewFile } from '../../platform/files.ts'
import type { Chat } from '../../platform/state.ts'
import { createTx } from '../../platform/tx.ts'
import type { UserOutcome } from '../../platform/user.ts'
import { makeToken } from '../../scenario/tokens/token.ts'
import { seedOfPlay } from '../play/stage.ts'
import { awaitAnswer } from './answered.ts'
import { fileFrom } from './attachment.ts'
import { type Details, type Play, type Scene, StepProblem, type Turn } from './verb.ts'

export const user: Play<'user'> = async turn => {
  const { stage, step, action } = turn
  const chat = chatOf(turn)
  const said = String(stage.fill(step, action.text) ?? '')
  const token = stage.plan.tokens && said !== '' ? makeToken(`${seedOfPlay(stage.seed, stage)} ${step.number}`) : null
  const attach = await Promise.all(action.attach.map(file => fileFrom(stage.fill(step, file), stage.plan.file)))
  const details = token === null ? {} : { token }
  return act(turn, details, () =>
    stage.core.user.says(chat.id, { text: said + (token ?? ''), attach: attach as NewFile[] }),
  )
}

export const press: Play<'press'> = turn => {
  const { stage, step, action } = turn
  const chat = chatOf(turn)
  return act(turn, {}, () => stage.core.user.press(chat.id, String(stage.fill(step, action.button))))
}

export const bot: Play<'bot'> = ({ stage, step, action, startSeq }) => {
  const chat = chatOf({ stage, step })
  const tx = createTx()
  const text = String(stage.fill(step, action.text))
  const buttons = stage.fill(step, action.buttons) as typeof action.buttons
  if (chat.status === 'agent') throw new StepProblem('The bot is silent while an agent has the chat.')
  botSays(stage.core.room, chat, text, buttons, tx)
  stage.core.commitEffects(tx.effects, startSeq)
  return {}
}

function chatOf({ stage, step }: Pick<Scene, 'stage' | 'step'>): Chat {
  const chat = stage.chatOf(step)
  if (chat === null) throw new StepProblem(`There is no chat ${JSON.stringify(step.lane)}.`)
  return chat
}

type Acting = Turn<'user'> | Turn<'press'>

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
