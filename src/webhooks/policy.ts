/** What counts as delivered, and when another try follows (WH2, assumptions 3 and 4). */
import { WEBHOOK_EVENTS, type WebhookEventName } from '../contract/events.ts'
import type { Knobs } from '../contract/knobs.ts'

const REDIRECTS = {
  fail: 'redirects are not followed',
  follow: 'it has no usable Location, or is one too many in a row',
} as const

/** Null when the answer acknowledges the event, else why it does not. */
export function whyNotAcknowledged(event: string, status: number, redirect: Knobs['webhook.redirect']): string | null {
  const known = Object.hasOwn(WEBHOOK_EVENTS, event) ? WEBHOOK_EVENTS[event as WebhookEventName] : null
  if (status >= 300 && status < 400) return `answered with a redirect (${status}); ${REDIRECTS[redirect]}`
  if (known?.demands200 === false || status === 200) return null
  return `answered ${status}; only 200 acknowledges ${event}`
}

/** Milliseconds until try number `attempt + 1`, or null when that was the last one. */
export const retryDelay = (knobs: Knobs, attempt: number): number | null => knobs['webhook.retry'][attempt - 1] ?? null
