/** Builds the plan of a test: a conversation for each chat, a step for each user action and expectation. */

import { FIRST_TURN, type Turn, turnAfter } from '../evaluation/scenario/compile/turns.ts'
import type { Action, ConversationSpec, Plan, PlannedStep } from '../evaluation/scenario/plan.ts'
import type { Core } from '../platform/simulator/core.ts'
import { effectiveConfig } from '../platform/simulator/settings.ts'

type AllowedCalls = Plan['strict']['allow']

/** Calls that only read need no expectation. */
const READING_CALLS: AllowedCalls = ['transcript', 'summarize', 'chat']

/** The default of `within`: shorter than the 5 s after which test runners give up without a reason. */
export const DEFAULT_WAIT_MS = 2_000
const ACK_MS = 10_000

export function createPlanBuilder(core: Core) {
  const conversations: ConversationSpec[] = []
  const steps: PlannedStep[] = []
  const turns = new Map<string, Turn>()
  const plan = { ...emptyPlan(core), conversations, steps }

  return {
    plan,
    addConversation: (name: string) => void conversations.push({ ...EMPTY_CONVERSATION, name }),
    /** Adds a step to a conversation; the empty name stands for the bot. `since` of an expectation can name the `id`. */
    addStep(conversation: string, action: Action, label: string, id?: string): PlannedStep {
      const number = plan.count + 1
      const draft: PlannedStep = { ...EMPTY_STEP, number, id: id ?? null, conversation, label, action }
      const turn = turnAfter(draft, turns.get(conversation) ?? FIRST_TURN)
      turns.set(conversation, turn)
      const step = { ...draft, turn: turn.opened }
      steps.push(step)
      plan.count = number
      plan.mentionsAvailability ||= action.verb === 'expect' && conversation === ''
      return step
    },
    /** Drops steps that an eviction has removed from the evaluation. */
    evict(numbers: readonly number[]) {
      const dropped = new Set(numbers)
      const rest = steps.filter(({ number }) => !dropped.has(number))
      steps.length = 0
      for (const step of rest) steps.push(step)
    },
    hasStep: (id: string) => steps.some(step => step.id === id),
    /** Sets the calls that need no expectation, besides those that only read. */
    allow(calls: AllowedCalls) {
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
  title: 'this test',
  description: null,
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
