/** Runs steps that change the environment: time, availability, faults, manual events and notes. */
import { WEBHOOK_EVENTS, type WebhookEventName } from '../contract/events.ts'
import type { FaultSpec } from '../faults/schema.ts'
import { payloadOf } from '../platform/events.ts'
import { wallDelay } from '../runtime/clock.ts'
import { stepsOf } from '../scenario/plan.ts'
import { advanceVirtual } from '../simulator/core.ts'
import { findPastDelivery } from '../webhooks/manual.ts'
import { awaitAck } from './await-ack.ts'
import type { RunContext } from './run-context.ts'
import { type ActionContext, StepError, type StepHandler, stepEvent } from './step-context.ts'
import { InterruptedError, rejectOnAbort } from './waiting.ts'

export const runWaitStep: StepHandler<'wait'> = async ({ context, action, signal }) => {
  const { core } = context
  if (core.clock.mode === 'virtual') await rejectOnAbort(advanceVirtual(core, action.ms), signal)
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
  const { faults } = context.sim
  const spec = context.interpolate(step, action.fault) as FaultSpec | { readonly clear: string | true }
  try {
    if ('clear' in spec) spec.clear === true ? faults.clear() : faults.clear(spec.clear)
    else faults.add({ ...ofConversation(context, step.conversation, spec), ...spec })
    return {}
  } catch (error) {
    throw new StepError({ code: 'not_accepted', detail: error instanceof Error ? error.message : String(error) })
  }
}

/** Limits a fault to the chat of its step when there are several. Availability has no chat. */
function ofConversation(
  { plan, conversations }: RunContext,
  conversation: string,
  spec: FaultSpec,
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
  void core.manualEvents.trigger({ chatId: chat?.id, event, payload, sign: action.sign })
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
  void context.core.manualEvents.resend(past, false)
  return past.delivery_id
}
