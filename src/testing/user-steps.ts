/** The journal as a play: each thing the user did is a step, begun with its entry and ended with the event it caused. */

import { flow } from '../evaluator/matching/value-text.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { Chat } from '../platform/state.ts'
import type { Action } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEvent } from '../scenario/run-events.ts'
import type { Core } from '../simulator/core.ts'

export interface JournalToStepsPorts {
  readonly core: Core
  show(entry: Entry): void
  grow(conversation: string, action: Action, label: string, id?: string): PlannedStep
  addConversation(entry: Entry, chat: Chat): void
  conversationOf(chatId: string): string
}

/** Left there by a scenario that was played on this simulator before. */
const OF_A_PLAYER = [
  'scenario_started',
  'conversation',
  'step_started',
  'step_ended',
  'observed',
  'steps_done',
  'scenario_ended',
]

/** What `since` calls the step of a user's entry. */
export const stepIdOf = (seq: number): string => `#${seq}`

export function createJournalToSteps({ core, show, grow, addConversation, conversationOf }: JournalToStepsPorts) {
  /** Steps by the seq of the user's entry, then by the event's delivery id. */
  const byEntry = new Map<number, PlannedStep>()
  const byDelivery = new Map<string, PlannedStep>()

  function userActed(entry: EntryOf<'user'>): void {
    const step = grow(conversationOf(entry.chat_id), actionOf(entry), labelOf(entry), stepIdOf(entry.seq))
    byEntry.set(entry.seq, step)
    show(markAt(entry, { note: 'step_started', step: step.number, verb: step.action.verb, label: step.label }))
    show(entry)
    show(markAt(entry, { note: 'step_ended', step: step.number }))
  }

  function eventCame(entry: EntryOf<'event'>): void {
    show(entry)
    const step = byEntry.get(entry.cause ?? 0)
    if (step === undefined) return
    byDelivery.set(entry.delivery_id, step)
    show(markAt(entry, { note: 'step_ended', step: step.number, delivery_id: entry.delivery_id }))
  }

  /** Nobody could have answered what was not sent, or was spoilt on purpose. */
  function deliveryCame(entry: EntryOf<'delivery'>): void {
    show(entry)
    const step = byDelivery.get(entry.delivery_id)
    const excused = entry.outcome === 'skipped' || (entry.outcome === 'failed' && entry.faults !== undefined)
    if (step !== undefined && excused) show(markAt(entry, { note: 'step_ended', step: step.number }))
  }

  function noteCame(entry: EntryOf<'note'>): void {
    if (OF_A_PLAYER.includes(entry.note)) return
    const chat = entry.note === 'chat_created' ? core.platform.state.chats.get(entry.chat_id ?? '') : undefined
    if (chat !== undefined) addConversation(entry, chat)
    show(entry)
  }

  return {
    tell(entry: Entry): void {
      if (entry.kind === 'user') userActed(entry)
      else if (entry.kind === 'event') eventCame(entry)
      else if (entry.kind === 'delivery') deliveryCame(entry)
      else if (entry.kind === 'note') noteCame(entry)
      else show(entry)
    },
  }
}

const markAt = ({ seq, at_ms, time, chat_id }: Entry, content: RunEvent): Entry =>
  ({ kind: 'note', v: 1, seq: seq + 0.5, time, cause: null, at_ms, chat_id, ...content }) as unknown as Entry

const ANY_TIME = { ack: 200, async: true } as const

const actionOf = ({ action, text, button }: EntryOf<'user'>): Action =>
  action === 'press'
    ? { verb: 'press', button: button ?? '', ...ANY_TIME }
    : { verb: 'user', text: text ?? '', attach: [], ...ANY_TIME }

const labelOf = ({ action, text, button }: EntryOf<'user'>): string =>
  action === 'press' ? `press ${flow(button ?? '', 40)}` : `says ${flow(text ?? '', 40)}`
