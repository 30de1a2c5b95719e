/** Checks all calls of a handover by the platform's contract, with the rules of the evaluator and the linter. */

import { groupBy } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { breaksContract, refusalOf } from '../../evaluation/evaluator/unclaimed-calls.ts'
import { lint } from '../../evaluation/linter/lint.ts'
import type { LintRule } from '../../evaluation/linter/rule.ts'
import { findingText } from '../../evaluation/linter/texts.ts'
import { formatKnobs } from '../../platform/contract/knobs.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { reportRefusedCalls } from './chat.ts'
import type { ChatCall, CheckContext } from './context.ts'
import type { FindingLevel } from './finding.ts'

/** The other rules are about the order of calls, which other checks observe. */
const LINT_LEVELS: { readonly [Rule in LintRule]?: FindingLevel } = {
  'content-type': 'MUST',
  'unknown-fields': 'SHOULD',
  'secret-exposed': 'SHOULD',
}

/** Reports the same mistake once. */
export function checkCalls(check: CheckContext, entries: readonly Entry[]): void {
  const calls = entries.filter(entry => entry.kind === 'api')
  const refused = groupBy(calls.filter(breaksContract), call => {
    const { error, field } = refusalOf(call)
    return JSON.stringify([call.status, error, field])
  })
  for (const same of refused.values()) reportRefusedCalls(check, same)

  const plan = { config: formatKnobs(check.core.knobs), steps: [], finally: [] }
  const mistakes = groupBy(lint(plan, entries), ({ rule, details }) => {
    if ('finding' in details) return JSON.stringify([rule, details.finding])
    return JSON.stringify('secret' in details ? [rule, details.secret, details.place] : [rule])
  })
  for (const same of mistakes.values()) {
    const [finding] = same
    const level = LINT_LEVELS[finding.rule]
    if (level === undefined) continue
    const seqs = same.flatMap(({ entrySeqs }) => entrySeqs)
    const more = seqs.length - finding.entrySeqs.length
    const others = more === 0 ? '' : ` So ${more === 1 ? 'is' : 'are'} ${counted(more, 'more call')}.`
    check.report(level, 'lint', {
      happened: `${findingText(finding)}${others}`,
      hint: `The rule and the fix are described in docs/lint.md#${finding.rule}.`,
      details: { finding, more },
      entries: seqs.map(seq => ({ seq })),
    })
  }
  const former = calls.filter(({ alias }) => alias === 'takeover')
  reportPaths(check, 'takeover', 'former name takeover', former)
  const otherSlash = calls.filter(({ unspecified }) => 'api.trailingSlash' in unspecified)
  reportPaths(check, 'slash', 'other form of the slash at the end', otherSlash)
}

function reportPaths(check: CheckContext, form: string, name: string, calls: readonly ChatCall[]): void {
  const [first] = calls
  if (first === undefined) return
  check.report('INFO', 'path-form', {
    happened: `${counted(calls.length, 'call')} used the ${name}, such as ${first.path}. The documented form is api/v2/handover/, with a slash at the end only of message/.`,
    hint: 'Nothing must be changed: both forms are accepted. Build all paths from one base if the calls use several forms.',
    details: { form, path: first.path, calls: calls.length },
    entries: calls,
  })
}
