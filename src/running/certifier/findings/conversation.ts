/** Findings about a handover and its messages. */

import { counted, formatDuration } from '../../../base/text/quantities.ts'
import type { LintFinding } from '../../../evaluation/linter/rule.ts'
import { findingText } from '../../../evaluation/linter/texts.ts'
import type { TextDirection } from '../exchange.ts'
import { adviceFor, differenceInWords, type TextDifference } from '../text-difference.ts'
import { defineFindings } from './define.ts'

interface AboutText {
  readonly direction: TextDirection
  /** Of the sample: `an emoji`. */
  readonly name: string
}

export interface ConversationFindings {
  readonly 'text-missing': AboutText & { readonly withinMs: number }
  readonly 'text-changed': AboutText & { readonly difference: TextDifference }
  readonly 'text-repeated': AboutText & { readonly times: number }
  readonly 'text-order': {
    readonly direction: TextDirection
    readonly expected: readonly string[]
    readonly received: readonly string[]
  }
  readonly 'sender-missing': { readonly missing: readonly string[]; readonly calls: number }
  readonly 'end-repeated': { readonly times: number; readonly afterMs: number }
  readonly 'call-after-end': { readonly endpoint: string; readonly afterMs: number }
  readonly 'second-request-unseen': { readonly withinMs: number }
  /** A rule of the linter that all calls must keep. */
  readonly lint: {
    readonly finding: LintFinding
    /** Further calls with the same mistake. */
    readonly more: number
  }
  readonly 'path-form': { readonly form: 'takeover' | 'slash'; readonly path: string; readonly calls: number }
}

const readerOf = ({ direction }: { readonly direction: TextDirection }) =>
  direction === 'to_agent' ? 'The agent' : 'The user'

export const CONVERSATION_FINDINGS = defineFindings<ConversationFindings>({
  'text-missing': {
    happened: about =>
      about.direction === 'to_agent'
        ? `The agent does not see ${about.name}, which the user wrote, within ${formatDuration(about.withinMs)}.`
        : `No message call had ${about.name}, which the agent wrote, within ${formatDuration(about.withinMs)}.`,
    expected: ({ direction }) =>
      direction === 'to_agent'
        ? 'The agent sees every message of the user (WH4).'
        : 'Every message of the agent reaches the user by a call of message (E6).',
    next: ({ direction }) =>
      direction === 'to_agent'
        ? 'Look whether the event MESSAGE FROM USER arrived, was acknowledged, and was stored for this chat.'
        : 'Look whether the help desk reported the message to the intermediary, and whether the call failed.',
  },
  'text-changed': {
    happened: about => `${readerOf(about)} got ${about.name} changed, ${differenceInWords(about.difference)}.`,
    expected: about => `${readerOf(about)} gets every character of ${about.name} as it was sent.`,
    next: ({ difference }) => adviceFor(difference),
  },
  'text-repeated': {
    happened: about => `${readerOf(about)} got ${about.name} ${counted(about.times, 'time')}; it was sent once.`,
    expected: 'Each message arrives once.',
    next: 'Look for a handler that is registered twice, or a repetition of a call that had succeeded.',
  },
  'text-order': {
    happened: about =>
      `${readerOf(about)} got ${about.received.join(', ')}; the order was ${about.expected.join(', ')}.`,
    expected: 'Messages arrive in the order in which they were written.',
    next: 'Handle the messages of one chat one after the other: begin a call when the one before was answered.',
  },
  'sender-missing': {
    happened: ({ missing, calls }) => `${counted(calls, 'message call')} had no ${missing.join(' and no ')}.`,
    expected: 'sender.name and sender.avatar are set, so that the user sees a person and not the bot (R-SENDER.3).',
    next: 'Send `sender: { name, avatar }` with every message, with a default picture when the agent has none.',
  },
  'end-repeated': {
    happened: ({ times, afterMs }) =>
      `end was called ${counted(times, 'time')} after the agent left, the last ${formatDuration(afterMs)} after the first.`,
    expected: 'end is called once: a second one could end a new handover of the same chat.',
    next: 'Call end only when it ends a handover that is open, and repeat it only when it was not answered with 2xx.',
  },
  'call-after-end': {
    happened: ({ endpoint, afterMs }) =>
      `${endpoint} was called ${formatDuration(afterMs)} after end, when the bot answers again.`,
    expected: 'After end the intermediary does nothing in the chat until the user asks for an agent again (W2).',
    next: 'Send a farewell before end, and discard what waits in a queue for the chat when its handover ends.',
  },
  'second-request-unseen': {
    happened: ({ withinMs }) =>
      `The agent does not see the second request of the same chat within ${formatDuration(withinMs)}; the first was visible.`,
    expected: 'A user can ask for an agent again after a handover has ended, in the same chat.',
    next: 'Open a new conversation when the one of this chat id is closed: a chat id is not used only once.',
  },
  lint: {
    happened: ({ finding, more }) =>
      `${findingText(finding)}${more === 0 ? '' : ` So ${more === 1 ? 'is' : 'are'} ${counted(more, 'more call')}.`}`,
    expected: ({ finding: { rule } }) => EXPECTED[rule] ?? EXPECTED.other,
    next: ({ finding: { rule } }) => `The rule and the fix are described in docs/lint.md#${rule}.`,
  },
  'path-form': {
    happened: ({ form, path, calls }) => `${counted(calls, 'call')} used the ${FORMS[form]}, such as ${path}.`,
    expected:
      'Both forms are accepted. The documented one is api/v2/handover/, with a slash at the end only of message/.',
    next: 'Nothing must be changed. Build all paths from one base if the calls use several forms.',
  },
})

const FORMS = { takeover: 'former name takeover', slash: 'other form of the slash at the end' }

const EXPECTED: Readonly<Record<string, string>> & { readonly other: string } = {
  'content-type': 'Every call has Content-Type: application/json (E0.2).',
  'unknown-fields': 'Calls have only the documented fields (ER1).',
  'secret-exposed': 'Keys and signatures are only in headers: no text, address or answer contains them.',
  other: 'Calls are as the platform describes them.',
}
