/** Reads which events reached the intermediary, and notices that it does not answer any more, so that a run ends with one reason and not with a failure of every check. */
import type { EntryOf } from '../../platform/journal/entry.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { probeTarget } from '../runner/probe-target.ts'
import type { CheckResult } from './check.ts'

export type EventAttempt = EntryOf<'delivery'>

export const attemptsOf = ({ journal }: CheckResult): EventAttempt[] =>
  journal.filter((entry): entry is EventAttempt => entry.kind === 'delivery')

export const isRefused = ({ failure }: EventAttempt): boolean => failure?.code === 'connection_refused'

/** Whether the connection was refused, or broke. */
export const isLost = ({ status, failure }: EventAttempt): boolean => status === null && failure?.code !== 'timeout'

export interface TargetWatch {
  /** Why the run must end; null when it goes on. */
  endAfter(result: CheckResult): Promise<EarlyEnd | null>
}

/** So many checks in a row, all without an answer to any event, mean that the intermediary does not answer. */
const SILENT_CHECKS = 4
/** For a program that is restarted by another one. */
const RETURN_MS = 3_000

export function createTargetWatch(target: URL, signal: AbortSignal): TargetWatch {
  let silent = 0
  return {
    async endAfter(result) {
      const attempts = attemptsOf(result)
      if (attempts.length === 0) return null
      if (attempts.some(({ status }) => status !== null)) silent = 0
      else silent++
      if (attempts.some(isRefused)) {
        const failure = await probeTarget(target, RETURN_MS, signal)
        if (failure !== null && !signal.aborted) return { code: 'target_unreachable', failure }
      }
      return silent >= SILENT_CHECKS ? { code: 'target_silent', checks: silent } : null
    },
  }
}

/** Removes findings that only say that nothing listened: no check has caused them. */
export function withoutAbsence(result: CheckResult): CheckResult {
  const attempts = attemptsOf(result)
  const isAbsent = attempts.length > 0 && attempts.every(isRefused)
  return isAbsent
    ? { ...result, findings: [], reason: { code: 'target_unreachable' }, outcome: 'inconclusive' }
    : result
}

/** Adds the checks that ran when it ended: their first events reached it, and later ones did not. */
export function withChecks(end: EarlyEnd, results: readonly CheckResult[]): EarlyEnd {
  if (end.code !== 'target_unreachable') return end
  const during = results.filter(isInterrupted).map(({ check }) => check.id)
  return during.length === 0 ? end : { ...end, during }
}

function isInterrupted(result: CheckResult): boolean {
  const attempts = attemptsOf(result)
  if (attempts.every(isRefused)) return false
  return attempts.some(isRefused) || attempts.slice(-1).some(isLost) || result.reason?.code === 'stopped'
}
