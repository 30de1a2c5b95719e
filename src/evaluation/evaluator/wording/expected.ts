/** Renders what a failure says was expected, and how what was received differs from it. */

import { formatDuration } from '../../../base/text/quantities.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { failureText } from '../../../platform/wording/failures.ts'
import type { DifferenceNote } from '../difference-notes.ts'
import type { Expected, NearMiss, NearMissSubject, Obstacle } from '../failure.ts'
import type { Difference } from '../match.ts'
import type { Awaited } from '../step-evaluator.ts'
import {
  type Audience,
  callText,
  chatText,
  howOften,
  inChat,
  itemText,
  patternName,
  patternText,
  quotedText,
  renderCode,
  requirementText,
  seconds,
  type TextsOf,
  treeText,
  withinText,
} from './parts.ts'

const EXPECTED: TextsOf<Expected> = {
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
  quick_pattern: ({ pattern }) => `a pattern that is quick on any text: ${patternName(pattern)}`,
  complete_journal: 'a journal with every entry since the beginning',
  no_internal_error: 'no internal error of handover-sim',
} satisfies TextsOf<Expected>

export const expectedText = (expected: Expected, audience: Audience): string => renderCode(EXPECTED, expected, audience)

const AWAITED: TextsOf<Awaited> = {
  calls({ missing: [first, ...more] }) {
    if (first === undefined) return 'calls'
    return `${requirementText(first)}${more.length > 0 ? ` and ${more.length} more` : ''}`
  },
  silence: ({ forMs, calls }) => `${formatDuration(forMs)} without ${calls.map(patternText).join(', ')}`,
  inbox_item: ({ item }) => `the agent to see ${item}`,
  chat_state: ({ difference }) => (difference === null ? 'the chat' : differenceText(difference)),
} satisfies TextsOf<Awaited>

/** `message { message: "Hi" } and 1 more` */
export const awaitedText = (awaited: Awaited): string => renderCode(AWAITED, awaited, 'scenario')

const WHITE_SPACE = { trimmed: ': trimmed', added: ': more of it at the ends', other: '' }
const HTML = { escaped: '', escaped_twice: ': escaped twice', unescaped: ': the escapes were resolved' }
const more = (count: number) => `${count} more character${count === 1 ? '' : 's'}`

const NOTES: TextsOf<DifferenceNote> = {
  letter_case: 'only upper and lower case differ',
  white_space: ({ how }) => `only white space differs${WHITE_SPACE[how]}`,
  normalisation: 'only the Unicode normalisation differs',
  invisible: ({ lost }) => `only invisible characters differ${lost ? ': some were lost' : ''}`,
  html: ({ how }) => `only HTML escaping differs${HTML[how]}`,
  marker_added: ({ marker }) => `a translation marker stands in front: ${marker}`,
  marker_missing: ({ marker }) => `the translation marker ${marker} is missing`,
  json_twice: 'encoded as JSON once more',
  json_escapes: 'has JSON escapes in it: encoded as JSON once more',
  json_text: 'it is JSON inside a text',
  url_encoding: 'only URL encoding differs',
  latin1: 'UTF-8 read as Latin-1',
  non_ascii_lost: 'characters outside of ASCII were lost',
  markup_removed: 'the markup in it was removed',
  cut: ({ length, of }) => `cut off after ${length} of ${of} characters`,
  added_at_end: ({ count }) => `${more(count)} at the end`,
  added_in_front: ({ count }) => `${more(count)} in front`,
  surrounded: 'the expected text is part of a longer one',
  from_position: ({ position }) => `differs from character ${position} on`,
  type: ({ expected, received }) => `a ${received}, not a ${expected}`,
  item_count: ({ expected, received }) => `expected ${expected} item${expected === 1 ? '' : 's'}, received ${received}`,
  item_order: 'the same items in another order',
  other_key: ({ found, missing }) => `the body has ${found}: did you mean ${missing}?`,
  matcher_threw: ({ message }) => `the matcher threw: ${message}`,
} satisfies TextsOf<DifferenceNote>

export const noteText = (note: DifferenceNote): string => renderCode(NOTES, note, 'scenario')

/** `message: expected "I'm Anna", received "I&#39;m Anna" (only HTML escaping differs)` */
export function differenceText({ path, expected, received, note }: Difference): string {
  const field = path === '' ? '' : `${path}: `
  const why = note === undefined ? '' : ` (${noteText(note)})`
  return `${field}expected ${expected}, received ${received ?? 'nothing'}${why}`
}

/** The first difference, and how many more there are. */
export const firstDifferenceText = (first: Difference, others: number): string =>
  `${differenceText(first)}${others === 0 ? '' : ` and ${others} more difference${others === 1 ? '' : 's'}`}`

const KEYS: Readonly<Record<string, string>> = {
  missing: 'the header Authorization is missing',
  malformed: 'the header is not Authorization: Bearer <API_KEY>',
  unknown: 'the platform does not know it',
  wrong_scope: 'it does not open this endpoint',
}

const OBSTACLES: TextsOf<Obstacle> = {
  call: ({ endpoint }) => (endpoint === null ? 'no path of the platform' : `it is ${endpoint}`),
  chat({ chatId, conversation }, audience) {
    if (chatId === null) return 'it has no chat_id'
    if (conversation !== null) return `chat_id belongs to chat ${JSON.stringify(conversation)}: cross-talk?`
    return `chat_id ${JSON.stringify(chatId)} is no chat of this ${audience === 'test' ? 'simulator' : 'scenario'}`
  },
  claimed: ({ step }) => `already claimed by step ${step}`,
  before: ({ step, seq, byMs }) =>
    `before the turn: ${seconds(byMs)} before ${step === null ? `#${seq}` : `step ${step} began`}`,
  earlier: ({ seq, step }) => `earlier than #${seq}, the call of step ${step}`,
  late: ({ byMs }) => `${seconds(byMs)} late`,
  key: ({ expected, received, status }) =>
    expected === 'valid' ? `bad key: ${KEYS[received] ?? `refused with ${status}`}` : 'its key is valid',
  bot: ({ received, expected }) => `bot_id is ${received}, this bot is ${expected}`,
  alias: ({ received, expected }) => `under /${received}/, not /${expected}/`,
  fields: ({ count }) => `${count} field${count === 1 ? ' differs' : 's differ'}`,
  order: ({ first }) => `before ${callText(first)}, which has to come first`,
  answered_late: ({ byMs }) => `read in time, but answered ${seconds(byMs)} after the step ended`,
  before_item: ({ item, step }) => `but before ${itemText(item)} of step ${step}`,
  before_turn: 'in the inbox before the turn',
  of_chat: ({ conversation }) => `of chat ${JSON.stringify(conversation)}`,
  not_delivered: ({ status, failure }) => (status === null ? failureText(failure) : `answered ${status}`),
} satisfies TextsOf<Obstacle>

const SUBJECTS: TextsOf<NearMissSubject> = {
  call: ({ method, path }) => `${method} ${path}`,
  inbox_item: item => itemText(item),
  chat: 'the chat as it was last',
  event: ({ event }) => event,
} satisfies TextsOf<NearMissSubject>

export const subjectText = (subject: NearMissSubject): string => renderCode(SUBJECTS, subject, 'scenario')

/** `bad key: the platform does not know it; 1 field differs` */
export const obstaclesText = ({ obstacles }: Pick<NearMiss, 'obstacles'>, audience: Audience): string =>
  obstacles.map(obstacle => renderCode(OBSTACLES, obstacle, audience)).join('; ') || 'no step claims it'
