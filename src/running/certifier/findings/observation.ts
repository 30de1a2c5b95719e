/** Findings that any check can have: what prevents it from observing anything, and what its control event shows. */

import { formatDuration } from '../../../base/text/quantities.ts'
import type { DeliveryFailure } from '../../../platform/journal/entry.ts'
import type { DriverFailure, TargetFailure } from '../../../platform/journal/run-failures.ts'
import { driverFailureText, failureText, targetFailureText } from '../../../platform/wording/failures.ts'
import { defineFindings } from './define.ts'

export interface ObservationFindings {
  /** The webhook gave no answer to an event. */
  readonly 'no-answer': { readonly event: string; readonly failure: DeliveryFailure | null }
  /** A valid event was not answered with 200. */
  readonly 'event-refused': { readonly event: string; readonly status: number }
  /** After what the check had sent, a valid event was not answered with 200. */
  readonly 'control-refused': { readonly event: string; readonly status: number | null }
  /** The process ended by itself. `after`: the event or verb before; null when there was none. */
  readonly 'target-ended': {
    readonly after: string | null
    readonly failure: TargetFailure
    readonly output: string
  }
  readonly 'driver-failed': { readonly verb: string; readonly failure: DriverFailure | null }
  /** The platform refused a call, because it breaks the contract. */
  readonly 'call-refused': {
    readonly method: string
    readonly path: string
    readonly status: number
    readonly error: string | null
    readonly message: string | null
    readonly calls: number
  }
  readonly 'call-missing': { readonly endpoint: string; readonly after: string; readonly withinMs: number }
}

/** The end of an output, where the exception is. */
const OUTPUT_LINES = 8

/** In one line, because reports show findings as sentences. */
const endOf = (output: string): string =>
  output
    .trim()
    .split(/\s*\n\s*/)
    .slice(-OUTPUT_LINES)
    .join(' | ')

export const OBSERVATION_FINDINGS = defineFindings<ObservationFindings>({
  'no-answer': {
    happened: ({ event, failure }) =>
      `The webhook gave no answer to ${event}${failure === null ? '' : `: ${failureText(failure)}`}.`,
    expected: 'It answers every event.',
    next: 'Look in the log of the intermediary for an exception at that moment. A handler that throws must still answer.',
  },
  'event-refused': {
    happened: ({ event, status }) => `The webhook answered ${status} to a validly signed ${event}.`,
    expected: 'It answers exactly 200 (WH2).',
    next: ({ status }) =>
      status === 401 || status === 403
        ? 'The signature is refused: compare the key, and verify the raw bytes of the body, not a parsed copy.'
        : 'Answer 200 as soon as the event is stored, also when its content is not used.',
  },
  'control-refused': {
    happened: ({ event, status }) =>
      `A validly signed ${event} after this check was ${status === null ? 'not answered' : `answered with ${status}`}.`,
    expected: 'The intermediary still answers 200 to valid events after bad ones.',
    next: 'Look for a crash, a closed server, or a block list that a bad event has filled.',
  },
  'target-ended': {
    happened: ({ after, failure, output }) =>
      `The intermediary ended by itself${after === null ? '' : ` after ${after}`}: ${targetFailureText(failure)}.${
        output === '' ? '' : ` Its last output: ${endOf(output)}`
      }`,
    expected: 'It keeps running, whatever it receives. A bad event costs one answer, and not the chats of everybody.',
    next: 'Look in its last output for the exception, catch it where the event is handled, and answer the request.',
  },
  'driver-failed': {
    happened: ({ verb, failure }) =>
      `The agent driver failed at ${verb}${failure === null ? '' : `: ${driverFailureText(failure)}`}.`,
    expected: 'The agent driver performs every verb for a chat that the intermediary knows.',
    next: 'Try the call of the driver by hand. If it names a chat that is unknown, the request did not reach the help desk.',
  },
  'call-refused': {
    happened: ({ method, path, status, message, calls }) =>
      `${method} ${path} was answered with ${status}${message === null ? '.' : `: ${message}`}${calls > 1 ? ` So were ${calls - 1} more such calls.` : ''}`,
    expected: 'Every call has a documented path, the bearer key, JSON, and fields of the documented types.',
    next: ({ status, error }) =>
      status === 401 || status === 403
        ? 'Send `Authorization: Bearer <key>` with the key of the handover settings, in every call.'
        : error?.endsWith('_not_found')
          ? 'Take bot_id and chat_id from the event, and build the path from the base URL and the documented path.'
          : 'Compare the call with docs/endpoints.md, field by field.',
  },
  'call-missing': {
    happened: ({ endpoint, after, withinMs }) =>
      `No ${endpoint} came within ${formatDuration(withinMs)} after ${after}.`,
    expected: ({ endpoint }) => `The intermediary calls ${endpoint}.`,
    next: 'Look at the entries of this check: whether the event was answered, and whether a call to the platform failed.',
  },
})
