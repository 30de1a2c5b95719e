/** Defines the reason why a check could not observe something. */

import { formatDuration } from '../../base/text/quantities.ts'
import type { DeliveryFailure } from '../../platform/journal/entry.ts'
import type { DriverFailure, TargetFailure } from '../../platform/journal/run-failures.ts'
import { driverFailureText, failureText, targetFailureText } from '../../platform/wording/failures.ts'
import type { Capability } from './capabilities.ts'

/** Why a check could not be observed, or does not apply. */
export type CheckReason =
  | { readonly code: 'capability_missing'; readonly capability: Capability }
  | { readonly code: 'driver_missing' }
  | { readonly code: 'verbs_missing'; readonly verbs: readonly string[] }
  | { readonly code: 'restart_missing' }
  | { readonly code: 'no_wire' }
  /** Another check shows why this one could not judge. `happened`: what stopped it. */
  | { readonly code: 'blocked'; readonly by: string; readonly happened: string }
  /** The agent acted, and no call followed. */
  | { readonly code: 'calls_missing'; readonly endpoints: readonly string[] }
  /** The user asked for an agent, and the platform sent no event. */
  | { readonly code: 'handover_closed' }
  /** An event that must have no effect was answered with 200, and a valid one has no visible effect either. */
  | { readonly code: 'no_visible_effect'; readonly status: number; readonly isForged: boolean }
  /** What the agent sees could not be read. */
  | { readonly code: 'inbox_failed'; readonly failure: DriverFailure | null }
  /** The agent acted, and the call that the platform was to refuse did not come. */
  | {
      readonly code: 'call_not_made'
      readonly endpoint: string
      readonly verb: string
      readonly failure: DriverFailure | null
    }
  | { readonly code: 'time_limit'; readonly limitMs: number }
  /** More calls than a check follows. */
  | { readonly code: 'call_flood'; readonly calls: number; readonly overMs: number }
  /** No program listened at the target any more. `suspects`: the requests of which one ended it, when this check sent one. */
  | {
      readonly code: 'target_unreachable'
      readonly suspects: readonly { readonly check: string; readonly request: string }[]
    }
  /** It ended by itself while these checks ran, and not when each of them ran alone. */
  | { readonly code: 'target_ended'; readonly failure: TargetFailure; readonly checks: readonly string[] }
  /** A bug of handover-sim; the outcome is `error`. */
  | { readonly code: 'internal_error'; readonly detail: string }
  | { readonly code: 'stopped' }

export function checkReasonText(reason: CheckReason): string {
  switch (reason.code) {
    case 'capability_missing':
      return `The capability file says that there is no support for ${reason.capability}.`
    case 'driver_missing':
      return 'This check needs an agent driver, which acts as the human agent: pass --agent-driver FILE.'
    case 'verbs_missing':
      return `The agent driver has no ${reason.verbs.join(', ')}, so this check cannot be observed.`
    case 'restart_missing':
      return 'This check restarts the intermediary: give the agent driver a target with a start command.'
    case 'handover_closed':
      return 'Handover is closed, so the platform sent no event when the user asked for an agent. Remove `business_hours` and `availability.initial` from the settings of the simulator for a certification.'
    case 'blocked':
      return `${reason.by} shows the cause, which ended this check before it could judge: ${reason.happened}`
    case 'calls_missing':
      return `The agent acted, and no call of ${reason.endpoints.join(', ')} followed, so it was not checked. Look at the checks that expect these calls, and at the verbs of the agent driver.`
    case 'no_wire':
      return 'The intermediary is a function in this process, so there is no connection to observe.'
    case 'no_visible_effect':
      return reason.isForged
        ? `The webhook answered ${reason.status}, and a valid event has no visible effect either, so it is not visible whether the event was used. Answer 401 to events that are not signed correctly, or give the agent driver (--agent-driver FILE) an inbox that lists requests.`
        : `The webhook answered ${reason.status}, and no effect of a valid event is visible, so neither is one of its replay. Give the agent driver (--agent-driver FILE) an inbox that lists requests.`
    case 'inbox_failed':
      return `The agent driver could not read the inbox${suffix(reason.failure && driverFailureText(reason.failure))}. What the agent sees is unknown; try the inbox of the driver by hand.`
    case 'call_not_made':
      return reason.failure === null
        ? `No ${reason.endpoint} came after the agent driver performed ${reason.verb}, so the platform refused none, and it is not visible whether a refused call is made again. See what FLW-01 reports.`
        : `No ${reason.endpoint} came, because the agent driver failed at ${reason.verb}: ${driverFailureText(reason.failure)}. So the platform refused none, and it is not visible whether a refused call is made again.`
    case 'time_limit':
      return `The check did not end within ${formatDuration(reason.limitMs)}.`
    case 'call_flood':
      return `The intermediary made ${reason.calls} calls in ${formatDuration(Math.max(1, Math.round(reason.overMs)))}, more than a check follows, so it was ended. Look for a loop that makes the same call again, such as an answer to its own typing events.`
    case 'target_unreachable':
      return reason.suspects.length === 0
        ? 'No program listened at the target any more. The end of this report says why the run was stopped.'
        : `The intermediary ended, and it is not known which of these requests ended it: ${reason.suspects.map(({ check, request }) => `${request} of ${check}`).join(', ')}. Start it again, and run each of these checks alone, with --only.`
    case 'target_ended':
      return `The intermediary ended by itself while ${reason.checks.join(', ')} ran (${targetFailureText(reason.failure)}), and it did not end when each ran alone, so the cause is unknown. Try --jobs 1, and look for what several chats at once share.`
    case 'internal_error':
      return `Internal error of handover-sim: ${reason.detail}. It says nothing about the intermediary; please report it.`
    case 'stopped':
      return 'The run ended before this check.'
  }
}

/** `: what`, or nothing. */
export const suffix = (what: string | null | undefined): string => (what ? `: ${what}` : '')

/** Follows "the webhook". */
export function answerText(answer: { readonly status: number | null; readonly failure?: DeliveryFailure }): string {
  if (answer.status !== null) return `answered ${answer.status}`
  return answer.failure === undefined ? 'gave no answer' : `gave no answer (${failureText(answer.failure)})`
}
