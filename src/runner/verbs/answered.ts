/** Waiting for the webhook's answer to an event: the one after which no other try follows. */
import type { Entry, EntryOf } from '../../journal/entry.ts'
import { waitUntil } from '../play/waiting.ts'
import type { Scene } from './verb.ts'

/** The transport's own timeout may be as long as ours; what it has to say is worth a moment. */
const GRACE_MS = 250

/** Ends without a word when the time is up: that nothing came is for the judge to see. */
export async function awaitAnswer({ stage, startSeq, signal }: Scene, deliveryId: string): Promise<void> {
  const { journal } = stage.core
  const bound = stage.plan.timeouts.ackMs + GRACE_MS
  let seen = startSeq
  let untilMs = journal.atMs + bound
  let over = false
  const look = () => {
    for (const entry of journal.query({ after: seen })) {
      seen = entry.seq
      if (!isAttempt(entry, deliveryId)) continue
      over = entry.retry_in_ms === undefined
      // A virtual clock jumps to the next try; the wall has to wait for it.
      untilMs = entry.at_ms + bound + (stage.core.clock.mode === 'real' ? (entry.retry_in_ms ?? 0) : 0)
    }
    return over || journal.atMs >= untilMs ? null : { untilMs }
  }
  await waitUntil(stage, look, signal)
}

const isAttempt = (entry: Entry, deliveryId: string): entry is EntryOf<'delivery'> =>
  entry.kind === 'delivery' && entry.delivery_id === deliveryId
