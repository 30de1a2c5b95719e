/** Defines the error for a snapshot that cannot be restored. */
import type { SettingProblem } from '../options.ts'

/** A snapshot cannot be restored. Nothing was changed. */
export class InvalidSnapshotError extends Error {
  override readonly name = 'InvalidSnapshotError'
  readonly problems: readonly SettingProblem[]
  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(problem => problem.message).join(' '))
    this.problems = problems
  }
}
