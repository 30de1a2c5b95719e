/** The intermediary cannot be started, in words a user can act on. */
export class TargetProblem extends Error {
  override readonly name = 'TargetProblem'
}
