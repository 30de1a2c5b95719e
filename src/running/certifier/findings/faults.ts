/** Findings about faults of the platform's API. */
import { counted, formatDuration } from '../../../base/text/quantities.ts'
import { defineFindings } from './define.ts'

/** slow: the answer came late. refused: the call was refused at first. lost: the answer never came. */
export type FaultKind = 'slow' | 'refused' | 'lost'

export interface FaultFindings {
  readonly 'message-missing': {
    readonly chat: string
    readonly text: string
    readonly fault: FaultKind
    readonly withinMs: number
  }
  readonly 'message-repeated': {
    readonly text: string
    readonly fault: FaultKind
    readonly times: number
    readonly atMost: number
  }
  readonly 'other-chat-blocked': { readonly slowMs: number }
  readonly 'call-given-up': {
    readonly endpoint: string
    readonly status: number
    readonly calls: number
    readonly withinMs: number
  }
  readonly 'retry-too-early': {
    readonly endpoint: string
    readonly waitedMs: number
    readonly retryAfterMs: number
  }
  readonly 'messages-reordered': { readonly fault: string }
  readonly 'key-refused-repeatedly': {
    readonly endpoint: string
    readonly calls: number
    readonly overMs: number
    readonly atMost: number
  }
  readonly 'not-recovered': { readonly withinMs: number }
  readonly 'lost-answer': { readonly times: number }
}

const CAUSES: Readonly<Record<FaultKind, string>> = {
  slow: 'while the platform answered one call slowly',
  refused: 'after the platform had refused the call at first',
  lost: 'after the answer to one call was lost',
}

const REPEAT_ADVICE: Readonly<Record<FaultKind, string>> = {
  slow: 'Wait at least 15 s for an answer before the call is made again: a call that was not answered yet may still be processed.',
  refused:
    'Look for two places that repeat the same call, such as an HTTP client with retries below an outbox with retries.',
  lost: 'Stop at the first answer with status 200, also when an earlier attempt had no answer.',
}

export const FAULT_FINDINGS = defineFindings<FaultFindings>({
  'message-missing': {
    happened: ({ chat, text, fault, withinMs }) =>
      `The user of the chat "${chat}" did not see the agent's message ${JSON.stringify(text)} within ${formatDuration(withinMs)}, ${CAUSES[fault]}.`,
    expected: 'Every message of the agent reaches the user, and each chat has its own queue.',
    next: 'Look for the call in the log of the intermediary. A call without an answer must be made again, and the calls after it must not be dropped.',
  },
  'message-repeated': {
    happened: ({ text, fault, times }) =>
      `The user saw the agent's message ${JSON.stringify(text)} ${times} times, ${CAUSES[fault]}.`,
    expected: ({ atMost }) => `The user sees it ${atMost === 1 ? 'once' : `at most ${counted(atMost, 'time')}`}.`,
    next: ({ fault }) => REPEAT_ADVICE[fault],
  },
  'other-chat-blocked': {
    happened: ({ slowMs }) =>
      `A message in one chat waited for the call of another chat, which the platform answered after ${formatDuration(slowMs)}.`,
    expected: 'A slow call delays only later calls of the same chat.',
    next: 'Use one queue of calls per chat. One queue, one lock or one connection for all chats lets every user wait for the slowest.',
  },
  'call-given-up': {
    happened: ({ endpoint, status, calls, withinMs }) =>
      `${endpoint} did not succeed within ${formatDuration(withinMs)} after the platform had answered it with ${status}: the intermediary made ${counted(calls, 'call')} in all.`,
    expected: 'A call that is answered with 429 or 503 is made again until it succeeds.',
    next: 'Repeat calls after 429, 5xx and no answer, with growing pauses (0.5 s, 1 s, 2 s ...) or after Retry-After, and keep later calls of the chat waiting.',
  },
  'retry-too-early': {
    happened: ({ endpoint, waitedMs, retryAfterMs }) =>
      `${endpoint} was made again ${waitedMs} ms after an answer of 429 with Retry-After: ${retryAfterMs / 1000}.`,
    expected: ({ retryAfterMs }) =>
      `The next call of this chat comes ${formatDuration(retryAfterMs)} later at the earliest.`,
    next: 'Read the header Retry-After of an answer with 429 or 503: seconds or an HTTP date. Wait that long before any further call of the chat.',
  },
  'messages-reordered': {
    happened: ({ fault }) =>
      `The user saw the second message of the agent before the first, which the platform had refused at first (${fault}).`,
    expected: 'The user sees the messages in the order in which the agent wrote them.',
    next: 'Keep the later calls of a chat waiting while an earlier one is being repeated.',
  },
  'key-refused-repeatedly': {
    happened: ({ endpoint, calls, overMs }) =>
      `The intermediary made ${counted(calls, 'call')} in one chat within ${overMs} ms, beginning with ${endpoint}, although each was answered with 401.`,
    expected: ({ atMost }) => `At most ${counted(atMost, 'call')} per chat while the key is refused.`,
    next: 'Do not repeat a call that is answered with 401: report it to the agent and to the operator, and make the next call when an agent acts again.',
  },
  'not-recovered': {
    happened: ({ withinMs }) =>
      `After the platform accepted the key again, a new request for an agent led to no start within ${formatDuration(withinMs)} after the agent had accepted.`,
    expected: 'The intermediary works again as soon as the platform accepts its key.',
    next: 'Do not store that the key is wrong: try the key again with the next action of an agent.',
  },
  'lost-answer': {
    happened: ({ times }) =>
      times === 1
        ? 'The answer to a message was lost, and the intermediary did not make the call again: the user saw the message once.'
        : 'The answer to a message was lost, and the intermediary made the call again: the user saw the message twice.',
    expected: 'Both are correct: no field makes a message idempotent, so a caller can repeat it or give it up.',
    next: 'Choose by what is worse for your users: a message that is missing when the call was lost, or one that is shown twice.',
  },
})
