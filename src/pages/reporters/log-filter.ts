/** Decides from the codes of an entry whether the log shows it, before any text is rendered. */
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { DeliveryOutline, EntryOutline } from '../../platform/journal/entry-source.ts'
import { errorIn, isInvalidSign, isTruncated } from '../../platform/wording/hints.ts'

export type LogStyle = 'pretty' | 'compact' | 'quiet'

export function isShown(entry: Entry, style: LogStyle): boolean {
  if (style === 'quiet') return looksWrong(entry)
  return (
    isInStyle(entry, style) &&
    (entry.kind !== 'note' ||
      !(REPEATED_NOTES.has(entry.note) || (entry.note === 'availability' && entry.by === 'api')))
  )
}

/** In the compact style, the delivery says which event it has. */
export const isInStyle = ({ kind }: EntryOutline, style: LogStyle): boolean =>
  style === 'pretty' || (style === 'compact' && kind !== 'event')

/** Decides before the entry of a delivery is built, so that true may be wrong. */
export const mayLookWrong = (outline: EntryOutline): boolean =>
  outline.kind === 'delivery' ? outline.outcome === 'failed' || outline.sign !== undefined : looksWrong(outline)

/** Whether an entry shows a mistake of the intermediary, a failed delivery or a problem of the simulator. */
export function looksWrong(entry: Exclude<EntryOutline, DeliveryOutline> | EntryOf<'delivery'>): boolean {
  switch (entry.kind) {
    case 'api':
      return isRefused(entry) || entry.findings.length > 0
    case 'delivery':
      return (entry.outcome === 'failed' && !isCorrectRefusal(entry)) || isWronglyAccepted(entry)
    case 'note':
      return PROBLEM_NOTES.has(entry.note)
    default:
      return false
  }
}

/** A fault may refuse a call, which is no mistake. */
const isRefused = ({ status, faults }: Pick<EntryOf<'api'>, 'status' | 'faults'>): boolean =>
  status >= 400 && faults === undefined

/** The webhook refused what a fault made invalid. */
const isCorrectRefusal = (entry: EntryOf<'delivery'>): boolean =>
  entry.faults !== undefined && (entry.status ?? 0) >= 400 && (isInvalidSign(entry.sign) || isTruncated(entry))

/** A success status for an invalid signature. A refusal can acknowledge an event too, so the outcome does not tell. */
export const isWronglyAccepted = ({ status, sign }: EntryOf<'delivery'>): boolean =>
  status !== null && status >= 200 && status <= 299 && isInvalidSign(sign)

export interface EntryProblem {
  readonly kind: 'refused' | 'finding' | 'failed' | 'accepted' | 'simulator'
  /** A number is the status of an answer. */
  readonly code: string | number
}

/** What is wrong with an entry; empty unless `looksWrong`. */
export function problemsOf(entry: Entry): readonly EntryProblem[] {
  if (!looksWrong(entry)) return NO_PROBLEMS
  switch (entry.kind) {
    case 'api':
      return [...refusals(entry), ...entry.findings.map(({ rule }) => ({ kind: 'finding', code: rule }) as const)]
    case 'delivery':
      return [isWronglyAccepted(entry) ? { kind: 'accepted', code: entry.status ?? 0 } : failureOf(entry)]
    case 'note':
      return [{ kind: 'simulator', code: entry.note }]
    default:
      return NO_PROBLEMS
  }
}

const NO_PROBLEMS: readonly EntryProblem[] = []

function refusals(entry: EntryOf<'api'>): EntryProblem[] {
  if (!isRefused(entry)) return []
  const { code } = errorIn(entry.response)
  return [{ kind: 'refused', code: typeof code === 'string' ? code : entry.status }]
}

/** Every status that is no acknowledgement has the same code, so the status says more. */
const failureOf = ({ status, failure }: EntryOf<'delivery'>): EntryProblem => ({
  kind: 'failed',
  code: status ?? failure?.code ?? 0,
})

const PROBLEM_NOTES: ReadonlySet<string> = new Set(['evicted', 'connections_refused', 'internal_error'])

/** The call that caused these notes, or the delivery that follows, says the same. */
const REPEATED_NOTES: ReadonlySet<string> = new Set([
  'taken_over',
  'takeover_replaced',
  'handed_back',
  'event_triggered',
])
