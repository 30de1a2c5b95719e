/** Renders what a failure says was expected, and what an open step waits for. */
import { ENDPOINTS } from '../../contract/endpoints.ts'
import { formatDuration } from '../../text/quantities.ts'
import { defineTexts } from '../../text/texts.ts'
import type { Expected } from '../failure.ts'
import type { Awaited } from '../step-evaluator.ts'
import { differenceText } from './differences.ts'
import {
  type Audience,
  chatText,
  howOften,
  inChat,
  patternText,
  quotedText,
  renderCode,
  requirementText,
  type TextsOf,
  treeText,
  withinText,
} from './parts.ts'

const EXPECTED: TextsOf<Expected> = defineTexts({
  calls: ({ tree, chat, within }) =>
    `expect ${treeText(tree)}${inChat(chat)}${within === null ? '' : ` ${withinText(within)}`}`,
  no_calls: ({ calls, chat, forMs }) =>
    `none ${calls.map(patternText).join(', ')}${inChat(chat)} for ${formatDuration(forMs)}`,
  inbox_item({ item, times, chat, within, forMs }) {
    const bound = within === null ? ` for ${formatDuration(forMs ?? 0)}` : ` ${withinText(within)}`
    return `agent sees ${item} ${howOften(times)}${inChat(chat)}${bound}`
  },
  chat_state: ({ check, chat }) => `check ${check}${inChat(chat)}`,
  call_count({ requirement, chat }) {
    const { times } = requirement
    const once = times.min === 1 && times.max === 1
    return `${requirementText(requirement)}${once ? ` ${howOften(times)}` : ''}${inChat(chat)}`
  },
  step_for_every_call: ({ chat }, audience) =>
    `${audience === 'test' ? 'an expectation' : 'a step'} for every call${inChat(chat)}`,
  no_call_after_end: ({ chat }) => `no call after the end of the scenario${inChat(chat)}`,
  acknowledgement({ event, ack, withinMs }) {
    const answer = ack === 'any' ? 'an answer' : ack === 'non-2xx' ? 'a refusal (no 2xx)' : `status ${ack}`
    return `${answer} from the webhook to ${event ?? 'the event'} within ${formatDuration(withinMs)}`
  },
  step_done: ({ label }) => label,
  end_within: ({ ms }) => `the scenario ends within ${formatDuration(ms)}`,
  own_end: ({ scenario }) => `${scenario} is played to its end`,
  never: ({ pattern }) => `never ${patternText(pattern)}`,
  known_path: 'a path of the platform',
  accepted_call: ({ endpoint }) => `${endpoint} as the platform accepts it: ${ENDPOINTS[endpoint].summary}`,
  no_echo: ({ from, seq, text }) =>
    `the user of ${chatText(from)} never reads ${quotedText(text)} (written in #${seq}) as an agent's message`,
  no_leak: ({ from, seq, text }) =>
    `what the user of ${chatText(from)} wrote (#${seq} ${quotedText(text)}) stays in ${chatText(from)}`,
  chat_of_a_scenario: 'every call belongs to a chat of a scenario',
  no_warning: ({ rule }) => `no warning ${rule}, because of --strict`,
  no_finding: ({ rule }) => `no finding of the platform; allow: [${JSON.stringify(rule)}] permits it`,
  condition: ({ source, withinMs }) => `waitFor ${source} within ${formatDuration(withinMs)}`,
  delivered: ({ event }) => `${event} acknowledged by the webhook`,
  received: ({ call, body, times, not }) =>
    `${not ? 'not ' : ''}${body === null ? call : `${call} ${body}`}${times === null ? '' : ` ${howOften(times)}`}`,
} satisfies TextsOf<Expected>)

export const expectedText = (expected: Expected, audience: Audience): string => renderCode(EXPECTED, expected, audience)

const AWAITED: TextsOf<Awaited> = defineTexts({
  calls({ missing: [first, ...more] }) {
    if (first === undefined) return 'calls'
    return `${requirementText(first)}${more.length > 0 ? ` and ${more.length} more` : ''}`
  },
  silence: ({ forMs, calls }) => `${formatDuration(forMs)} without ${calls.map(patternText).join(', ')}`,
  inbox_item: ({ item }) => `the agent to see ${item}`,
  chat_state: ({ difference }) => (difference === null ? 'the chat' : differenceText(difference)),
} satisfies TextsOf<Awaited>)

/** `message { message: "Hi" } and 1 more` */
export const awaitedText = (awaited: Awaited): string => renderCode(AWAITED, awaited, 'scenario')
