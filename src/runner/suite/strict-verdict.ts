/** What `--strict` makes of a verdict. */
import type { Failure, Verdict } from '../../evaluator/verdict.ts'
import type { LintFinding } from '../../linter/rule.ts'

/** With `--strict` a warning is a failure. */
export function applyStrict({ strict }: { readonly strict: boolean }, verdict: Verdict): Verdict {
  if (!strict || verdict.warnings.length === 0) return verdict
  const failures = [...verdict.failures, ...verdict.warnings.map(asFailure)]
  return { ...verdict, failures, outcome: verdict.outcome === 'error' ? 'error' : 'fail' }
}

const asFailure = ({ rule, message, conversation, marks }: LintFinding): Failure => ({
  kind: 'lint',
  step: null,
  conversation,
  wanted: `no warning ${rule}, because of --strict`,
  happened: message,
  rules: [],
  nearest: [],
  marks,
  soft: false,
})
