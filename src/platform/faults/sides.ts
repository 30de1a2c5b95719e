/** Tells faults of calls from faults of webhook events. */

export type Side = 'api' | 'webhook'

/** What `on` of a fault says: a side, or the endpoints or events of one. */
export const sideOf = (on: Side | { readonly api?: unknown }): Side =>
  on === 'api' || (typeof on === 'object' && on.api !== undefined) ? 'api' : 'webhook'
