/** Replaces `time-limit.ts` in browsers, which cannot interrupt synchronous work. */

/** Never thrown in a browser. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/** Runs `work` without a limit. */
export const runWithin = <Value>(_limitMs: number, work: () => Value): Value => work()
