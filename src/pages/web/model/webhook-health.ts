/** Says from the deliveries whether the webhook answers, and since when it does not. */
import { isSuccess } from '../../../base/http-status.ts'
import { isMap } from '../../../base/objects.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { isInvalidSign } from '../../../platform/wording/hints.ts'
import { countUntil } from './journal-log.ts'

type Attempt = EntryOf<'delivery'>

export interface WebhookHealth {
  readonly state: 'no_url' | 'untested' | 'accepting' | 'failing'
  /** The latest attempt at the current URL. */
  readonly last: Attempt | null
  readonly failuresInARow: number
  /** The first of these failures; null without one. */
  readonly failingSince: Attempt | null
  /** Events that were not sent because there was no URL. */
  readonly notSent: number
}

/** The platform demands an answer of 200 for some events only; a refusal is one in any case. */
const isAccepted = ({ outcome, status }: Attempt): boolean =>
  outcome === 'delivered' && (status === null || isSuccess(status))

/** `url` is that of the moment: after the entry `at`, or now for null. */
export function webhookHealthAt(entries: readonly Entry[], at: number | null, url: string | null): WebhookHealth {
  // From the newest entry back to the one that set the URL.
  const sent: Attempt[] = []
  let notSent = 0
  for (let index = (at === null ? entries.length : countUntil(entries, at)) - 1; index >= 0; index--) {
    const entry = entries[index]
    if (entry?.kind === 'note' && isMap(entry.changed) && 'webhook.url' in entry.changed) break
    // Trials and forged events are meant to be refused.
    if (entry?.kind !== 'delivery' || entry.probe !== undefined || isInvalidSign(entry.sign)) continue
    if (entry.outcome === 'skipped') notSent++
    else sent.push(entry)
  }
  const delivered = sent.findIndex(isAccepted)
  const failures = delivered === -1 ? sent : sent.slice(0, delivered)
  const [last = null] = sent
  return {
    state: url === null ? 'no_url' : last === null ? 'untested' : failures.length === 0 ? 'accepting' : 'failing',
    last: url === null ? null : last,
    failuresInARow: failures.length,
    failingSince: failures.at(-1) ?? null,
    notSent,
  }
}
