/** Findings about events that come twice, late, or in another order. */
import { type AnswerDetails, answerText } from './acknowledgement.ts'
import { defineFindings } from './define.ts'

/** When the request came again. */
type Phase = 'pending' | 'taken over'

export interface DeliveryFindings {
  readonly 'redelivery-refused': AnswerDetails & { readonly event: string }
  readonly 'conversation-repeated': { readonly phase: Phase; readonly requests: number }
  readonly 'start-repeated': { readonly phase: Phase; readonly starts: number }
  readonly 'repeated-text-lost': { readonly text: string; readonly sent: number; readonly seen: number }
  readonly 'redelivered-text-lost': { readonly text: string }
  readonly 'overtaken-text-lost': { readonly lost: readonly string[]; readonly delayMs: number }
  readonly 'late-message-starts-call': { readonly call: string }
}

const WHEN: Readonly<Record<Phase, string>> = {
  pending: 'REQUESTING TAKEOVER was delivered twice, 50 ms apart',
  'taken over': 'REQUESTING TAKEOVER was delivered again while an agent had the chat',
}

export const DELIVERY_FINDINGS = defineFindings<DeliveryFindings>({
  'redelivery-refused': {
    happened: ({ event, ...answer }) => `The webhook ${answerText(answer)} to the second copy of ${event}.`,
    expected: 'It answers 200 to every copy. Otherwise the platform may send the event once more.',
    next: 'Answer 200 when an event is recognized as a copy: it was received, and nothing more has to be done.',
  },
  'conversation-repeated': {
    happened: ({ phase, requests }) => `${WHEN[phase]}, and the agent sees ${requests} requests.`,
    expected: 'The agent sees one request: one chat has one conversation at a time.',
    next: 'Look up the conversation by `chat.id` before one is opened. While it is pending or taken over, a further request is a copy or an impatient user, and changes nothing.',
  },
  'start-repeated': {
    happened: ({ phase, starts }) => `${WHEN[phase]}, and \`start\` was called ${starts} times.`,
    expected: 'The intermediary calls `start` once. The user reads the entering text with each.',
    next: 'Store that a chat is taken over, and check it before `start` in the same step, so that two copies at once cannot both pass.',
  },
  'repeated-text-lost': {
    happened: ({ text, sent, seen }) =>
      `The user wrote "${text}" ${sent} times, and the agent sees it ${seen === 0 ? 'never' : seen === 1 ? 'once' : `${seen} times`}.`,
    expected: 'The agent sees every message, also when a user writes the same text twice.',
    next: 'Do not recognize copies of MESSAGE FROM USER by their content: the payload has no id and no time, so a copy and a repeated text are equal. A doubled message is better than a lost one.',
  },
  'redelivered-text-lost': {
    happened: ({ text }) => `The message "${text}" was delivered twice, and the agent does not see it.`,
    expected: 'The agent sees a message that is delivered twice at least once.',
    next: 'Look in the log for the second copy: it may undo or replace the first.',
  },
  'overtaken-text-lost': {
    happened: ({ lost, delayMs }) =>
      `A message was delivered ${delayMs} ms after a later one, and the agent does not see ${lost.map(text => `"${text}"`).join(' and ')}.`,
    expected: 'The agent sees both messages. The order of deliveries is not stated.',
    next: 'Use the text of each event. Code that reads the latest message from the transcript, or expects events in order, loses those that come late.',
  },
  'late-message-starts-call': {
    happened: ({ call }) => `The intermediary made ${call} after a message that came when the handover was over.`,
    expected: 'It makes no `start`, `message` or `typing_start`: the bot answers the user again.',
    next: 'Show the late message to an agent, or drop it. Only a new REQUESTING TAKEOVER begins a handover.',
  },
})
