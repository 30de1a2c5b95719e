/** Judges all calls of a handover by the platform's contract, with the rules of the evaluator and the linter. */
import { formatKnobs } from '../contract/knobs.ts'
import { groupBy } from '../contract/objects.ts'
import { breaksContract, refusalOf } from '../evaluator/violations.ts'
import type { Entry } from '../journal/entry.ts'
import { lint } from '../linter/lint.ts'
import type { LintRule } from '../linter/rule.ts'
import type { ChatCall } from './chat.ts'
import type { CheckContext } from './context.ts'
import type { FindingLevel } from './findings/index.ts'

export function judgeCalls(check: CheckContext, entries: readonly Entry[]): void {
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
    return JSON.stringify([call.endpoint ?? call.path, call.status, error, field])
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
  for (const finding of lint(plan, entries)) {
    const level = LEVELS[finding.rule]
    if (level !== undefined)
      check.report(
        level,
        'lint',
        finding,
        finding.entrySeqs.map(seq => ({ seq })),
      )
  }
}

function reportPaths(check: CheckContext, form: 'takeover' | 'slash', calls: readonly ChatCall[]): void {
  const [first] = calls
  if (first !== undefined) check.report('INFO', 'path-form', { form, path: first.path, calls: calls.length }, calls)
}
