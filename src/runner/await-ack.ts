/** Waits for the last answer of the webhook to an event: the one after which no retry follows. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import { type PlannedStep, stepsOf } from '../scenario/plan.ts'
import type { Core } from '../simulator/core.ts'
import { type StepContext, stepEvent } from './step-context.ts'
import { waitUntil } from './waiting.ts'

/** The transport may have the same time limit; it has this long to report its failure. */
const GRACE_MS = 250

type AckContext = Pick<StepContext, 'context' | 'signal' | 'startSeq'>

/** Resolves with the answer or at the time limit: the evaluator reports a missing answer. `sinceMs`: when it was sent. */
export async function awaitAck(
  { context, startSeq, signal }: AckContext,
  deliveryId: string,
  sinceMs = context.core.journal.atMs,
): Promise<void> {
  const { core, plan } = context
  const { journal } = core
  const timeLimit = plan.timeouts.ackMs + GRACE_MS + drippingMs(core, deliveryId)
  let lastSeq = startSeq
  let sentMs = sinceMs
  let answered = false
  const status = () => {
    for (const entry of journal.query({ after: lastSeq })) {
      lastSeq = entry.seq
      if (isAttempt(entry, deliveryId)) answered = entry.retry_in_ms === undefined
    }
    sentMs = Math.max(sentMs, sentAt(core, deliveryId))
    return answered || journal.atMs >= sentMs + timeLimit ? null : { untilMs: sentMs + timeLimit }
  }
  await waitUntil(context, status, signal)
}

const isAttempt = (entry: Entry, deliveryId: string): entry is EntryOf<'delivery'> =>
  entry.kind === 'delivery' && entry.delivery_id === deliveryId && entry.duplicate !== true

/** How long a fault takes to send the body. */
const drippingMs = ({ findActiveDelivery }: Core, deliveryId: string): number =>
  findActiveDelivery(deliveryId)?.faults?.form.wire?.dripMs ?? 0

/**
 * When the next attempt is sent: later than now for an event that waits in its queue, for its delay, or for its retry.
 * A virtual clock jumps to that moment; with a real clock it takes time.
 */
function sentAt({ clock, findActiveDelivery, journal }: Core, deliveryId: string): number {
  const job = findActiveDelivery(deliveryId)
  if (job === null || job.phase.kind === 'sending' || job.phase.kind === 'held') return Number.NEGATIVE_INFINITY
  const dueMs = job.phase.kind === 'scheduled' && clock.mode === 'real' ? job.phase.atMs - clock.now() : 0
  return journal.atMs + Math.max(0, dueMs)
}

/** Waits for the answers to `async` steps, except of events that a fault holds. Rejects with `InterruptedError`. */
export async function awaitPendingAcks({ context, signal }: Pick<StepContext, 'context' | 'signal'>): Promise<void> {
  const { plan, core } = context
  for (const { number } of [...stepsOf([...plan.steps, ...plan.finally])].filter(isAsync)) {
    const started = stepEvent(core.journal, 'step_started', number)
    const ended = stepEvent(core.journal, 'step_ended', number)
    const id = ended?.delivery_id
    if (!started || !id || core.findActiveDelivery(id)?.phase.kind === 'held') continue
    await awaitAck({ context, signal, startSeq: started.seq }, id, ended.at_ms)
  }
}

const isAsync = ({ action }: PlannedStep) => 'async' in action && action.async && action.ack !== null
