/** Notices that the intermediary does not answer any more, so that a run ends with one reason and not with a failure of every check. */
import type { DeliveryFailure, EntryOf } from '../journal/entry.ts'
import type { EarlyEnd } from '../journal/run-failures.ts'
import { probeTarget } from '../runner/suite.ts'
import type { CheckResult } from './check.ts'

export interface TargetWatch {
  /** Why the run must end; null when it goes on. */
  judge(result: CheckResult): Promise<EarlyEnd | null>
}

/** So many checks in a row, all without an answer to any event, mean that the intermediary does not answer. */
const SILENT_CHECKS = 4
/** For a program that is restarted by another one. */
const RETURN_MS = 3_000

export function createTargetWatch(target: URL, signal: AbortSignal): TargetWatch {
  let silent = 0
  return {
    async judge(result) {
      const attempts = attemptsOf(result)
      if (attempts.length === 0) return null
      if (attempts.some(({ status }) => status !== null)) silent = 0
      else silent++
      if (attempts.some(({ failure }) => isRefused(failure))) {
        const failure = await probeTarget(target, RETURN_MS, signal)
        if (failure !== null && !signal.aborted) return { code: 'target_gone', failure }
      }
      return silent >= SILENT_CHECKS ? { code: 'target_silent', checks: silent } : null
    },
  }
}

type Attempt = EntryOf<'delivery'>

const attemptsOf = ({ journal }: CheckResult): Attempt[] =>
  journal.filter((entry): entry is Attempt => entry.kind === 'delivery')

const isRefused = (failure: DeliveryFailure | undefined): boolean => failure?.code === 'connection_refused'

/** Removes findings that only say that nothing listened: no check has caused them. */
export function withoutAbsence(result: CheckResult): CheckResult {
  const attempts = attemptsOf(result)
  const isAbsent = attempts.length > 0 && attempts.every(({ failure }) => isRefused(failure))
  return isAbsent ? { ...result, findings: [], reason: { code: 'target_gone' }, outcome: 'inconclusive' } : result
}
