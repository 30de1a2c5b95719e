/** Describes one event on its way to the webhook, and schedules its next step. */

import { type Clock, type ClockTimer, earliest, timeAfter } from '../../base/runtime/clock.ts'
import { CONNECTION_EFFECTS } from '../faults/effects.ts'
import type { AppliedWebhookFaults } from '../faults/registry.ts'
import type { EventContent, FaultContent } from '../journal/entry.ts'
import type { WebhookRequest } from './request.ts'

/** The faults of one event. Their journal entries were written when the event happened. */
export type JobFaults = Omit<AppliedWebhookFaults, 'hits'>

export type DeliveryPhase =
  /** Behind another event of its chat. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending' }
  /** At that time it is sent, or takes its turn among the events of its chat. */
  | { readonly kind: 'scheduled'; readonly next: 'send' | 'turn'; readonly atMs: number }
  /** Until later events of its chat have passed. */
  | { readonly kind: 'held' }

export const SENDING: DeliveryPhase = { kind: 'sending' }

export interface Job {
  /** The valid request, which a retry sends. */
  readonly request: WebhookRequest
  readonly chatId: string
  /** Of its event in the journal. */
  readonly seq: number
  readonly faults: JobFaults | null
  /** A copy of the first attempt; later events do not wait for it. */
  readonly copy: boolean
  attempt: number
  /** Whether it is at the head of the queue of its chat, so that later events wait for it. */
  atHead: boolean
  phase: DeliveryPhase
}

export const newJob = (
  request: WebhookRequest,
  chatId: string,
  seq: number,
  faults: JobFaults | null,
  attempt = 1,
): Job => ({
  request,
  chatId,
  seq,
  faults,
  copy: false,
  attempt,
  atHead: false,
  phase: SENDING,
})

export const copyOf = (job: Job): Job => ({ ...job, copy: true, atHead: false, phase: SENDING })

/** One journal entry for each fault of an event. A webhook that is a function has no connection to change. */
export function faultEntries(
  { event, chat_id, delivery_id }: EventContent,
  { hits }: AppliedWebhookFaults,
  hasConnection: boolean,
): FaultContent[] {
  return hits.map(hit => {
    const left = hasConnection ? [] : CONNECTION_EFFECTS.filter(name => hit.effect[name] !== undefined)
    const notApplied = left.length === 0 ? {} : { not_applied: left }
    return { kind: 'fault', chat_id, ...hit, event, delivery_id, ...notApplied }
  })
}

export interface Schedule {
  /** Returns the time at which it runs, in epoch milliseconds. */
  after(delayMs: number, run: () => void): number
  /** Epoch milliseconds of the nearest timer, or null. */
  next(): number | null
  clear(): void
}

export function createSchedule(clock: Clock): Schedule {
  const waiting = new Set<{ readonly atMs: number; readonly timer: ClockTimer }>()
  return {
    after(delayMs, run) {
      const timer = clock.after(delayMs, () => {
        waiting.delete(scheduled)
        run()
      })
      const scheduled = { atMs: timeAfter(clock.now(), delayMs), timer }
      waiting.add(scheduled)
      return scheduled.atMs
    },
    next: () => earliest([...waiting].map(({ atMs }) => atMs)),
    clear() {
      for (const { timer } of waiting) timer.cancel()
      waiting.clear()
    },
  }
}
