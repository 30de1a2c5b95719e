/** `check`: how the chat has to be, as soon as one observation of it holds. */

import type { Check } from '../scenario/action.ts'
import { fill, Unfillable } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { counted } from '../text/counted.ts'
import { type MatchOptions, match } from './matching/match.ts'
import { flow } from './matching/value-text.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  MET,
  type StepEvaluator,
  until,
} from './step-evaluator.ts'
import { transcriptDifferences } from './transcript.ts'
import type { Difference } from './verdict.ts'
import { differenceText, inConversation } from './wording.ts'

type Observed = RunEventOf<'observed'>

export interface CheckEvaluator extends StepEvaluator {
  observe(mark: Observed): void
}

export function evaluateCheck(context: EvaluationContext, step: PlannedStep, written: Check): CheckEvaluator {
  const { index, options } = context
  const begun = index.begun(step.number)!.at_ms
  const untilMs = begun + index.plan.timeouts.expectMs
  let check: Check = written
  let last: Observed | null = null
  let differences: readonly Difference[] = []
  let decided: 'met' | 'failed' | null = null
  let broken: string | null = null

  try {
    check = fill(written, context.scopeOf(step.number)) as Check
  } catch (error) {
    if (!(error instanceof Unfillable)) throw error
    broken = error.message
    decided = 'failed'
  }

  function consider(): void {
    if (decided !== null || last === null) return
    differences = differencesIn(check, last, index.eventsOf(step.conversation), options)
    if (differences.length === 0) decided = 'met'
  }

  return {
    step,
    consider,
    observe(mark) {
      if (mark.at_ms > untilMs) return
      last = mark
      consider()
    },
    look: nowMs => {
      if (decided !== null) return decided === 'met' ? MET : FAILED
      return until(nowMs, untilMs, FAILED, differences[0] === undefined ? 'the chat' : differenceText(differences[0]))
    },
    close() {},
    failure(): FailureDetails {
      const many = index.plan.conversations.length > 1
      const wanted = `check ${flow(check, 120)}${inConversation(step.conversation, many)}`
      const common = { kind: 'check' as const, wanted, rules: rulesOf(check) }
      if (last === null) return { ...common, happened: broken ?? 'the chat was not looked at', nearest: [], marks: [] }
      const why = `${counted(differences.length, 'field')} differ${differences.length === 1 ? 's' : ''}`
      const what = 'the chat as it was last'
      const nearest = [{ seq: last.seq, what, afterMs: Math.round(last.at_ms - begun), why, differences }]
      return { ...common, happened: differences.map(differenceText).join('; '), nearest, marks: [last.seq] }
    },
  }
}

function differencesIn(
  { status, typing, availability, events, transcript }: Check,
  seen: Observed,
  counts: ReadonlyMap<string, number>,
  options: MatchOptions,
): Difference[] {
  const counted = events && Object.fromEntries(Object.keys(events).map(name => [name, counts.get(name) ?? 0]))
  const state = { status: seen.status, typing: seen.typing, availability: seen.availability, events: counted }
  return [
    ...match({ status, typing, availability, events }, state, options),
    ...(transcript === undefined ? [] : transcriptDifferences(transcript, seen.transcript ?? [], options)),
  ]
}

const RULES: Readonly<Record<keyof Check, string>> = {
  status: 'ST1',
  typing: 'E7',
  availability: 'ST5',
  events: 'EV',
  transcript: 'R-MSG',
}

const rulesOf = (check: Check): string[] =>
  (Object.keys(RULES) as (keyof Check)[]).filter(key => check[key] !== undefined).map(key => RULES[key])
