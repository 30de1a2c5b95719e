/** Waiting for the webhook's answer to an event: the one after which no other try follows. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import { type PlannedStep, stepsOf } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import type { Core } from '../simulator/core.ts'
import type { StepContext } from './step-context.ts'
import { waitUntil } from './waiting.ts'

/** The transport's own timeout may be as long as ours; what it has to say is worth a moment. */
const GRACE_MS = 250

type Awaiting = Pick<StepContext, 'context' | 'signal' | 'startSeq'>

/** Ends without a word when the time is up: that nothing came is for the judge to see. `sinceMs`: when it was sent. */
export async function awaitAck(
  { context, startSeq, signal }: Awaiting,
  deliveryId: string,
  sinceMs = context.core.journal.atMs,
): Promise<void> {
  const { core, plan } = context
  const { journal } = core
  const timeLimit = plan.timeouts.ackMs + GRACE_MS + drippingMs(core, deliveryId)
  let lastSeq = startSeq
  let sentMs = sinceMs
  let over = false
  const look = () => {
    for (const entry of journal.query({ after: lastSeq })) {
      lastSeq = entry.seq
      if (isAttempt(entry, deliveryId)) over = entry.retry_in_ms === undefined
    }
    sentMs = Math.max(sentMs, leavesAt(core, deliveryId))
    return over || journal.atMs >= sentMs + timeLimit ? null : { untilMs: sentMs + timeLimit }
  }
  await waitUntil(context, look, signal)
}

const isAttempt = (entry: Entry, deliveryId: string): entry is EntryOf<'delivery'> =>
  entry.kind === 'delivery' && entry.delivery_id === deliveryId && entry.duplicate !== true

/** A body that is sent slowly on purpose. */
const drippingMs = ({ findDelivery }: Core, deliveryId: string): number =>
  findDelivery(deliveryId)?.faults?.form.wire?.dripMs ?? 0

/**
 * When all of it is there to be answered: behind others of its chat, delayed by a fault, or before another try it is
 * not. A virtual clock jumps to that moment, the wall has to wait for it.
 */
function leavesAt({ clock, findDelivery, journal }: Core, deliveryId: string): number {
  const job = findDelivery(deliveryId)
  if (job === null || job.stage.kind === 'sending' || job.stage.kind === 'held') return Number.NEGATIVE_INFINITY
  const dueMs = job.stage.kind === 'scheduled' && clock.mode === 'real' ? job.stage.atMs - clock.now() : 0
  return journal.atMs + Math.max(0, dueMs)
}

/** What a fault still keeps back now is not coming any more. Rejects with `Cut`. */
export async function awaitPendingAcks({ context, signal }: Pick<StepContext, 'context' | 'signal'>): Promise<void> {
  const { plan, core } = context
  const events = core.journal.query({ kind: 'note' }) as RunEventOf<'step_started' | 'step_ended'>[]
  for (const { number } of [...stepsOf([...plan.steps, ...plan.finally])].filter(isAsync)) {
    const begun = events.find(({ note, step }) => note === 'step_started' && step === number)
    const ended = events.find(({ note, step }) => note === 'step_ended' && step === number)
    const id = (ended as RunEventOf<'step_ended'> | undefined)?.delivery_id
    if (!id || core.findDelivery(id)?.stage.kind === 'held') continue
    await awaitAck({ context, signal, startSeq: begun!.seq }, id, ended!.at_ms)
  }
}

const isAsync = ({ action }: PlannedStep) => 'async' in action && action.async && action.ack !== null
