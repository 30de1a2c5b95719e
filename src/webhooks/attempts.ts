/** Sends the attempts of one event, the first with its copies and then the retries, and journals each. */
import type { Journal } from '../journal/journal.ts'
import { faultyRequest } from './faulty-request.ts'
import { copyOf, faultFields, type Job, type JobFaults, SENDING } from './job.ts'
import type { RequestPorts } from './request.ts'
import { type AttemptContent, nextAttempt, type SendPorts, sendRequest } from './send.ts'

export interface AttemptPorts extends SendPorts, RequestPorts {
  readonly journal: Journal
  /** Aborts with the next reset. */
  signal(): AbortSignal
  /** Called for each copy before it is sent. */
  begin(copy: Job): void
  /** Sends the next attempt after so many milliseconds of the simulator's clock. */
  sendLater(job: Job, delayMs: number): void
  /** Called when no further attempt follows. */
  finish(job: Job): void
}

export interface Attempts {
  /** Sends the next attempt; the first one together with its copies. */
  send(job: Job): void
  /** Sends the attempt that a snapshot interrupted, with the same number. Its copies are jobs of the snapshot. */
  resume(job: Job): void
}

/** Faults change the first attempt; a retry is a valid request. */
const faultsOf = ({ attempt, faults }: Job): JobFaults | null => (attempt === 1 ? faults : null)

export function createAttempts(ports: AttemptPorts): Attempts {
  function send(job: Job): void {
    resume(job)
    const faults = faultsOf(job)
    if (faults !== null && !job.copy) sendCopies(job, faults)
  }

  function resume(job: Job): void {
    job.phase = SENDING
    const faults = faultsOf(job)
    const request = faults === null ? job.request : faultyRequest(ports, job.request, faults.form)
    const conclude = job.copy ? concludeCopy : concludeAttempt
    void sendRequest(ports, request, ports.signal(), content => conclude(job, content))
  }

  function sendCopies(job: Job, { copies: { count, gapMs } }: JobFaults): void {
    for (let index = 1; index < count; index++) {
      const copy = copyOf(job)
      ports.begin(copy)
      if (gapMs > 0) ports.sendLater(copy, gapMs * index)
      else resume(copy)
    }
  }

  function concludeCopy(job: Job, content: AttemptContent): void {
    const attempt = Math.max(2, nextAttempt(ports.journal, job.request.deliveryId))
    ports.journal.append({ ...content, attempt, ...fieldsOf(job), duplicate: true }, job.seq)
    ports.finish(job)
  }

  function concludeAttempt(job: Job, content: AttemptContent): void {
    const retryIn = content.outcome === 'failed' ? retryDelay(job) : null
    const retry = retryIn === null ? {} : { retry_in_ms: retryIn }
    ports.journal.append({ ...content, attempt: numberOf(job), ...fieldsOf(job), ...retry }, job.seq)
    if (retryIn === null) return ports.finish(job)
    job.attempt++
    ports.sendLater(job, retryIn)
  }

  /** Null after the last attempt. */
  const retryDelay = ({ attempt }: Job): number | null => ports.knobs()['webhook.retry'][attempt - 1] ?? null

  /** A manual attempt may have taken the number. */
  const numberOf = ({ attempt, request }: Job): number =>
    attempt === 1 ? 1 : Math.max(attempt, nextAttempt(ports.journal, request.deliveryId))

  return { send, resume }
}

function fieldsOf(job: Job) {
  const faults = faultsOf(job)
  return faults === null ? {} : faultFields(faults)
}
