/** One event on its way to the webhook, and the same as plain data. */
import type { AppliedWebhookFaults, Faults } from '../faults/registry.ts'
import type { Parcel } from './attempt.ts'
import type { DueTime } from './due.ts'

/** The faults applied to one event. Their journal entries were written when the event happened. */
export type JobFaults = Omit<AppliedWebhookFaults, 'hits'>

export type DeliveryStage =
  /** Behind another one of its chat. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending' }
  /** At that time it is sent, or gets its turn behind others. */
  | ({ readonly kind: 'due'; readonly next: 'send' | 'turn' } & DueTime)
  /** Until so many later ones of its chat have passed. */
  | { readonly kind: 'kept' }

export const SENDING: DeliveryStage = { kind: 'sending' }

export interface Job {
  /** As it should be: what a retry sends. */
  readonly parcel: Parcel
  readonly lane: string
  /** Of its event in the journal. */
  readonly seq: number
  readonly faults: JobFaults | null
  /** One more copy of the first attempt; nothing waits for it. */
  readonly copy: boolean
  attempt: number
  /** Whether the others of its chat wait for it. */
  laned: boolean
  stage: DeliveryStage
}

export interface CapturedJob extends Pick<Job, 'seq' | 'copy' | 'attempt' | 'laned' | 'stage'> {
  readonly chatId: string
  readonly deliveryId: string
  readonly event: string
  readonly body: string
  readonly faults: Omit<JobFaults, 'release'> | null
  /** How many later ones are still to pass, when it is kept back. */
  readonly passing: number
}

export function captureJob(job: Job, passing: number): CapturedJob {
  const { parcel, lane, seq, copy, attempt, laned, stage, faults } = job
  const { deliveryId, event, body } = parcel
  const what = { chatId: lane, deliveryId, event, body, seq, copy, attempt, laned, stage, passing }
  return { ...what, faults: faults && effectsOf(faults) }
}

const effectsOf = ({ faults, form, order, copies }: JobFaults) => ({ faults, form, order, copies })

/** `parcelOf` makes the parcel anew: its headers are of the time it is sent. */
export function jobFrom(
  kept: CapturedJob,
  registry: Pick<Faults, 'releaseOf'>,
  parcelOf: (kept: CapturedJob) => Parcel,
): Job {
  const { chatId: lane, seq, copy, attempt, laned, stage } = kept
  const applied = kept.faults && { ...kept.faults, release: registry.releaseOf(kept.faults.faults) }
  return { parcel: parcelOf(kept), lane, seq, copy, attempt, laned, stage, faults: applied }
}
