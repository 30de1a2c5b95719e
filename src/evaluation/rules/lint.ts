/** Reads a journal for calls that work and are likely to cause trouble. Each rule is a heading of docs/reference/lint.md. */
import type { Finding } from '../finding.ts'
import type { History } from '../history.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import { RULES } from './index.ts'
import { type Facts, isProof, type JudgedPlan, judge, toFinding } from './rule.ts'

/** All findings, ordered by the last entry that each is about. */
export function lint(plan: JudgedPlan, history: History): Finding[] {
  const findings: Finding[] = []
  for (const { rule, observation, chatId } of judge(RULES, history, factsOf(plan, history)))
    if (!isProof(observation)) findings.push(toFinding(rule, observation, history.conversationOf(chatId)))
  return findings.sort((a, b) => (a.entrySeqs.at(-1) ?? 0) - (b.entrySeqs.at(-1) ?? 0))
}

function factsOf(plan: JudgedPlan, { entries }: History): Facts {
  // The effective knob `typing.clearOn`, which the scenario or the run sets.
  const { config } = entries.find(entry => isRunEvent(entry, 'scenario_started')) ?? plan
  const clearOn = config['typing.clearOn']
  const clearing = Array.isArray(clearOn) ? clearOn : typeof clearOn === 'string' ? clearOn.split(',') : ['end']
  const typingEnds = ['typing_stop', ...clearing.map(String)]
  return { plan, nowMs: null, effectMs: 0, typingMs: 0, typingEnds, hasAnswered: true, inbox: null }
}
