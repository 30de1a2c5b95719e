/** Reads a journal for calls that work and are likely to cause trouble. Each rule is a heading of docs/lint.md. */
import { ALIASES } from '../contract/endpoints.ts'
import type { Entry, EntryOf, FaultEffect } from '../journal/entry.ts'
import { type Plan, stepsOf } from '../scenario/plan.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import {
  callBeforeAck,
  chatNeverEnded,
  messageAfterEnd,
  startTwice,
  transcriptPolling,
  typingNeverStopped,
} from './chat-rules.ts'
import { FINDING_RULES } from './findings.ts'
import { type History, historyOf, type LinterRule, type LintFinding } from './rule.ts'
import { secretExposed } from './secrets.ts'

/** Reports once that a run uses both names of the API. */
const aliasMixed: LinterRule = {
  id: 'alias-mixed',
  find({ calls }) {
    const [handoverSeqs = [], takeoverSeqs = []] = ALIASES.map(alias =>
      calls.filter(call => call.alias === alias).map(({ seq }) => seq),
    )
    const [first] = handoverSeqs
    const [other] = takeoverSeqs
    if (first === undefined || other === undefined) return []
    return [
      { rule: 'alias-mixed', details: { handoverSeqs, takeoverSeqs }, conversation: null, entrySeqs: [first, other] },
    ]
  },
}

/** Reports faults that nothing was applied to; only when every step ended, because later calls may use a fault. */
const faultUnused: LinterRule = {
  id: 'fault-unused',
  find(history) {
    if (!isComplete(history)) return []
    const faults = history.entries.filter(isFaultSet)
    return faults
      .filter(fault => !isUsed(history.entries, fault, faults))
      .map(({ fault, effect, seq, chat_id }): LintFinding<'fault-unused'> => {
        const conversation = history.conversationOf(chat_id)
        return { rule: 'fault-unused', details: { fault, effect, seq }, conversation, entrySeqs: [seq] }
      })
  },
}

type FaultSet = EntryOf<'note'> & { readonly fault: string; readonly effect: FaultEffect }

const isFaultSet = (entry: Entry): entry is FaultSet => entry.kind === 'note' && entry.note === 'fault_set'

function isComplete({ plan, entries }: History): boolean {
  const ended = new Set(entries.filter(entry => isRunEvent(entry, 'step_ended')).map(({ step }) => step))
  const steps = [...stepsOf([...plan.steps, ...plan.finally])]
  return steps.length > 0 && steps.every(({ number }) => ended.has(number))
}

/** Counts only until a fault of the same name is set, which is possible after the first is cleared. */
function isUsed(entries: readonly Entry[], { fault, seq }: FaultSet, faults: readonly FaultSet[]): boolean {
  const until = faults.find(other => other.fault === fault && other.seq > seq)?.seq ?? Number.POSITIVE_INFINITY
  return entries.some(one => one.kind === 'fault' && one.fault === fault && one.seq > seq && one.seq < until)
}

export const RULES: readonly LinterRule[] = [
  messageAfterEnd,
  startTwice,
  typingNeverStopped,
  chatNeverEnded,
  callBeforeAck,
  transcriptPolling,
  secretExposed,
  aliasMixed,
  faultUnused,
  ...FINDING_RULES,
]

/** All findings, ordered by the last entry that each is about. */
export function lint(plan: Plan, entries: readonly Entry[]): LintFinding[] {
  const history = historyOf(plan, entries)
  const found = RULES.flatMap(rule => rule.find(history))
  return found.sort((a, b) => (a.entrySeqs.at(-1) ?? 0) - (b.entrySeqs.at(-1) ?? 0))
}
