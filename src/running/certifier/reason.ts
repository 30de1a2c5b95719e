/** Defines the reason why a check has no verdict, and makes the reasons that several files give. */
import type { Reason } from '../../evaluation/evaluator/verdict.ts'
import type { DriverFailure } from '../../platform/journal/run-failures.ts'
import { driverFailureText } from '../../platform/wording/failures.ts'
import { suffix } from './words.ts'

/** Why a check could not be observed, or does not apply. */
export interface CheckReason extends Omit<Reason, 'cause'> {
  /** Another check, which shows the cause. */
  readonly by?: string
  /** The requests of which one ended the target, when this check sent one. */
  readonly suspects?: readonly { readonly check: string; readonly request: string }[]
  /** Of the agent driver. */
  readonly failure?: DriverFailure | null
}

export const STOPPED: CheckReason = { code: 'stopped', text: 'The run ended before this check.' }

/** What the agent sees could not be read. */
export const inboxFailed = (failure: DriverFailure | null): CheckReason => ({
  code: 'inbox_failed',
  text: `The agent driver could not read the inbox${suffix(failure && driverFailureText(failure))}. What the agent sees is unknown; try the inbox of the driver by hand.`,
  failure,
})
