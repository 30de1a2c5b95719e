/** Findings about many chats at once. */

import { counted, formatDuration } from '../../../base/text/quantities.ts'
import type { DriverFailure } from '../../../platform/journal/run-failures.ts'
import { driverFailureText } from '../../../platform/wording/failures.ts'
import { defineFindings } from './define.ts'

export type Direction = 'to_agent' | 'to_user'
/** What every chat must reach: a call, or a text on its other side. */
export type LoadPart = 'start' | 'end' | Direction

export interface LoadFindings {
  readonly 'text-in-other-chat': {
    readonly chats: number
    readonly direction: Direction
    /** Names of chats. */
    readonly from: string
    readonly to: string
    readonly texts: number
  }
  readonly 'lost-under-load': {
    readonly chats: number
    readonly part: LoadPart
    readonly missing: number
    readonly withinMs: number
  }
  readonly 'events-refused-under-load': {
    readonly chats: number
    readonly refused: number
    /** Null: no answer. */
    readonly statuses: readonly (number | null)[]
  }
  readonly 'slow-answers-under-load': {
    readonly chats: number
    readonly slow: number
    readonly slowestMs: number
    readonly limitMs: number
  }
  readonly 'crowd-not-finished': { readonly chats: number; readonly withinMs: number }
  readonly 'driver-failed-under-load': {
    readonly chats: number
    readonly verb: string
    readonly failure: DriverFailure | null
  }
}

const PARTS: Readonly<Record<LoadPart, string>> = {
  start: 'the call start after the agent had accepted',
  end: 'the call end after the agent had left',
  to_agent: "the user's message in what the agent sees",
  to_user: "the agent's message as a call of the platform",
}

export const LOAD_FINDINGS = defineFindings<LoadFindings>({
  'text-in-other-chat': {
    happened: ({ chats, direction, from, to, texts }) =>
      `With ${chats} chats at once, ${counted(texts, 'text')} came to another chat. The first: what the ${
        direction === 'to_user' ? 'agent' : 'user'
      } of the chat "${from}" wrote was sent to the ${direction === 'to_user' ? 'user' : 'agent'} of "${to}".`,
    expected: 'A text is only in the chat in which it was written.',
    next: 'Look for state that all chats share, such as a variable for the current chat. Take chat_id from the event or from the action, and pass it on to the call.',
  },
  'lost-under-load': {
    happened: ({ chats, part, missing, withinMs }) =>
      `With ${chats} chats at once, ${PARTS[part]} was missing in ${missing} of them after ${formatDuration(withinMs)}.`,
    expected: ({ part }) => `Every chat reaches it: ${PARTS[part]}.`,
    next: 'Look for a queue that all chats share, a pool of connections that is too small, and work that is given up when it waits for long.',
  },
  'events-refused-under-load': {
    happened: ({ chats, refused, statuses }) =>
      `With ${chats} chats at once, ${counted(refused, 'event')} had another answer than 200: ${statuses
        .map(status => status ?? 'none')
        .join(', ')}.`,
    expected: 'Every event is answered with 200, also when many come at once.',
    next: 'Look for a limit of requests or connections in the web server, and for a database lock that a request waits for.',
  },
  'slow-answers-under-load': {
    happened: ({ chats, slow, slowestMs, limitMs }) =>
      `With ${chats} chats at once, ${counted(slow, 'acknowledgement')} took longer than ${formatDuration(limitMs)}; the slowest took ${slowestMs} ms.`,
    expected: ({ limitMs }) => `Every event is answered within ${formatDuration(limitMs)} (--ack-limit).`,
    next: 'Answer as soon as the event is stored, and do all other work later.',
  },
  'crowd-not-finished': {
    happened: ({ chats, withinMs }) =>
      `The conversations of ${chats} chats did not end within ${formatDuration(withinMs)}, because the agent driver needs too long for each action, so only a part of them was observed. No text was lost or in another chat until then.`,
    expected: 'The help desk performs the actions of 20 agents at once, and each takes less than a second.',
    next: 'Look at the driver calls of this check, and how long each takes. With a faster help desk, or one for tests, the check observes all of them.',
  },
  'driver-failed-under-load': {
    happened: ({ chats, verb, failure }) =>
      `With ${chats} chats at once, the agent driver failed at ${verb}${failure === null ? '' : `: ${driverFailureText(failure)}`}.`,
    expected: 'The help desk performs the actions of 20 agents at once.',
    next: 'Try the call of the driver by hand while many chats are open. If the help desk limits calls, the driver must wait and repeat them.',
  },
})
