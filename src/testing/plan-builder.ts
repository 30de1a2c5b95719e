/** A plan that is made up as a test goes: a lane for each chat, a step for each thing the user did or the test wants. */

import type { Action } from '../scenario/action.ts'
import { FIRST_TURN, type Turn, turnAfter } from '../scenario/compile/turns.ts'
import type { ConversationSpec, Plan, PlannedStep } from '../scenario/plan.ts'
import type { Core } from '../simulator/core.ts'
import { effectiveConfig } from '../simulator/settings.ts'
import { formatDuration } from '../text/duration.ts'

export type Allowed = Plan['strict']['allow']

/** Reading does no harm: it is not asked for a reason. */
const READS: Allowed = ['transcript', 'summarize', 'chat']

export interface IncrementalPlan {
  readonly plan: Plan
  addConversation(name: string): void
  /** The next step of a lane; of no chat when it is empty. `id`: what `since` may name. */
  addStep(conversation: string, action: Action, label: string, id?: string): PlannedStep
  /** By what `since` may name. */
  hasStep(id: string): boolean
  /** Calls that need no expectation, beside those that only read. */
  allow(calls: Allowed): void
}

/** As scenarios have it; in between test runners give up after 5s, and then nobody reads why. */
export const WAIT_MS = 2_000
const ACK_MS = 10_000

export function createIncrementalPlan(core: Core): IncrementalPlan {
  const conversations: ConversationSpec[] = []
  const steps: PlannedStep[] = []
  const turns = new Map<string, Turn>()
  const plan = { ...emptyPlan(core), conversations, steps }

  return {
    plan,
    addConversation: name => void conversations.push({ ...EMPTY_LANE, name }),
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
      plan.strict = { ...plan.strict, allow: [...READS, ...calls] }
    },
  }
}

const EMPTY_LANE: ConversationSpec = {
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

/** Soft: a test that goes on after a failure is still judged. */
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
  timeouts: { ackMs: ACK_MS, expectMs: WAIT_MS, settleMs: 0, scenarioMs: Number.POSITIVE_INFINITY },
  strict: { unexpected: 'fail', contract: 'fail', allow: READS },
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

/** For labels: `2s`. */
export const shownMs = formatDuration
