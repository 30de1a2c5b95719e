/** A plan that is made up as a test goes: a lane for each chat, a step for each thing the user did or the test wants. */

import type { Action } from '../scenario/action.ts'
import type { ConversationSpec, Plan, PlannedStep } from '../scenario/plan.ts'
import { isCheck, isStimulus } from '../scenario/plan.ts'
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

interface ActionContext {
  readonly opened: readonly number[]
  readonly checked: boolean
}

export function createIncrementalPlan(core: Core): IncrementalPlan {
  const conversations: ConversationSpec[] = []
  const steps: PlannedStep[] = []
  const turns = new Map<string, ActionContext>()
  const plan = { ...emptyPlan(core), conversations, steps }

  /** A run of what the user did, then a run of checks: a check looks from the first stimulus of its turn. */
  function turnAfter(conversation: string, number: number, stimulus: boolean, check: boolean): ActionContext {
    const before = turns.get(conversation) ?? { opened: [], checked: true }
    if (check) return { ...before, checked: true }
    return stimulus && before.checked ? { opened: [number], checked: false } : before
  }

  return {
    plan,
    addConversation: name => void conversations.push({ ...EMPTY_LANE, name }),
    addStep(conversation, action, label, id) {
      const number = steps.length + 1
      const draft: PlannedStep = { ...EMPTY_STEP, number, id: id ?? null, conversation, label, action }
      const turn = turnAfter(conversation, number, isStimulus(draft), isCheck(draft))
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
