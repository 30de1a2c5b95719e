/** Says why a check could not be observed, or does not apply: codes and their texts. */

import { formatDuration } from '../../base/text/quantities.ts'
import type { DriverFailure, TargetFailure } from '../../platform/journal/run-failures.ts'
import { driverFailureText, targetFailureText } from '../../platform/wording/failures.ts'
import type { Capability } from './capabilities.ts'

export type CheckReason =
  | { readonly code: 'capability_missing'; readonly capability: Capability }
  | { readonly code: 'driver_missing' }
  | { readonly code: 'verbs_missing'; readonly verbs: readonly string[] }
  | { readonly code: 'restart_missing' }
  | { readonly code: 'no_wire' }
  /** The agent acted, and no call followed. */
  | { readonly code: 'calls_missing'; readonly endpoints: readonly string[] }
  /** The user asked for an agent, and the platform sent no event. */
  | { readonly code: 'handover_closed' }
  /** A forged event was answered with 200, and a valid one has no visible effect either. */
  | { readonly code: 'no_visible_effect'; readonly status: number }
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
  /** Nothing listened at the target any more. */
  | { readonly code: 'target_unreachable' }
  /** It ended by itself while these checks ran, and not when each of them ran alone. */
  | { readonly code: 'target_ended'; readonly failure: TargetFailure; readonly checks: readonly string[] }
  /** A bug of handover-sim; the outcome is `error`. */
  | { readonly code: 'internal_error'; readonly detail: string }
  | { readonly code: 'stopped' }

type Texts = {
  readonly [Code in CheckReason['code']]: string | ((reason: Extract<CheckReason, { code: Code }>) => string)
}

const TEXTS: Texts = {
  capability_missing: ({ capability }) => `The capability file says that there is no support for ${capability}.`,
  driver_missing: 'This check needs an agent driver, which acts as the human agent: pass --agent-driver FILE.',
  verbs_missing: ({ verbs }) => `The agent driver has no ${verbs.join(', ')}, so this check cannot be observed.`,
  restart_missing: 'This check restarts the intermediary: give the agent driver a target with a start command.',
  handover_closed:
    'Handover is closed, so the platform sent no event when the user asked for an agent. Remove `business_hours` and `availability.initial` from the settings of the simulator for a certification.',
  calls_missing: ({ endpoints }) =>
    `The agent acted, and no call of ${endpoints.join(', ')} followed, so it was not checked. Look at the checks that expect these calls, and at the verbs of the agent driver.`,
  no_wire: 'The intermediary is a function in this process, so there is no connection to observe.',
  no_visible_effect: ({ status }) =>
    `The webhook answered ${status}, and a valid event has no visible effect either, so nobody can see whether the event was used. Give the agent driver an inbox that lists requests, or answer 401 to events that are not signed correctly.`,
  inbox_failed: ({ failure }) =>
    `The agent driver could not read the inbox${failure === null ? '' : `: ${driverFailureText(failure)}`}. What the agent sees is not known; try the inbox of the driver by hand.`,
  call_not_made: ({ endpoint, verb, failure }) =>
    failure === null
      ? `No ${endpoint} came after the agent driver performed ${verb}, so the platform refused none, and nobody can see whether it is made again. See what FLW-01 reports.`
      : `No ${endpoint} came, because the agent driver failed at ${verb}: ${driverFailureText(failure)}. So the platform refused none, and nobody can see whether it is made again.`,
  time_limit: ({ limitMs }) => `The check did not end within ${formatDuration(limitMs)}.`,
  call_flood: ({ calls, overMs }) =>
    `The intermediary made ${calls} calls in ${formatDuration(Math.max(1, Math.round(overMs)))}, more than a check follows, so it was ended. Look for a loop that makes the same call again, such as an answer to its own typing events.`,
  target_unreachable: 'Nothing listened at the target any more. The end of this report says why the run was stopped.',
  target_ended: ({ failure, checks }) =>
    `The intermediary ended by itself while ${checks.join(', ')} ran (${targetFailureText(failure)}), and it did not end when each ran alone, so what ended it is not known. Its last output is in the log of this run. Try --jobs 1, and look for what several chats at once share.`,
  internal_error: ({ detail }) =>
    `Internal error of handover-sim: ${detail}. It says nothing about the intermediary; please report it.`,
  stopped: 'The run ended before this check.',
}

export function checkReasonText(reason: CheckReason): string {
  const texts: Readonly<Record<string, string | ((reason: never) => string)>> = TEXTS
  const text = texts[reason.code]!
  return typeof text === 'string' ? text : text(reason as never)
}
