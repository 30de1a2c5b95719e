/** Builds the plan of a test step by step: a conversation for each chat, a step for each user action and expectation. */

import type { Entry, EntryOf } from '../journal/entry.ts'
import type { Chat } from '../platform/state.ts'
import { FIRST_TURN, type Turn, turnAfter } from '../scenario/compile/turns.ts'
import type { Action, ConversationSpec, Plan, PlannedStep } from '../scenario/plan.ts'
import type { RunEvent } from '../scenario/run-events.ts'
import { flow } from '../scenario/value-text.ts'
import type { Core } from '../simulator/core.ts'
import { effectiveConfig } from '../simulator/settings.ts'

export type AllowedCalls = Plan['strict']['allow']

/** Calls that only read need no expectation. */
const READING_CALLS: AllowedCalls = ['transcript', 'summarize', 'chat']

export interface PlanBuilder {
  readonly plan: Plan
  addConversation(name: string): void
  /** Adds a step to a conversation; the empty name stands for the bot. `since` of an expectation can name the `id`. */
  addStep(conversation: string, action: Action, label: string, id?: string): PlannedStep
  hasStep(id: string): boolean
  /** Sets the calls that need no expectation, besides those that only read. */
  allow(calls: AllowedCalls): void
}

/** The default of `within`: shorter than the 5 s after which test runners give up without a reason. */
export const DEFAULT_WAIT_MS = 2_000
const ACK_MS = 10_000

export function createPlanBuilder(core: Core): PlanBuilder {
  const conversations: ConversationSpec[] = []
  const steps: PlannedStep[] = []
  const turns = new Map<string, Turn>()
  const plan = { ...emptyPlan(core), conversations, steps }

  return {
    plan,
    addConversation: name => void conversations.push({ ...EMPTY_CONVERSATION, name }),
    addStep(conversation, action, label, id) {
      const number = steps.length + 1
      const draft: PlannedStep = { ...EMPTY_STEP, number, id: id ?? null, conversation, label, action }
      const turn = turnAfter(draft, turns.get(conversation) ?? FIRST_TURN)
      turns.set(conversation, turn)
      const step = { ...draft, turn: turn.opened }
      steps.push(step)
      plan.count = number
      plan.mentionsAvailability ||= action.verb === 'expect' && conversation === ''
      return step
    },
    hasStep: id => steps.some(step => step.id === id),
    allow(calls) {
      plan.strict = { ...plan.strict, allow: [...READING_CALLS, ...calls] }
    },
  }
}

const EMPTY_CONVERSATION: ConversationSpec = {
  name: '',
  language: null,
  source: null,
  user: null,
  history: [],
  transcript: null,
  context: null,
  labels: null,
  scope: {},
}

/** Steps are soft, because a test that continues after a failure is still evaluated. */
const EMPTY_STEP = {
  kind: 'step',
  name: null,
  soft: true,
  place: null,
  scope: {},
  turn: [],
  readsInboxOf: [],
} as const

const emptyPlan = (core: Core): { -readonly [Key in keyof Plan]: Plan[Key] } => ({
  name: 'this test',
  file: '',
  place: null,
  tags: [],
  spec: [],
  seed: null,
  clock: null,
  timeouts: { ackMs: ACK_MS, expectMs: DEFAULT_WAIT_MS, settleMs: 0, scenarioMs: Number.POSITIVE_INFINITY },
  strict: { unexpected: 'fail', contract: 'fail', allow: READING_CALLS },
  config: { ...effectiveConfig(core), 'keys.handover': core.platform.knobs['keys.handover'] },
  bot: {},
  availability: null,
  businessHours: null,
  tokens: false,
  conversations: [],
  vars: {},
  matrix: {},
  never: [],
  steps: [],
  finally: [],
  count: 0,
  exclusive: null,
  needs: [],
  env: [],
  mentionsAvailability: false,
})

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
