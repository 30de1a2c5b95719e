/** Finds what failures of several scenarios have in common, and failures that differ only in entries, times and texts. */
import { groupBy } from '../../base/objects.ts'
import type { Cause, Failure } from '../finding.ts'
import type { ScenarioResult, SharedCause } from './verdict.ts'

/** What varies when the same mistake is repeated. Codes, calls, fields and statuses stay. */
const VARYING: ReadonlySet<string> = new Set([
  ...['seq', 'seqs', 'positions', 'count', 'after', 'afterMs', 'gapMs', 'lateMs', 'withinMs'],
  ...['step', 'text', 'body', 'item', 'check', 'from', 'to', 'message', 'answer', 'expected', 'received', 'hint'],
])

/** Equal for failures that differ only in entries, times, chats and texts. */
export function groupOf({ kind, step, soft, code, details, hintCode }: Failure): string {
  const place = step === null ? null : [step.place, step.place === null && step.number]
  const group = [kind, place, soft, code, details, hintCode]
  return JSON.stringify(group, (key, value: unknown) => (VARYING.has(key) ? null : value))
}

/** Facts that may vary for the same cause; failures keep their codes. */
const VARYING_FACTS: ReadonlySet<string> = new Set(['message', 'detail', 'body', 'output', 'place', 'answer'])

/** The cause of the first failure, which is most likely that of the others; null where scenarios cannot share it. */
function causeOf({ outcome, failures: [first], reason }: ScenarioResult): Cause | null {
  if (outcome === 'pass') return null
  return (first === undefined ? reason?.cause : first.cause) ?? null
}

const keyOf = ({ code, facts }: Cause): string =>
  JSON.stringify([code, facts], (name, value: unknown) => (VARYING_FACTS.has(name) ? null : value))

/** Why a scenario did not pass; null where others cannot have the same cause. Causes with the same key are the same. */
export function describeCause(result: ScenarioResult): { readonly key: string; readonly text: string } | null {
  const cause = causeOf(result)
  return cause === null ? null : { key: keyOf(cause), text: cause.text }
}

/** The causes that more than one scenario has, the most frequent first. */
export function sharedCauses(scenarios: readonly ScenarioResult[]): SharedCause[] {
  const all = scenarios.flatMap((scenario, index) => {
    const cause = causeOf(scenario)
    return cause === null ? [] : [{ ...cause, index, first: scenario.failures[0] }]
  })
  const shared: SharedCause[] = []
  for (const group of [...groupBy(all, keyOf).values()].sort((a, b) => b.length - a.length)) {
    if (group.length === 1) continue
    const [{ code, text, first }] = group
    const isSame = first?.hint !== undefined && group.every(scenario => scenario.first?.hintCode === first.hintCode)
    const hint = isSame ? { hint: first.hint } : {}
    shared.push({ code, text, ...hint, scenarios: group.map(({ index }) => index) })
  }
  return shared
}
