/** Lists the events that the platform sends, and how their signatures can be. Their schemas are in `events.ts`. */

/** The events by name: whether only the status 200 acknowledges them (WH2, WH3). */
export const EVENT_NAMES = {
  'REQUESTING TAKEOVER': { demands200: true },
  'MESSAGE FROM USER': { demands200: true },
  'AGENT TYPING START': { demands200: false },
  'AGENT TYPING STOP': { demands200: false },
} as const
/** The value of `event`. */
export type WebhookEventName = keyof typeof EVENT_NAMES

export const isWebhookEvent = (name: string): name is WebhookEventName => Object.hasOwn(EVENT_NAMES, name)

export const SIGN_MODES = ['valid', 'none', 'wrong-key', 'tampered', 'truncated', 'hex'] as const
/** How an event is signed; all but `valid` are wrong on purpose. */
export type SignMode = (typeof SIGN_MODES)[number]
