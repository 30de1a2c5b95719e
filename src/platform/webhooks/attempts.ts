/** Sends the attempts of one event, the first with its copies and then the retries, and journals the outcome of each. */
import type { Journal } from '../journal/journal.ts'
import { type AttemptEnd, DeliveryAttempt, type SendPorts } from './delivery-attempt.ts'
import { type DeliveryMarks, DeliveryRecord } from './delivery-record.ts'
import { faultyRequest } from './faulty-request.ts'
import { copyOf, type Job, type JobFaults, SENDING } from './job.ts'
import type { RequestPorts } from './request.ts'

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
}

/** Faults change the first attempt; a retry is a valid request. */
const faultsOf = ({ attempt, faults }: Job): JobFaults | null => (attempt === 1 ? faults : null)

export function createAttempts(ports: AttemptPorts): Attempts {
  const end: AttemptEnd<Job> = {
    conclude({ of: job, request }, sent, durationMs) {
      const record = (attempt: number, marks?: DeliveryMarks) =>
        ports.journal.appendSource(new DeliveryRecord(request, sent, durationMs, attempt, marks), job.seq)
      if (job.copy) concludeCopy(job, record)
      else concludeAttempt(job, sent.outcome.outcome === 'failed', record)
    },
    aborted() {},
    failed({ of: job, signal }, error) {
      ports.onThrown('delivery', error)
      if (!signal.aborted) ports.finish(job)
    },
  }

  function send(job: Job): void {
    sendOnce(job)
    const faults = faultsOf(job)
    if (faults !== null && !job.copy) sendCopies(job, faults)
  }

  function sendOnce(job: Job): void {
    job.phase = SENDING
    const faults = faultsOf(job)
    const request = faults === null ? job.request : faultyRequest(ports, job.request, faults.form)
    new DeliveryAttempt(ports, request, ports.signal(), job, end).send()
  }

  function sendCopies(job: Job, { copies: { count, gapMs } }: JobFaults): void {
    for (let index = 1; index < count; index++) {
      const copy = copyOf(job)
      ports.begin(copy)
      if (gapMs > 0) ports.sendLater(copy, gapMs * index)
      else sendOnce(copy)
    }
  }

  function concludeCopy(job: Job, record: (attempt: number, marks: DeliveryMarks) => void): void {
    const attempt = Math.max(2, nextAttempt(ports.journal, job.request.deliveryId))
    record(attempt, { duplicate: true, ...marksOf(job) })
    ports.finish(job)
  }

  function concludeAttempt(
    job: Job,
    hasFailed: boolean,
    record: (attempt: number, marks?: DeliveryMarks) => void,
  ): void {
    const retryIn = hasFailed ? retryDelay(job) : null
    if (retryIn === null) record(numberOf(job), marksOf(job))
    else record(numberOf(job), { ...marksOf(job), retry_in_ms: retryIn })
    if (retryIn === null) return ports.finish(job)
    job.attempt++
    ports.sendLater(job, retryIn)
  }

  /** Null after the last attempt. */
  const retryDelay = ({ attempt }: Job): number | null => ports.knobs()['webhook.retry'][attempt - 1] ?? null

  /** A manual attempt may have taken the number. */
  const numberOf = ({ attempt, request }: Job): number =>
    attempt === 1 ? 1 : Math.max(attempt, nextAttempt(ports.journal, request.deliveryId))

  return { send }
}

function marksOf(job: Job): Pick<DeliveryMarks, 'faults' | 'sign'> | undefined {
  const applied = faultsOf(job)
  if (applied === null) return undefined
  const { faults, form } = applied
  return form.sign === 'valid' ? { faults } : { faults, sign: form.sign }
}

/** Retries and manual attempts of one delivery are numbered together. */
export function nextAttempt(journal: Journal, deliveryId: string): number {
  const attempts = journal.query({ kind: 'delivery' }).filter(entry => entry.delivery_id === deliveryId)
  return Math.max(0, ...attempts.map(({ attempt }) => attempt)) + 1
}
