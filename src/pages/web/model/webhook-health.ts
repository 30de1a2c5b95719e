/** Says from the deliveries whether the webhook answers, and since when it does not. */
import type { EntryOf } from '../../../platform/journal/entry.ts'
import { countUntil } from './journal-log.ts'
import type { PlatformLog } from './platform-log.ts'

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

/** `url` is that of the moment. */
export function webhookHealthAt(log: PlatformLog, at: number | null, url: string | null): WebhookHealth {
  const from = lastUrlChange(log, at)
  const count = at === null ? log.attempts.length : countUntil(log.attempts, at)
  const attempts = log.attempts.slice(countUntil(log.attempts, from), count)
  const sent = attempts.filter(({ outcome }) => outcome !== 'skipped')
  const last = sent.at(-1) ?? null
  const failures = sent.slice(sent.findLastIndex(({ outcome }) => outcome === 'delivered') + 1)
  return {
    state: url === null ? 'no_url' : last === null ? 'untested' : failures.length === 0 ? 'accepting' : 'failing',
    last: url === null ? null : last,
    failuresInARow: failures.length,
    failingSince: failures[0] ?? null,
    notSent: attempts.length - sent.length,
  }
}

/** The seq of the entry that set the URL of the moment; 0 when the simulator began with it. */
function lastUrlChange({ changes }: PlatformLog, at: number | null): number {
  const until = at === null ? changes.length : countUntil(changes, at)
  return (
    changes
      .slice(0, until)
      .findLast(({ changed }) => typeof changed === 'object' && changed !== null && 'webhook.url' in changed)?.seq ?? 0
  )
}
