/** Findings about restarts of the intermediary. */

import { formatDuration } from '../../../base/text/quantities.ts'
import type { DriverFailure, StepFailure } from '../../../platform/journal/run-failures.ts'
import { driverFailureText, stepFailureText } from '../../../platform/wording/failures.ts'
import { defineFindings } from './define.ts'

/** kill: SIGKILL. stop: SIGTERM. */
export type Restart = 'kill' | 'stop'

export interface RestartFindings {
  /** After a restart, the agent acted, and the call did not come. */
  readonly 'lost-by-restart': {
    readonly how: Restart
    readonly verb: string
    readonly endpoint: 'start' | 'message' | 'end'
    readonly withinMs: number
    /** Of the agent driver; null when it succeeded. */
    readonly failure: DriverFailure | null
  }
  readonly 'message-lost-by-restart': { readonly how: Restart; readonly text: string; readonly withinMs: number }
  readonly 'not-restarted': { readonly how: Restart; readonly failure: StepFailure }
}

const SIGNALS: Readonly<Record<Restart, string>> = { kill: 'kill -9', stop: 'SIGTERM' }

const SITUATIONS = {
  start: 'The user had asked for an agent before the restart, and the event was answered with 200.',
  message: 'The chat was taken over before the restart.',
  end: 'The chat was taken over before the restart, and the agent wanted to leave after it: until end comes, the user has neither an agent nor a bot.',
}

const STORE = 'Store requests and open conversations on disk or in a database before the webhook answers 200'

export const RESTART_FINDINGS = defineFindings<RestartFindings>({
  'lost-by-restart': {
    happened: ({ how, verb, endpoint, withinMs, failure }) =>
      `After a restart with ${SIGNALS[how]}, ${endpoint} did not come: ${
        failure === null
          ? `the agent driver performed ${verb}, and no call followed within ${formatDuration(withinMs)}`
          : `the agent driver failed at ${verb}, ${driverFailureText(failure)}`
      }. ${SITUATIONS[endpoint]}`,
    expected: ({ endpoint }) => `The conversation continues after the restart, and ${endpoint} comes.`,
    next: ({ how }) =>
      how === 'kill'
        ? `${STORE}, and read them when the program starts. Nothing runs after kill -9, so a handler of signals is not enough.`
        : `${STORE}, and read them when the program starts. At SIGTERM, finish the requests that have begun.`,
  },
  'message-lost-by-restart': {
    happened: ({ how, text, withinMs }) =>
      `The user wrote ${JSON.stringify(text)}, the event was answered with 200, and the intermediary was restarted with ${SIGNALS[how]}. The agent did not see the text within ${formatDuration(withinMs)} after that.`,
    expected: 'The agent sees every message whose event was answered with 200.',
    next: `${STORE}: the platform does not send an event again that was answered with 200.`,
  },
  'not-restarted': {
    happened: ({ how, failure }) =>
      `The intermediary did not start again after ${SIGNALS[how]}: ${stepFailureText(failure)}`,
    expected: 'It starts again with what it has stored, also after kill -9.',
    next: 'Look for a lock, a port or a half-written file that the ended process left behind, and for a time limit of the driver that is too short.',
  },
})
