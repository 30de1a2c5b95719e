/** Limits how long a test waits for the webhook, so that an error names the cause before the test runner ends the test. */

import { wallTimer } from '../base/runtime/clock.ts'
import { formatDuration } from '../base/text/quantities.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import { WaitTimeoutError } from '../platform/journal/journal.ts'
import type { PlatformSimulatorOptions } from '../platform/simulator/platform-options.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { Job } from '../platform/webhooks/dispatcher.ts'

export interface AckLimit {
  /** Milliseconds on the wall clock. */
  readonly ms: number
  readonly webhook: PlatformSimulatorOptions['webhook']
}

/** Shorter than the timeouts of test runners. */
export const DEFAULT_ACK_MS = 4_000

const TEXTS = {
  held: (event: string, faults: readonly string[]) => `${faults.join(', ')} holds ${event}`,
}

/** The most reasons that an error lists. */
const MOST_REASONS = 3

export interface LimitedAction {
  readonly limit: AckLimit
  readonly what: string
  readonly chatId: string | null
  /** Returns the stack frames of the test, because a timer has none of them. */
  readonly callStack: () => string
}

/**
 * Rejects with `WaitTimeoutError` when `work` takes longer than the limit. It names the deliveries of the chat that have
 * not ended, or of all chats when `chatId` is null; they go on.
 */
export function withinAckLimit<Result>(
  sim: PlatformSimulator,
  { limit, what, chatId, callStack }: LimitedAction,
  work: Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = wallTimer(limit.ms, () => {
      const error = new WaitTimeoutError(
        `${what} waited ${formatDuration(limit.ms)}: ${reasonsFor(sim, limit, chatId).join('; ')}. Answer every event, or raise ackTimeout, as in createSimulator({ ackTimeout: '10s' }).`,
      )
      error.stack = `${error.name}: ${error.message}\n${callStack()}`
      reject(error)
    })
    work.then(resolve, reject).finally(timer.cancel)
  })
}

function reasonsFor(sim: PlatformSimulator, { webhook }: AckLimit, chatId: string | null): string[] {
  const { dispatcher, address, clock } = coreOf(sim)
  const jobs = dispatcher.inProgress().filter(job => chatId === null || job.chatId === chatId)
  const receiver = receiverOf(webhook, address.webhookUrl ?? '')
  const reasons = jobs.map(job => reasonFor(job, receiver, clock.now()))
  return reasons.length === 0
    ? ['the simulator has not finished its work: do the functions translate and summarize end?']
    : reasons.slice(0, MOST_REASONS)
}

function receiverOf(webhook: AckLimit['webhook'], url: string): string {
  if (webhook?.fetch) return 'the function webhook.fetch'
  return webhook?.listener
    ? `the application of webhook.listener (POST ${new URL(url).pathname})`
    : withoutCredentials(url)
}

function reasonFor({ phase, request, faults }: Readonly<Job>, receiver: string, nowMs: number): string {
  const { event } = request
  switch (phase.kind) {
    case 'sending':
      return `${receiver} has not answered ${event}`
    case 'waiting':
      return `${event} waits for the end of an earlier event of its chat`
    case 'scheduled':
      return `${event} is due in ${formatDuration(phase.atMs - nowMs)} on the clock of the simulator`
    case 'held':
      return TEXTS.held(event, faults?.faults ?? [])
  }
}
