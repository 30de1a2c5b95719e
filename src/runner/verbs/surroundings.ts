/** Time, availability, faults, events by hand, and a word for the reader. */
import { WEBHOOK_EVENTS, type WebhookEventName } from '../../contract/events.ts'
import type { FaultSpec } from '../../faults/spec.ts'
import type { EntryOf } from '../../journal/entry.ts'
import { payloadOf } from '../../platform/events.ts'
import { wallDelay } from '../../runtime/clock.ts'
import type { MarkOf } from '../../scenario/marks.ts'
import { stepsOf } from '../../scenario/plan.ts'
import { advanceVirtual } from '../../simulator/time.ts'
import { findDelivery } from '../../webhooks/by-hand.ts'
import type { Stage } from '../play/stage.ts'
import { Cut, orCut } from '../play/waiting.ts'
import { awaitAnswer } from './answered.ts'
import { type Play, StepProblem, type Turn } from './verb.ts'

export const wait: Play<'wait'> = async ({ stage, action, signal }) => {
  const { core } = stage
  if (core.clock.mode === 'virtual') await orCut(advanceVirtual(core, action.ms), signal)
  else await wallDelay(action.ms, signal)
  if (signal.aborted) throw new Cut()
  return {}
}

export const availability: Play<'availability'> = ({ stage, action }) => {
  const reason = action.reason === undefined ? {} : { reason: action.reason }
  stage.sim.setAvailability({ availability: action.value, ...reason })
  return {}
}

export const fault: Play<'fault'> = ({ stage, step, action }) => {
  const { faults } = stage.sim
  const spec = stage.fill(step, action.fault) as FaultSpec | { readonly clear: string | true }
  try {
    if ('clear' in spec) spec.clear === true ? faults.clear() : faults.clear(spec.clear)
    else faults.add({ ...ofLane(stage, step.lane, spec), ...spec })
    return {}
  } catch (error) {
    throw new StepProblem((error as Error).message)
  }
}

/** With several chats a fault is about the one its step speaks of; availability has no chat. */
function ofLane({ plan, lanes }: Stage, lane: string, spec: FaultSpec): { chat_id?: string } {
  const chat = lanes.get(lane)
  const noChat = typeof spec.on === 'object' && 'api' in spec.on && [spec.on.api].flat().includes('availability')
  return plan.lanes.length < 2 || chat === undefined || noChat ? {} : { chat_id: chat.id }
}

export const log: Play<'log'> = ({ stage, step, action }) => {
  stage.note({ note: 'log', text: String(stage.fill(step, action.text)) }, stage.chatOf(step)?.id)
  return {}
}

export const deliver: Play<'deliver'> = async turn => {
  const { replay: earlier, async } = turn.action
  const delivery_id = earlier === null ? trigger(turn) : replay(turn, earlier)
  if (!async) await awaitAnswer(turn, delivery_id)
  return { delivery_id }
}

/** The id of what is on its way. */
function trigger({ stage, step, action }: Turn<'deliver'>): string {
  const { core } = stage
  const event = String(stage.fill(step, action.event))
  const body = (stage.fill(step, action.body) ?? {}) as Record<string, unknown>
  const chat = stage.chatOf(step)
  const known = Object.hasOwn(WEBHOOK_EVENTS, event) && chat !== null
  const payload = known ? { ...payloadOf(core.room, chat, event as WebhookEventName), ...body } : { event, ...body }
  void core.byHand.trigger({ chatId: chat?.id, event, payload, sign: action.sign })
  const notes = core.journal.query({ kind: 'note' }) as EntryOf<'note'>[]
  return String(notes.findLast(({ note }) => note === 'event_triggered')!.delivery_id)
}

/** The bytes an earlier step sent, again. */
function replay({ stage }: Turn<'deliver'>, id: string): string {
  const steps = [...stepsOf([...stage.plan.steps, ...stage.plan.finally])]
  const earlier = steps.find(step => step.id === id)
  const marks = stage.core.journal.query({ kind: 'note' }) as MarkOf<'step_ended'>[]
  const ended = marks.findLast(mark => mark.note === 'step_ended' && mark.step === earlier?.number)
  const past = ended?.delivery_id == null ? undefined : findDelivery(stage.core.journal, ended.delivery_id)
  if (past === undefined) throw new StepProblem(`Step ${JSON.stringify(id)} sent no event that could be sent again.`)
  void stage.core.byHand.resend(past, false)
  return past.delivery_id
}
