/** Decides whether handover is open: availability per bot and queue (ST17-ST26, E3), and weekly business hours. */

import { isoMicros } from '../../base/runtime/clock.ts'
import type { AvailabilityRequest, AvailabilityResponse } from '../contract/endpoints.ts'
import type { AvailabilityReason, AvailabilityValue } from '../contract/schemas.ts'
import { withinHours } from './business-hours.ts'
import { invalidParameter } from './refusal.ts'
import type { BotState, PlatformContext, Queue } from './state.ts'
import { assumed, note, type Transaction } from './state.ts'

export const DEFAULT_QUEUE = 'DEFAULT'

export interface AvailabilityChange {
  readonly availability: AvailabilityValue
  readonly queue?: string | undefined
  readonly reason?: AvailabilityReason | undefined
}

/** Before its first update a queue has the value of `availability.initial`. */
const queueOf = (platform: PlatformContext, bot: BotState, name = DEFAULT_QUEUE): Queue =>
  bot.queues.get(name) ?? { availability: platform.knobs['availability.initial'], reason: null, updated: null }

/** Whether the latest availability is OPEN (only an update reopens it, ST25) and the time is within the business hours, if there are any. */
export function isOpen(platform: PlatformContext, bot: BotState): boolean {
  const hours = platform.settings.businessHours
  return queueOf(platform, bot).availability === 'OPEN' && (hours === null || withinHours(hours, platform.wallMs()))
}

/** Sets the availability and appends a note to the journal; `by` is `api` or `workspace`. */
export function changeAvailability(
  platform: PlatformContext,
  bot: BotState,
  change: AvailabilityChange,
  by: string,
  transaction: Transaction,
) {
  const name = change.queue ?? DEFAULT_QUEUE
  if (name !== DEFAULT_QUEUE && platform.knobs['availability.otherQueues'] === 'reject') {
    const options = { field: 'queue', assumed: ['availability.otherQueues'] } as const
    throw invalidParameter(
      platform.knobs,
      `queue must be "DEFAULT", the only supported queue, got ${JSON.stringify(name)}.`,
      options,
    )
  }
  const { availability, reason, updated } = queueOf(platform, bot, name)
  const previous = { availability, reason, updated_at: updated === null ? null : isoMicros(updated) }
  const queue = { availability: change.availability, reason: change.reason ?? null, updated: platform.stamp() }
  bot.queues.set(name, queue)
  const details = { bot_id: bot.id, queue: name, by, ...change, previous }
  note(transaction, 'availability', undefined, details)
  return queue
}

export function updateAvailability(
  platform: PlatformContext,
  bot: BotState,
  request: AvailabilityRequest,
  transaction: Transaction,
): AvailabilityResponse {
  const queue = changeAvailability(platform, bot, request, 'api', transaction)
  assumed(transaction, 'time.format', 'keys.more')
  if (request.queue === undefined) assumed(transaction, 'availability.missingQueue')
  else if (request.queue !== DEFAULT_QUEUE) assumed(transaction, 'availability.otherQueues')
  if (request.reason === undefined) assumed(transaction, 'availability.missingReason')
  return {
    event: 'HANDOVER AVAILABILITY UPDATED',
    bot_id: String(bot.id),
    queue: request.queue ?? DEFAULT_QUEUE,
    availability: queue.availability,
    updated_at: formatTime(platform, queue.updated),
  }
}

/** Formats a time by the knob `time.format`. */
function formatTime(platform: PlatformContext, micros: number): string {
  const iso = isoMicros(micros)
  if (platform.knobs['time.format'] === 'epoch') return String(Math.floor(micros / 1_000_000))
  return platform.knobs['time.format'] === 'offset' ? iso.replace('Z', '+00:00') : iso
}
