/** Decides from the codes of an entry whether the log shows it, before any text is rendered. */
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { isInvalidSign, isTruncated, observedSignature } from '../../platform/wording/hints.ts'

export type LogStyle = 'pretty' | 'compact' | 'quiet'

export function isShown(entry: Entry, style: LogStyle): boolean {
  if (style === 'quiet') return looksWrong(entry)
  // Of the trials of a diagnosis, the one that was accepted shows the mistake.
  if (entry.kind === 'delivery' && entry.probe !== undefined) return (entry.status ?? 500) < 300
  // In the compact style, the delivery says which event it has.
  if (style === 'compact' && entry.kind === 'event') return false
  return (
    entry.kind !== 'note' || !(REPEATED_NOTES.has(entry.note) || (entry.note === 'availability' && entry.by === 'api'))
  )
}

/** Whether an entry shows a mistake of the intermediary, a failed delivery or a problem of the simulator. */
export function looksWrong(entry: Entry): boolean {
  switch (entry.kind) {
    case 'api':
      // A fault may refuse a call, which is no mistake.
      return ((entry.status >= 400 || entry.status === 0) && entry.faults === undefined) || entry.findings.length > 0
    case 'delivery':
      if (entry.probe !== undefined) return false
      return (
        (entry.outcome === 'failed' && !isCorrectRefusal(entry)) || isWronglyAccepted(entry) || isSignedWrong(entry)
      )
    case 'note':
      return PROBLEM_NOTES.has(entry.note)
    default:
      return false
  }
}

/** The webhook refused what a fault made invalid. */
const isCorrectRefusal = (entry: EntryOf<'delivery'>): boolean =>
  entry.faults !== undefined && (entry.status ?? 0) >= 400 && (isInvalidSign(entry.sign) || isTruncated(entry))

/** A success status for an invalid signature. A refusal can acknowledge an event too, so the outcome does not tell. */
export const isWronglyAccepted = ({ status, sign }: EntryOf<'delivery'>): boolean =>
  status !== null && status >= 200 && status <= 299 && isInvalidSign(sign)

/** A delivery of the real platform, whose signature does not fit the key that the proxy was given. */
export const isSignedWrong = (entry: EntryOf<'delivery'>): boolean => observedSignature(entry)?.status === 'invalid'

const PROBLEM_NOTES: ReadonlySet<string> = new Set([
  ...['evicted', 'connections_refused', 'internal_error'],
  ...['proxy_call_failed', 'proxy_silent', 'proxy_link_leaves'],
])

/** The call that caused these notes, or the delivery that follows, says the same. */
const REPEATED_NOTES: ReadonlySet<string> = new Set([
  'taken_over',
  'takeover_replaced',
  'handed_back',
  'event_triggered',
])
