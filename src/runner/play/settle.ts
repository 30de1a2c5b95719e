/** The quiet after the last step, in which whatever is too much would come. */
import type { Entry } from '../../journal/entry.ts'
import type { RunContext } from './run-context.ts'
import { type Open, waitUntil } from './waiting.ts'

/** However busy it stays. */
const LONGEST_MS = 2_000

/** Ends when nothing was called or delivered for `timeouts.settle`. `lingering`: a late call may explain a failure. */
export async function settle(
  context: RunContext,
  { lingering, signal }: { readonly lingering: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { journal, activity } = context.core
  const quietMs = context.plan.timeouts.settleMs
  const begun = journal.atMs
  const until = begun + Math.max(LONGEST_MS, quietMs)
  let lastMs = begun
  let seen = journal.nextSeq - 1
  let heard = !lingering
  const look = (): Open | null => {
    for (const entry of journal.query({ after: seen })) {
      seen = entry.seq
      if (!isTraffic(entry)) continue
      lastMs = entry.at_ms
      heard ||= entry.kind === 'api'
    }
    const quietAt = heard ? lastMs + quietMs : until
    const over = (journal.atMs >= quietAt && !activity.busy) || journal.atMs >= until
    return over ? null : { untilMs: Math.min(journal.atMs >= quietAt ? until : quietAt, until) }
  }
  if (!signal.aborted) await waitUntil(context, look, signal).catch(() => {})
}

const isTraffic = ({ kind }: Entry): boolean => kind === 'api' || kind === 'delivery' || kind === 'event'
