/** Turns each user action in the journal into a step, which begins with its entry and ends with the event it caused. */

import type { Entry, EntryOf } from '../journal/entry.ts'
import type { Chat } from '../platform/state.ts'
import type { Action } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEvent } from '../scenario/run-events.ts'
import { flow } from '../scenario/value-text.ts'
import type { Core } from '../simulator/core.ts'

export interface UserStepPorts {
  readonly core: Core
  /** Passes an entry to the evaluator. */
  evaluate(entry: Entry): void
  addStep(conversation: string, action: Action, label: string, id?: string): PlannedStep
  addConversation(entry: Entry, chat: Chat): void
  conversationOf(chatId: string): string
}

/** Notes of a scenario that ran on this simulator before. */
const RUN_EVENTS: readonly string[] = [
  'scenario_started',
  'conversation',
  'step_started',
  'step_ended',
  'observed',
  'steps_done',
  'scenario_ended',
] satisfies RunEvent['note'][]

/** The step id of a user's entry, which `since` refers to. */
export const stepIdOf = (seq: number): string => `#${seq}`

/** Returns a function that takes every entry of the journal, in order. */
export function createUserSteps(ports: UserStepPorts): (entry: Entry) => void {
  const { core, evaluate } = ports
  const stepByEntry = new Map<number, PlannedStep>()
  const stepByDelivery = new Map<string, PlannedStep>()

  function endStep(entry: Entry, { number }: PlannedStep, details: { readonly delivery_id?: string } = {}): void {
    evaluate(noteAfter(entry, { note: 'step_ended', step: number, ...details }))
  }

  function onUser(entry: EntryOf<'user'>): void {
    const { chat_id, seq } = entry
    const step = ports.addStep(ports.conversationOf(chat_id), actionOf(entry), labelOf(entry), stepIdOf(seq))
    stepByEntry.set(seq, step)
    evaluate(noteAfter(entry, { note: 'step_started', step: step.number, verb: step.action.verb, label: step.label }))
    evaluate(entry)
    endStep(entry, step)
  }

  function onEvent(entry: EntryOf<'event'>): void {
    evaluate(entry)
    const step = stepByEntry.get(entry.cause ?? 0)
    if (step === undefined) return
    stepByDelivery.set(entry.delivery_id, step)
    endStep(entry, step, { delivery_id: entry.delivery_id })
  }

  /** Ends the step without an event if the event was not sent, or was changed by a fault: it needs no answer. */
  function onDelivery(entry: EntryOf<'delivery'>): void {
    evaluate(entry)
    const step = stepByDelivery.get(entry.delivery_id)
    const needsNoAnswer = entry.outcome === 'skipped' || (entry.outcome === 'failed' && entry.faults !== undefined)
    if (step !== undefined && needsNoAnswer) endStep(entry, step)
  }

  function onNote(entry: EntryOf<'note'>): void {
    if (RUN_EVENTS.includes(entry.note)) return
    const chat = entry.note === 'chat_created' ? core.platform.state.chats.get(entry.chat_id ?? '') : undefined
    if (chat !== undefined) ports.addConversation(entry, chat)
    evaluate(entry)
  }

  return entry => {
    if (entry.kind === 'user') onUser(entry)
    else if (entry.kind === 'event') onEvent(entry)
    else if (entry.kind === 'delivery') onDelivery(entry)
    else if (entry.kind === 'note') onNote(entry)
    else evaluate(entry)
  }
}

type Position = Pick<Entry, 'seq' | 'time' | 'at_ms'>

/** Creates a note that is not in the journal itself. */
export const noteEntry = (content: RunEvent & { readonly chat_id?: string }, position: Position): EntryOf<'note'> => {
  const { seq, time, at_ms } = position
  return { kind: 'note', v: 1, seq, time, cause: null, at_ms, ...content }
}

/** Creates a note with a `seq` between the entry and the next one, so that the two cannot be mixed up. */
const noteAfter = ({ seq, at_ms, time, chat_id }: Entry, content: RunEvent): EntryOf<'note'> =>
  noteEntry({ ...(chat_id === undefined ? {} : { chat_id }), ...content }, { seq: seq + 0.5, at_ms, time })

const ANY_ACK = { ack: 200, async: true } as const

const actionOf = ({ action, text, button }: EntryOf<'user'>): Action =>
  action === 'press'
    ? { verb: 'press', button: button ?? '', ...ANY_ACK }
    : { verb: 'user', text: text ?? '', attach: [], ...ANY_ACK }

const labelOf = ({ action, text, button }: EntryOf<'user'>): string =>
  action === 'press' ? `press ${flow(button ?? '', 40)}` : `says ${flow(text ?? '', 40)}`
