/** What a run comes to: counts and the exit code. */
import type { Failure, RunResult, ScenarioResult } from '../../evaluator/verdict.ts'

export function summed(plays: readonly ScenarioResult[], failures: readonly Failure[], strict = false) {
  const counts = { pass: 0, fail: 0, error: 0, inconclusive: 0, skipped: 0 }
  for (const { outcome } of plays) counts[outcome]++
  return { counts, exitCode: exitCodeOf(counts, failures.length, strict) }
}

/** 1 failed, 3 the surroundings, 4 nothing ran or nothing could be told, 0 passed. */
function exitCodeOf(
  { pass, fail, error, inconclusive }: RunResult['counts'],
  failures: number,
  strict: boolean,
): number {
  if (fail > 0 || failures > 0) return 1
  if (error > 0) return 3
  if (strict && inconclusive > 0) return 4
  return pass > 0 ? 0 : 4
}
