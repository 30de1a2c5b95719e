/**
 * What a careful reader of a journal would mention: calls that work, and still will hurt one day. Each rule is a
 * heading of docs/lint.md.
 */

import type { Entry } from '../journal/entry.ts'
import type { Plan } from '../scenario/plan.ts'
import { callBeforeAck } from './before-ack.ts'
import { chatNeverEnded, typingNeverStopped } from './endings.ts'
import { faultNeverStruck } from './faults.ts'
import { FINDING_RULES } from './findings.ts'
import { aliasMixed } from './paths.ts'
import { transcriptPolling } from './polling.ts'
import { historyOf, type LintFinding, type Rule } from './rule.ts'
import { secretExposed } from './secrets.ts'
import { messageAfterEnd, startTwice } from './takeover.ts'

export const RULES: readonly Rule[] = [
  messageAfterEnd,
  startTwice,
  typingNeverStopped,
  chatNeverEnded,
  callBeforeAck,
  transcriptPolling,
  secretExposed,
  aliasMixed,
  faultNeverStruck,
  ...FINDING_RULES,
]

/** In the order of what happened. */
export function lint(plan: Plan, entries: readonly Entry[]): LintFinding[] {
  const history = historyOf(plan, entries)
  const found = RULES.flatMap(rule => rule.find(history).map(one => ({ rule: rule.id, ...one })))
  return found.sort((a, b) => (a.marks.at(-1) ?? 0) - (b.marks.at(-1) ?? 0))
}
