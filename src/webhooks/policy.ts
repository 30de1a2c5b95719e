/** What counts as delivered, and when another try follows (WH2, `webhook.retry`, `webhook.redirect`). */
import { WEBHOOK_EVENTS, type WebhookEventName } from '../contract/events.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryFailure } from '../journal/entry.ts'

/** Null when the answer acknowledges the event, else why it does not. */
export function acknowledgementFailure(event: string, status: number, knobs: Knobs): DeliveryFailure | null {
  const known = Object.hasOwn(WEBHOOK_EVENTS, event) ? WEBHOOK_EVENTS[event as WebhookEventName] : null
  if (status >= 300 && status < 400)
    return { code: 'redirect', status, followed: knobs['webhook.redirect'] === 'follow' }
  if (known?.demands200 === false || status === 200) return null
  return { code: 'not_acknowledged', status, event }
}

/** Milliseconds until try number `attempt + 1`, or null when that was the last one. */
export const retryDelay = (knobs: Knobs, attempt: number): number | null => knobs['webhook.retry'][attempt - 1] ?? null
