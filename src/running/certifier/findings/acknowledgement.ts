/** Findings about how the webhook answers, and how soon. */

import { formatDuration } from '../../../base/text/quantities.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { DeliveryFailure, EntryOf } from '../../../platform/journal/entry.ts'
import { failureText } from '../../../platform/wording/failures.ts'
import { defineFindings } from './define.ts'

/** The answer to an event; `status` is null when there was none. */
export interface AnswerDetails {
  readonly status: number | null
  readonly failure: DeliveryFailure | null
}

export const answerDetails = ({ status, failure }: EntryOf<'delivery'>): AnswerDetails => ({
  status,
  failure: failure ?? null,
})

/** Follows "the webhook". */
export const answerText = ({ status, failure }: AnswerDetails): string => {
  if (status !== null) return `answered ${status}`
  return failure === null ? 'gave no answer' : `gave no answer (${failureText(failure)})`
}

export interface AcknowledgementFindings {
  /** Of several events at once, these took longer than the limit. */
  readonly 'acknowledged-late': {
    readonly event: string
    readonly slowestMs: number
    readonly limitMs: number
    readonly late: number
    readonly of: number
  }
  /** Acknowledgements take longer than the limit when answers of the API are slow. */
  readonly 'acknowledgement-waits': {
    readonly event: string
    readonly slowestMs: number
    readonly usualMs: number
    readonly latencyMs: number
    readonly limitMs: number
  }
  /** A call was made and answered before the event that causes it was acknowledged. */
  readonly 'called-before-acknowledgement': {
    readonly event: string
    readonly call: string
    readonly calls: number
    readonly ackMs: number
    /** What the calls took of it. */
    readonly costMs: number
  }
  /** The platform repeated an event, because it was not acknowledged in time. */
  readonly 'sent-again': {
    readonly event: string
    readonly timeoutMs: number
    readonly retryMs: number
    readonly attempts: number
  }
  /** A request that is no event was not refused. */
  readonly 'malformed-request': AnswerDetails & { readonly variant: string }
}

const FIRST_STORE =
  'Store the event, answer 200, and do everything else after that: put the work into a queue or a background task, and do not await it in the handler.'

export const ACKNOWLEDGEMENT_FINDINGS = defineFindings<AcknowledgementFindings>({
  'acknowledged-late': {
    happened: ({ event, slowestMs, limitMs, late, of }) =>
      `Of ${of} events at once, ${late} ${late === 1 ? 'was' : 'were'} not acknowledged within ${formatDuration(limitMs)}. The slowest was ${event}, with ${formatMs(slowestMs)}.`,
    expected: ({ limitMs }) =>
      `Every event is acknowledged within ${formatDuration(limitMs)}. A platform that waits longer gives up, and may send the event again.`,
    next: `${FIRST_STORE} If only some events are late, look for a lock or a connection pool that they wait for.`,
  },
  'acknowledgement-waits': {
    happened: ({ event, slowestMs, usualMs, latencyMs }) =>
      `While every answer of the API took ${formatDuration(latencyMs)}, ${event} was acknowledged after ${formatMs(slowestMs)}. Usually it takes ${formatMs(usualMs)}.`,
    expected: ({ limitMs }) =>
      `An event is acknowledged within ${formatDuration(limitMs)}, however slow the API is: the answer does not wait for calls.`,
    next: FIRST_STORE,
  },
  'called-before-acknowledgement': {
    happened: ({ event, call, calls, ackMs, costMs }) =>
      `The intermediary made ${calls === 1 ? '' : `${calls} calls, first `}${call} before it answered ${event}. ${calls === 1 ? 'That call' : 'They'} took ${formatMs(costMs)} of the ${formatMs(ackMs)} until the answer.`,
    expected: 'The webhook answers first, and the intermediary calls the API after that.',
    next: `${FIRST_STORE} A platform that waits for the webhook before it serves the chat never answers such a call.`,
  },
  'sent-again': {
    happened: ({ event, timeoutMs, retryMs, attempts }) =>
      `${event} was not acknowledged within ${formatDuration(timeoutMs)}, so the platform sent it again ${formatDuration(retryMs)} later. The intermediary received it ${attempts} times.`,
    expected: ({ timeoutMs }) =>
      `An event is acknowledged within ${formatDuration(timeoutMs)}, also while the API is slow, so that no event arrives twice.`,
    next: `${FIRST_STORE} Events have no id: the second copy looks like a new event, and cannot be recognized for certain.`,
  },
  'malformed-request': {
    happened: answer => `The webhook ${answerText(answer)} to ${answer.variant}.`,
    expected: 'It answers with a status from 400 to 499.',
    next: ({ status }) =>
      status !== null && status < 400
        ? 'Refuse what is not an event: 405 for another method, 415 for another content type, 400 for a body that is not JSON. An answer of 200 hides mistakes of the sender.'
        : 'Catch the error of the parser, and answer 400. An uncaught exception can end the process, and every chat with it.',
  },
})
