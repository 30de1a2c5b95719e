/** Checks all calls of a handover by the platform's contract, with the rules of the evaluator and the linter. */

import { groupBy } from '../../base/objects.ts'
import { breaksContract, refusalOf } from '../../evaluation/evaluator/violations.ts'
import { lint } from '../../evaluation/linter/lint.ts'
import type { LintFinding, LintRule } from '../../evaluation/linter/rule.ts'
import { formatKnobs } from '../../platform/contract/knobs.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { ChatCall } from './chat.ts'
import type { CheckContext } from './context.ts'
import type { FindingLevel } from './findings/index.ts'

export function checkCalls(check: CheckContext, entries: readonly Entry[]): void {
  const calls = entries.filter(entry => entry.kind === 'api')
  reportRefusals(check, calls)
  reportLint(check, entries)
  reportPaths(
    check,
    'takeover',
    calls.filter(({ alias }) => alias === 'takeover'),
  )
  reportPaths(
    check,
    'slash',
    calls.filter(({ unspecified }) => 'api.trailingSlash' in unspecified),
  )
}

/** The same mistake is reported once. */
function reportRefusals(check: CheckContext, calls: readonly ChatCall[]): void {
  const refused = groupBy(calls.filter(breaksContract), call => {
    const { error, field } = refusalOf(call)
    return JSON.stringify([call.status, error, field])
  })
  for (const same of refused.values()) {
    const [first] = same
    const { error, message } = refusalOf(first)
    const { method, path, status } = first
    check.report('MUST', 'call-refused', { method, path, status, error, message, calls: same.length }, same)
  }
}

/** The other rules are about the order of calls, which other checks observe. */
const LEVELS: { readonly [Rule in LintRule]?: FindingLevel } = {
  'content-type': 'MUST',
  'unknown-fields': 'SHOULD',
  'secret-exposed': 'SHOULD',
}

function reportLint(check: CheckContext, entries: readonly Entry[]): void {
  const plan = { config: formatKnobs(check.core.knobs), steps: [], finally: [] }
  for (const same of groupBy(lint(plan, entries), mistakeOf).values()) {
    const [first] = same
    const level = LEVELS[first.rule]
    const seqs = same.flatMap(({ entrySeqs }) => entrySeqs)
    const details = { finding: first, more: seqs.length - first.entrySeqs.length }
    if (level !== undefined)
      check.report(
        level,
        'lint',
        details,
        seqs.map(seq => ({ seq })),
      )
  }
}

/** The same mistake of several calls is one finding. */
function mistakeOf({ rule, details }: LintFinding): string {
  if ('finding' in details) return JSON.stringify([rule, details.finding])
  return JSON.stringify('secret' in details ? [rule, details.secret, details.place] : [rule])
}

function reportPaths(check: CheckContext, form: 'takeover' | 'slash', calls: readonly ChatCall[]): void {
  const [first] = calls
  if (first !== undefined) check.report('INFO', 'path-form', { form, path: first.path, calls: calls.length }, calls)
}
