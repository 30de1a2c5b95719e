/**
 * The tries of one event: the first, which a fault may spoil and copy, and the retries. Each is journaled.
 * When they happen and who waits for them is the dispatcher's.
 */
import type { Journal } from '../journal/journal.ts'
import { attemptOnce, type Concluded, nextAttempt, type SendPorts } from './attempt.ts'
import type { HeaderPorts } from './headers.ts'
import { type Job, type JobFaults, SENDING } from './job.ts'
import { wrap } from './parcel.ts'
import { retryDelay } from './policy.ts'
import { faultMarks } from './struck.ts'

export interface TryPorts extends SendPorts, HeaderPorts {
  readonly journal: Journal
  /** Aborts with the next reset. */
  signal(): AbortSignal
  /** A copy is under way beside its event. */
  begin(copy: Job): void
  /** Its next try is due in so many milliseconds of the simulator's clock. */
  later(job: Job, delayMs: number, next: 'send'): void
  /** No try follows. */
  over(job: Job): void
}

export interface Tries {
  next(job: Job): void
  /** What was being sent when a snapshot was taken, with the same number; its copies are jobs of their own by then. */
  again(job: Job): void
}

/** A retry goes out as it should. */
const faultsOf = ({ attempt, faults }: Job): JobFaults | null => (attempt === 1 ? faults : null)

export function createTries(ports: TryPorts): Tries {
  function next(job: Job): void {
    const faults = faultsOf(job)
    send(job, faults)
    if (faults !== null && !job.copy) copy(job, faults)
  }

  function send(job: Job, faults: JobFaults | null): void {
    job.stage = SENDING
    const parcel = faults === null ? job.parcel : wrap(ports, job.parcel, faults.form)
    const conclude = job.copy ? concludeCopy : concludeTry
    void attemptOnce(ports, parcel, ports.signal(), content => conclude(job, content))
  }

  /** Later events do not wait for copies. */
  function copy(job: Job, { copies: { count, gapMs } }: JobFaults): void {
    for (let index = 1; index < count; index++) {
      const one: Job = { ...job, copy: true, laned: false, stage: SENDING }
      ports.begin(one)
      if (gapMs > 0) ports.later(one, gapMs * index, 'send')
      else next(one)
    }
  }

  function concludeCopy(job: Job, content: Concluded): void {
    const attempt = Math.max(2, nextAttempt(ports.journal, job.parcel.deliveryId))
    ports.journal.append({ ...content, attempt, ...faultMarks(job.faults!), duplicate: true }, job.seq)
    ports.over(job)
  }

  function concludeTry(job: Job, content: Concluded): void {
    const retryIn = content.outcome === 'failed' ? retryDelay(ports.knobs(), job.attempt) : null
    const again = retryIn === null ? {} : { retry_in_ms: retryIn }
    const faults = faultsOf(job)
    const marks = faults === null ? {} : faultMarks(faults)
    ports.journal.append({ ...content, attempt: numberOf(job), ...marks, ...again }, job.seq)
    if (retryIn === null) return ports.over(job)
    job.attempt++
    ports.later(job, retryIn, 'send')
  }

  /** Somebody may have sent it by hand in between. */
  const numberOf = ({ attempt, parcel }: Job): number =>
    attempt === 1 ? 1 : Math.max(attempt, nextAttempt(ports.journal, parcel.deliveryId))

  return { next, again: job => send(job, faultsOf(job)) }
}
