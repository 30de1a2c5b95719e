/** Renders failures: what was expected, what happened instead as a line that is complete by itself, and what to try. */

import { cut } from '../../../base/text/cut.ts'
import { sentence } from '../../../base/text/error-text.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import {
  driverFailureText,
  earlyEndText,
  endedText,
  failureText,
  stepFailureText,
  TLS_HINTS,
  targetFailureText,
} from '../../../platform/wording/failures.ts'
import { findingText } from '../../linter/texts.ts'
import type { Times } from '../../scenario/plan.ts'
import type { DifferenceNote } from '../difference-notes.ts'
import type {
  ActionName,
  AttemptResult,
  CallProgress,
  CallRef,
  ChatRef,
  Expected,
  FailureHint,
  Happened,
  InboxDetail,
  InboxItemRef,
  NearMiss,
  NearMissSubject,
  NoCallDetail,
  Obstacle,
  PatternRef,
  RequirementRef,
  RequirementTree,
  TextPlace,
  Within,
} from '../failure.ts'
import type { Difference } from '../match.ts'
import type { Awaited } from '../step-evaluator.ts'

/** Who reads a text: authors of scenario files, or of tests that use the library. */
export type Audience = 'scenario' | 'test'

/** `0.7 s`, `40 ms` */
function seconds(ms: number): string {
  if (ms < 100) return `${Math.max(1, Math.round(ms))} ms`
  return `${ms < 10_000 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`
}

/** `+0.84 s` */
const offset = (ms: number): string => `${ms <= -5 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(2)} s`

/** `once`, `3 times` */
function timesText(count: number): string {
  if (count === 0) return 'not at all'
  if (count <= 2) return count === 1 ? 'once' : 'twice'
  return `${count} times`
}

/** `exactly once`, `at least 2 times`, `1 to 3 times`. */
function howOften({ min, max }: Times): string {
  if (max === 0) return 'not at all'
  if (min === max) return `exactly ${timesText(min)}`
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? 'any number of times' : `at least ${timesText(min)}`
  return min === 0 ? `at most ${timesText(max)}` : `${min} to ${max} times`
}

const MAX_LISTED = 5

/** `#15, #21, #22, #23, #24, …`: the text has the count beside it, and the failure refers to all entries. */
function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, MAX_LISTED).map(seq => `#${seq}`)
  return seqs.length > MAX_LISTED ? `${shown.join(', ')}, …` : shown.join(', ')
}

/** `message { message: "Hi" }` */
export const patternText = ({ call, body }: PatternRef): string => (body === null ? call : `${call} ${body}`)

/** The same for sentences in which `any` is no name. */
const callNamed = ({ call, body }: PatternRef): string =>
  `${call === 'any' ? 'the platform' : call}${body === null ? '' : ` ${body}`}`

function keyAndAlias({ auth, alias }: RequirementRef): string {
  return `${auth === 'invalid' ? ' with a missing or wrong key' : ''}${alias === null ? '' : ` under /${alias}/`}`
}

/** A requirement without how often. */
const callWithKey = (requirement: RequirementRef): string => `${callNamed(requirement)}${keyAndAlias(requirement)}`

function requirementText(requirement: RequirementRef): string {
  const { times, apartMs } = requirement
  const often = times.min === 1 && times.max === 1 ? '' : ` ${howOften(times)}`
  const apart = apartMs === null ? '' : `, ${formatDuration(apartMs)} apart`
  return `${patternText(requirement)}${keyAndAlias(requirement)}${often}${apart}`
}

const OPERATIONS = { all: 'all of', seq: 'in this order', oneOf: 'one of' }

const treeText = (tree: RequirementTree): string =>
  tree.op === 'call' ? requirementText(tree) : `${OPERATIONS[tree.op]} [${tree.of.map(treeText).join(', ')}]`

/** `#11 message` */
const callText = ({ seq, endpoint, method, path }: CallRef): string => `#${seq} ${endpoint ?? `${method} ${path}`}`

/** Nothing where a scenario has one chat, and for the bot as a whole. */
const inChat = (chat: string | null): string => (chat ? ` in chat ${JSON.stringify(chat)}` : '')

const chatText = ({ chat, scenario }: ChatRef): string =>
  `chat ${JSON.stringify(chat)}${scenario === null ? '' : ` of ${JSON.stringify(scenario)}`}`

export const stepText = (action: ActionName): string =>
  'seq' in action
    ? `#${action.seq} (${action.label})`
    : `step ${action.number}${action.id === null ? '' : ` ${action.id}`} (${action.label})`

function withinText({ ms, from }: Within): string {
  const base = from === null ? '' : ` of ${'seq' in from ? `#${from.seq}` : stepText(from.step)}`
  return `within ${formatDuration(ms)}${base}`
}

function itemText({ position, text, files }: InboxItemRef): string {
  const attached = files === 0 ? '' : ` with ${files} file${files === 1 ? '' : 's'}`
  return `inbox item ${position} ${text ?? 'request'}${attached}`
}

const whereText = (place: TextPlace): string =>
  place.code === 'call' ? `${place.method} ${place.path}` : `inbox item ${place.position}`

/** The verbs of a driver's own that shipped scenarios need, and what each has to do. docs/reference/driver.md shows both in full. */
const OWN_VERBS: ReadonlyMap<string, string> = new Map([
  ['does.announce', 'send the waiting user a system message with the position in the queue'],
  ['does.transfer', 'give the chat to the team $(team), and tell the user in a system message'],
])

/** Why a verb cannot be used: `the agent driver has only accept, says`; for one that a shipped scenario needs, how to define it. */
export function whyVerbIsMissing(verb: string, verbs: readonly string[] | null): string {
  const task = OWN_VERBS.get(verb)
  if (verbs !== null && task !== undefined)
    return `the agent driver does not have it: add ${verb.slice('does.'.length)} below does; it has to ${task} (docs/reference/driver.md#verbs-of-your-own)`
  if (verbs === null) return 'there is no agent driver (--agent-driver FILE)'
  if (verbs.length > 0) return `the agent driver has only ${verbs.join(', ')}`
  return 'the agent driver has no verb that can be called here (a manual one needs a terminal)'
}

const LONGEST_QUOTE = 60

/** A regular expression, cut to one short line. */
const patternName = (pattern: string): string => cut(pattern, LONGEST_QUOTE)

/** A user's text in quotes, cut to one short line. */
function quotedText(text: string): string {
  const chars = [...text]
  return JSON.stringify(chars.length > LONGEST_QUOTE ? `${chars.slice(0, LONGEST_QUOTE - 1).join('')}…` : text)
}

export function expectedText(expected: Expected, audience: Audience): string {
  switch (expected.code) {
    case 'calls':
      return `expect ${treeText(expected.tree)}${inChat(expected.chat)}${expected.within === null ? '' : ` ${withinText(expected.within)}`}`
    case 'no_calls':
      return `none ${expected.calls.map(patternText).join(', ')}${inChat(expected.chat)} for ${formatDuration(expected.forMs)}`
    case 'inbox_item': {
      const { item, times, chat, within, forMs } = expected
      const bound = within === null ? ` for ${formatDuration(forMs ?? 0)}` : ` ${withinText(within)}`
      return `agent sees ${item} ${howOften(times)}${inChat(chat)}${bound}`
    }
    case 'chat_state':
      return `check ${expected.check}${inChat(expected.chat)}`
    case 'call_count': {
      const { requirement, chat } = expected
      const { times } = requirement
      const once = times.min === 1 && times.max === 1
      return `${requirementText(requirement)}${once ? ` ${howOften(times)}` : ''}${inChat(chat)}`
    }
    case 'step_for_every_call':
      return `${audience === 'test' ? 'an expectation' : 'a step'} for every call${inChat(expected.chat)}`
    case 'no_call_after_end':
      return `no call after the end of the scenario${inChat(expected.chat)}`
    case 'acknowledgement': {
      const { event, ack, withinMs } = expected
      const answer = ack === 'any' ? 'an answer' : ack === 'non-2xx' ? 'a refusal (no 2xx)' : `status ${ack}`
      return `${answer} from the webhook to ${event ?? 'the event'} within ${formatDuration(withinMs)}`
    }
    case 'step_done':
      return expected.label
    case 'end_within':
      return `the scenario ends within ${formatDuration(expected.ms)}`
    case 'own_end':
      return `${expected.scenario} runs to its end`
    case 'never':
      return `never ${patternText(expected.pattern)}`
    case 'known_path':
      return 'a path of the platform'
    case 'accepted_call':
      return `${expected.endpoint} as the platform accepts it: ${ENDPOINTS[expected.endpoint].summary}`
    case 'no_echo':
      return `the user of ${chatText(expected.from)} never reads ${quotedText(expected.text)} (written in #${expected.seq}) as an agent's message`
    case 'no_leak':
      return `what the user of ${chatText(expected.from)} wrote (#${expected.seq} ${quotedText(expected.text)}) stays in ${chatText(expected.from)}`
    case 'chat_of_a_scenario':
      return 'every call belongs to a chat of a scenario'
    case 'no_warning':
      return `no warning ${expected.rule}, because of --strict`
    case 'no_finding':
      return `no finding of the platform; allow: [${JSON.stringify(expected.rule)}] permits it`
    case 'condition':
      return `waitFor ${expected.source} within ${formatDuration(expected.withinMs)}`
    case 'delivered':
      return `${expected.event} acknowledged by the webhook`
    case 'received': {
      const { call, body, times, not } = expected
      return `${not ? 'not ' : ''}${body === null ? call : `${call} ${body}`}${times === null ? '' : ` ${howOften(times)}`}`
    }
    case 'quick_pattern':
      return `a pattern that is quick on any text: ${patternName(expected.pattern)}`
    case 'complete_journal':
      return 'a journal with every entry since the beginning'
    case 'no_internal_error':
      return 'no internal error of handover-sim'
    case 'command_passes':
      return 'the command to end with exit code 0'
  }
}

export function awaitedText(awaited: Awaited): string {
  switch (awaited.code) {
    case 'calls': {
      const {
        missing: [first, ...more],
      } = awaited
      if (first === undefined) return 'calls'
      return `${requirementText(first)}${more.length > 0 ? ` and ${more.length} more` : ''}`
    }
    case 'silence':
      return `${formatDuration(awaited.forMs)} without ${awaited.calls.map(patternText).join(', ')}`
    case 'inbox_item':
      return `the agent to see ${awaited.item}`
    case 'chat_state':
      return awaited.difference === null ? 'the chat' : differenceText(awaited.difference)
  }
}

const WHITE_SPACE = { trimmed: ': trimmed', added: ': more of it at the ends', other: '' }
const HTML = { escaped: '', escaped_twice: ': escaped twice', unescaped: ': the escapes were resolved' }
const more = (count: number) => `${count} more character${count === 1 ? '' : 's'}`

export function noteText(note: DifferenceNote): string {
  switch (note.code) {
    case 'letter_case':
      return 'only upper and lower case differ'
    case 'white_space':
      return `only white space differs${WHITE_SPACE[note.how]}`
    case 'normalisation':
      return 'only the Unicode normalisation differs'
    case 'invisible':
      return `only invisible characters differ${note.lost ? ': some were lost' : ''}`
    case 'html':
      return `only HTML escaping differs${HTML[note.how]}`
    case 'marker_added':
      return `a translation marker stands in front: ${note.marker}`
    case 'marker_missing':
      return `the translation marker ${note.marker} is missing`
    case 'json_twice':
      return 'encoded as JSON once more'
    case 'json_escapes':
      return 'has JSON escapes in it: encoded as JSON once more'
    case 'json_text':
      return 'it is JSON inside a text'
    case 'url_encoding':
      return 'only URL encoding differs'
    case 'latin1':
      return 'UTF-8 read as Latin-1'
    case 'non_ascii_lost':
      return 'characters outside of ASCII were lost'
    case 'markup_removed':
      return 'the markup in it was removed'
    case 'cut':
      return `cut off after ${note.length} of ${note.of} characters`
    case 'added_at_end':
      return `${more(note.count)} at the end`
    case 'added_in_front':
      return `${more(note.count)} in front`
    case 'surrounded':
      return 'the expected text is part of a longer one'
    case 'from_position':
      return `differs from character ${note.position} on`
    case 'type':
      return `a ${note.received}, not a ${note.expected}`
    case 'item_count':
      return `expected ${note.expected} item${note.expected === 1 ? '' : 's'}, received ${note.received}`
    case 'item_order':
      return 'the same items in another order'
    case 'other_key':
      return `the body has ${note.found}: did you mean ${note.missing}?`
    case 'matcher_threw':
      return `the matcher threw: ${note.message}`
  }
}

/** `message: expected "I'm Anna", received "I&#39;m Anna" (only HTML escaping differs)` */
function differenceText({ path, expected, received, note }: Difference): string {
  const field = path === '' ? '' : `${path}: `
  const why = note === undefined ? '' : ` (${noteText(note)})`
  // An element of a list is no field that a call can have.
  if (received === null && /\w$/.test(path)) return `it has no ${path} (expected ${expected})${why}`
  return `${field}expected ${expected}, received ${received ?? 'nothing'}${why}`
}

/** The first difference, and how many more there are. */
const firstDifferenceText = (first: Difference, others: number): string =>
  `${differenceText(first)}${others === 0 ? '' : ` and ${others} more difference${others === 1 ? '' : 's'}`}`

const KEYS: Readonly<Record<string, string>> = {
  missing: 'the header Authorization is missing',
  malformed: 'the header is not Authorization: Bearer <API_KEY>',
  unknown: 'the platform does not know it',
  wrong_scope: 'it does not open this endpoint',
}

function obstacleText(obstacle: Obstacle, audience: Audience): string {
  switch (obstacle.code) {
    case 'call':
      return obstacle.endpoint === null ? 'no path of the platform' : `it is ${obstacle.endpoint}`
    case 'chat': {
      const { chatId, conversation } = obstacle
      if (chatId === null) return 'it has no chat_id'
      if (conversation !== null) return `chat_id belongs to chat ${JSON.stringify(conversation)}: cross-talk?`
      return `chat_id ${JSON.stringify(chatId)} is no chat of this ${audience === 'test' ? 'simulator' : 'scenario'}`
    }
    case 'claimed':
      return `already claimed by step ${obstacle.step}`
    case 'before':
      return `before the turn: ${seconds(obstacle.byMs)} before ${obstacle.step === null ? `#${obstacle.seq}` : `step ${obstacle.step} began`}`
    case 'earlier':
      return `earlier than #${obstacle.seq}, the call of step ${obstacle.step}`
    case 'late':
      return `${seconds(obstacle.byMs)} late`
    case 'key':
      return obstacle.expected === 'valid'
        ? `bad key: ${KEYS[obstacle.received] ?? `refused with ${obstacle.status}`}`
        : 'its key is valid'
    case 'bot':
      return `bot_id is ${obstacle.received}, this bot is ${obstacle.expected}`
    case 'alias':
      return `under /${obstacle.received}/, not /${obstacle.expected}/`
    case 'fields':
      return `${obstacle.count} field${obstacle.count === 1 ? ' differs' : 's differ'}`
    case 'order':
      return `before ${callText(obstacle.first)}, which has to come first`
    case 'answered_late':
      return `read in time, but answered ${seconds(obstacle.byMs)} after the step ended`
    case 'before_item':
      return `but before ${itemText(obstacle.item)} of step ${obstacle.step}`
    case 'before_turn':
      return 'in the inbox before the turn'
    case 'of_chat':
      return `of chat ${JSON.stringify(obstacle.conversation)}`
    case 'not_delivered':
      return obstacle.status === null ? failureText(obstacle.failure) : `answered ${obstacle.status}`
  }
}

export function subjectText(subject: NearMissSubject): string {
  switch (subject.code) {
    case 'call':
      return `${subject.method} ${subject.path}`
    case 'inbox_item': {
      const item = subject
      return itemText(item)
    }
    case 'chat':
      return 'the chat as it was last'
    case 'event':
      return subject.event
  }
}

/** `bad key: the platform does not know it; 1 field differs` */
export const obstaclesText = ({ obstacles }: Pick<NearMiss, 'obstacles'>, audience: Audience): string =>
  obstacles.map(obstacle => obstacleText(obstacle, audience)).join('; ') || 'no step claims it'

const within = (ms: number) => `within ${formatDuration(ms)}`
const another = (seqs: readonly number[]) => (seqs.length === 0 ? '' : `, and ${seqs.length} more (${listed(seqs)})`)
const withBody = (call: CallRef, body: string | null) => `${callText(call)}${body === null ? '' : ` ${body}`}`

function noCallText(detail: NoCallDetail, audience: Audience): string {
  switch (detail.code) {
    case 'unreachable':
      return `: ${failureText(detail.failure)}`
    case 'no_call_at_all':
      return `: the intermediary made no call ${audience === 'test' ? 'at all' : 'for this scenario'}`
    case 'claimed':
      return `: ${callText(detail.call)} is already claimed by step ${detail.step}`
    case 'other_call':
      return `; the nearest call is ${callText(detail.call)} ${offset(detail.afterMs)}`
    case 'last_call':
      return `; the last call was ${callText(detail.call)}`
    case 'nothing':
      return ''
  }
}

/** `start was called only once within 5s (#9), expected exactly 3 times` */
function tooFew({ seqs }: CallProgress, requirement: RequirementRef, limit: string): string {
  const expected = `expected ${howOften(requirement.times)}`
  if (seqs.length === 0) return `${callWithKey(requirement)} was not called${limit}, ${expected}`
  return `${callWithKey(requirement)} was called only ${timesText(seqs.length)}${limit} (${listed(seqs)}), ${expected}`
}

function inboxText(detail: InboxDetail, audience: Audience): string {
  switch (detail.code) {
    case 'never_read':
      return 'the inbox was not read'
    case 'earlier':
      return `${itemText(detail.item)} is in the inbox, ${obstaclesText({ obstacles: detail.obstacles }, audience)}`
    case 'claimed':
      return `the inbox has only ${itemText(detail.item)}, which is already claimed by step ${detail.step}`
    case 'nothing_new':
      return 'the inbox has no new item'
    case 'nearest': {
      const { item, obstacles, difference } = detail
      return difference === null
        ? `nearest: ${itemText(item)}: ${obstaclesText({ obstacles }, audience)}`
        : `nearest: ${difference.path === 'text' ? `inbox item ${item.position}` : itemText(item)}: ${differenceText(difference)}`
    }
  }
}

const SIGNED: Readonly<Record<AttemptResult['sign'], string>> = {
  valid: '',
  none: ' without a signature',
  'wrong-key': ' with a signature made with another key',
  tampered: ' with a body changed after signing',
  truncated: ' with a truncated signature',
  hex: ' with a signature in hex',
}

const answerBody = (body: string) => `: ${body === '' ? 'an empty body' : body}`

/** `answered 500 after 31 ms: TypeError: x is not a function` */
function attemptText({ status, failure, body, afterMs, url, sent }: AttemptResult): string {
  if (!sent) return `not sent: ${failureText(failure)}`
  if (status === null) return `no answer from ${url}: ${failureText(failure)}`
  return `answered ${status} after ${seconds(afterMs)}${answerBody(body)}`
}

/** Says that a check needs entries that were evicted. */
export const evictedText = (firstSeq: number): string =>
  `the journal no longer has the entries before #${firstSeq}, so the calls in them cannot be checked; raise journalLimit or memoryLimit, or check earlier`

export function happenedText(happened: Happened, audience: Audience): string {
  switch (happened.code) {
    case 'unfillable':
      return happened.message
    case 'capture_missing':
      return `${callText(happened.call)} has no ${happened.path} to capture as ${happened.name}`
    case 'calls_too_close': {
      const {
        requirement,
        seqs: [first, second],
        gapMs,
      } = happened
      return `${callNamed(requirement)} was called again too soon: #${first} and #${second} are ${seconds(gapMs)} apart, expected at least ${formatDuration(requirement.apartMs ?? 0)}`
    }
    case 'no_matching_call': {
      const { requirement, progress, call, afterMs, obstacles, differences } = happened
      const [first, ...more] = differences
      const single = first !== undefined && obstacles.length === 1
      const reason = single ? firstDifferenceText(first, more.length) : obstaclesText({ obstacles }, audience)
      const none =
        progress === null
          ? `no call of ${callWithKey({ ...requirement, body: null })} matches`
          : tooFew(progress, requirement, '')
      return `${none}; nearest: ${callText(call)} ${offset(afterMs)}: ${reason}`
    }
    case 'no_call': {
      const { requirement, progress, withinMs, detail } = happened
      const name = callWithKey(requirement)
      const none =
        progress !== null
          ? tooFew(progress, requirement, ` ${within(withinMs)}`)
          : detail?.code === 'claimed'
            ? `${name} was not called again ${within(withinMs)}`
            : `${name} was not called ${within(withinMs)}`
      return `${none}${detail === null ? '' : noCallText(detail, audience)}`
    }
    case 'unwanted_call': {
      const { call, afterMs, forMs } = happened
      return `${callText(call)} was called at ${offset(afterMs)}${afterMs < 0 ? ' (before this step, in the same turn)' : ''}, expected none for ${formatDuration(forMs)}`
    }
    case 'item_missing': {
      const { item, seen, withinMs, detail } = happened
      const often = seen === 0 ? `did not see ${item}` : `saw ${item} only ${timesText(seen)}`
      return `the agent ${often} ${within(withinMs)}: ${inboxText(detail, audience)}`
    }
    case 'item_too_often': {
      const { item, times, items: all } = happened
      return `the agent saw ${item} ${timesText(all.length)}, expected ${howOften(times)}: ${all.map(itemText).join(', ')}`
    }
    case 'chat_differs':
      return `the chat is not as expected: ${happened.differences.map(differenceText).join('; ')}`
    case 'chat_not_observed':
      return 'the chat was not observed'
    case 'not_acknowledged': {
      const { ack, withinMs, result, copy } = happened
      const { status, attempt, failure, url, body, afterMs, sign, sent } = result
      const event = copy
        ? `${result.event} (sent a second time)`
        : `${result.event}${attempt > 1 ? ` (attempt ${attempt})` : ''}`
      if (!sent) return `${event} was not sent: ${failureText(failure)}`
      if (status === null) return `no answer to ${event} from ${url}: ${failureText(failure)}`
      if (ack === 'non-2xx' && status >= 200 && status < 300)
        return SIGNED[sign] === ''
          ? `the webhook accepted an event that it must refuse: it answered ${status} to ${event}`
          : `the webhook accepted a forged event: it answered ${status} to ${event}${SIGNED[sign]}`
      const expected = ack === 'any' ? 'any answer' : ack === 'non-2xx' ? 'a refusal' : String(ack)
      const slow = afterMs > withinMs ? ` ${within(withinMs)}` : ''
      const asExpected = expected === String(status) && slow === ''
      const answer = answerBody(body)
      return `the webhook answered ${status} to ${event} after ${seconds(afterMs)}${asExpected ? '' : `, expected ${expected}${slow}`}${answer}`
    }
    case 'no_answer':
      return `the webhook did not answer ${happened.event ?? 'the event'} ${within(happened.withinMs)}`
    case 'no_answer_before_stop':
      return `the webhook had not answered ${happened.event ?? 'the event'} when the scenario was stopped: ${earlyEndText(happened.cause)}`
    case 'event_held':
      return `the webhook did not receive ${happened.event ?? 'the event'}, because the fault ${happened.fault} held it`
    case 'driver_failed': {
      // Adds the answer where the failure does not contain it.
      const { how, status, failure, answer } = happened
      const why = failure === null ? (status === null ? 'it failed' : `answered ${status}`) : driverFailureText(failure)
      const contained = failure !== null && (failure.code !== 'command_failed' || failure.stream === 'stdout')
      return `${happened.label} failed: ${`${how}: ${why}${answer === '' || contained ? '' : `: ${answer}`}`}`
    }
    case 'step_failed':
      return `${happened.label} failed: ${stepFailureText(happened.failure)}`
    case 'stopped_at_step':
      return `the scenario was stopped at ${stepText(happened.step)}: ${happened.cause === null ? 'the run ended' : earlyEndText(happened.cause)}`
    case 'stopped':
      return `the scenario was stopped: ${earlyEndText(happened.cause)}`
    case 'unexpected_call':
      return `${audience === 'test' ? 'nothing' : 'no step'} expects ${withBody(happened.call, happened.body)} at ${offset(happened.afterMs)}${another(happened.others)}`
    case 'call_after_end':
      return `${withBody(happened.call, happened.body)} was called ${seconds(happened.lateMs)} after the end of the scenario${another(happened.others)}`
    case 'forbidden_call':
      return `${patternText(happened.pattern)} must never be called, but ${callText(happened.call)} was called at ${offset(happened.afterMs)}${another(happened.others)}`
    case 'too_many_calls': {
      const { requirement, seqs, seq, after } = happened
      const times = `${callNamed(requirement)} was called ${timesText(seqs.length)}, expected ${howOften(requirement.times)}`
      if (seqs.length === 2 && after !== null) return `${times}: #${after.seq}, and #${seq} ${seconds(after.ms)} later`
      const gap = after === null ? '' : `, ${seconds(after.ms)} after #${after.seq}`
      return `${times}: ${listed(seqs)}; the first one too many is #${seq}${gap}`
    }
    case 'refused_call': {
      const { call, status, error, message, seqs } = happened
      const often = seqs.length === 1 ? '' : ` (${timesText(seqs.length)}: ${listed(seqs)})`
      const why = `${error === null ? '' : ` ${error}`}${message === null ? '' : `: ${message}`}`
      return `the platform refused #${call.seq} ${call.method} ${call.path} with ${status}${why}${often}`
    }
    case 'echoed': {
      const { seq, place, text, from, written } = happened
      return `#${seq} ${whereText(place)} sent what the user of ${chatText(from)} wrote in #${written} back to the user: ${quotedText(text)}`
    }
    case 'leaked':
      return `#${happened.seq} ${whereText(happened.place)} has in ${chatText(happened.to)} what the user of ${chatText(happened.from)} wrote: ${quotedText(happened.text)}`
    case 'call_of_no_scenario': {
      const { method, path, chatId, status, message } = happened
      const about = chatId === null ? 'names no chat' : `is about chat ${JSON.stringify(chatId)}, which no scenario has`
      return `${method} ${path} ${about}: answered ${status}${message === null ? '' : ` (${message})`}`
    }
    case 'warning':
      return findingText(happened.finding)
    case 'condition_false': {
      const { chat } = happened
      const state = chat === null ? '' : `; the chat is with ${chat.status}, ${chat.typing ? 'typing' : 'not typing'}`
      return `the condition did not become true${state}`
    }
    case 'delivery_failed':
      return happened.status === null
        ? `#${happened.seq} ${happened.event} was not delivered: ${failureText(happened.failure)}`
        : `the webhook answered ${happened.status} to #${happened.seq} ${happened.event}`
    case 'received': {
      const { call, seqs, different } = happened
      if (seqs.length > 0) return `${call} was called ${timesText(seqs.length)}: ${listed(seqs)}`
      return different ? `no call of ${call} matches` : `${call} was not called`
    }
    case 'slow_pattern': {
      const { pattern, length, limitMs } = happened
      return `the pattern ${patternName(pattern)} took longer than ${limitMs} ms on a text of ${length} characters; rewrite it without nested repetition`
    }
    case 'evicted':
      return evictedText(happened.firstSeq)
    case 'messages_evicted':
      return 'the transcripts lost their oldest messages, so lacks and length cannot be checked; raise memoryLimit'
    case 'internal_error': {
      const { seq, where, message } = happened
      return `#${seq} is an internal error of handover-sim (${where}): ${message}; it is no mistake of the intermediary, please report it with the journal`
    }
    case 'command_ended':
      return targetFailureText(happened.failure).replace(/^it /, 'the command ')
  }
}

const webhookUrl = (audience: Audience) => (audience === 'test' ? 'webhook.url' : '--target')

export function hintText(hint: FailureHint, audience: Audience): string {
  switch (hint.code) {
    case 'allow_time':
      return audience === 'test'
        ? "Is it only slow? Allow more with { within: '5s' }."
        : 'Is it only slow? Allow more with within:, or with timeouts: { expect: … } for the whole scenario.'
    case 'any_order':
      return audience === 'test'
        ? 'Expectations are met in their order. Where the order does not matter, expect them side by side: await Promise.all([ … ]).'
        : 'Steps expect calls in their order. Where the order does not matter, put them into one all: [ … ].'
    case 'since':
      return audience === 'test'
        ? 'An expectation looks from the first thing the user did after the last one. { since } looks further back.'
        : 'A step looks at calls since the first stimulus of its turn. since: ID looks further back.'
    case 'bearer_key':
      return 'Every call carries the header Authorization: Bearer <API_KEY>, with the key of the handover settings page.'
    case 'chat_id':
      return 'Is the chat id taken from the event that belongs to this conversation?'
    case 'no_agent':
      return 'No agent has accepted the chat: write agent: accept before this step. An intermediary that starts the handover by itself has to know the address of the platform.'
    case 'platform_address':
      return `Does the intermediary know the address of the platform${hint.url === null ? '' : ` (${hint.url})`}?`
    case 'nothing_intercepts': {
      const { url, refused } = hint
      return `${refused === null ? '' : `${sentence(hintText({ code: 'event_refused', result: refused }, 'test'))} `}No call reached the simulator: does the intermediary call ${url}, and is intercept(sim) or handlers(sim) in force?`
    }
    case 'no_event':
      return `${stepText(hint.action)} caused no webhook event: ${hint.verb === 'press' ? 'is the handover closed?' : 'no agent has the chat, so the bot answered.'}`
    case 'event_refused':
      return `The webhook did not accept ${hint.result.event}: ${attemptText(hint.result)}`
    case 'answer_first':
      return 'Answer the webhook first, and do the work after it.'
    case 'platform_timeout':
      return `The platform itself waits only ${formatDuration(hint.ms)}: ${audience === 'test' ? "'webhook.timeout'" : 'config: { webhook.timeout: … }'} makes it wait longer.`
    case 'is_running':
      return `Is the intermediary running, and is ${webhookUrl(audience)} its webhook?`
    case 'no_webhook':
      return audience === 'test'
        ? 'Give the simulator the webhook of the intermediary: createSimulator({ webhook: … }). A test that needs no events accepts them: webhook: { fetch: () => new Response() }.'
        : `Say where events go: ${webhookUrl(audience)}.`
    case 'certificate_untrusted':
    case 'certificate_name':
    case 'certificate_date':
      return TLS_HINTS[hint.code]
    case 'verify_first':
      return 'Does the intermediary verify the signature before it does anything else?'
    case 'fault_refused':
      return `The fault ${hint.faults.join(', ')} changed this event: if refusing it is right, say ack: non-2xx on the step.`
    case 'signed_correctly':
      return 'The event was signed correctly: is the key the same, and is the HMAC made of the raw bytes of the body?'
    case 'redirect':
      return `A redirect is not followed; is ${hint.location ?? 'the address it leads to'} the webhook? Often only a final slash or http/https differs.`
    case 'webhook_address':
      return `Is ${webhookUrl(audience)} the address of the webhook, path included?`
    case 'only_200':
      return 'Only 200 acknowledges this event.'
    case 'async':
      return 'Write async: true on the step, so that the scenario continues and later events release this one.'
    case 'event_twice':
      return 'The same event may come twice: acknowledge it again, and forward it once.'
    case 'forwarded_again':
      return 'Is an event that is delivered again, or answered late, forwarded again?'
    case 'command_folder':
      return 'Commands run in the folder of the driver file, without a shell.'
    case 'broke_off':
      return 'The connection broke while it answered: what does the log of the intermediary say?'
    case 'exception':
      return 'The intermediary printed an exception: look in its last output, and answer also when a handler fails.'
    case 'https':
      return `${hint.text} Otherwise its log says why it closed the connection.`
    case 'target_ended':
      return `${endedText(hint.failure, 'The intermediary ')}. Look in its last output for the exception, and catch it where it is thrown.`
    case 'desk_address':
      return 'Is the help desk of the intermediary running where the driver file says?'
    case 'desk_path':
      return 'Does the help desk know this chat yet, and is the path in the driver file right?'
    case 'earlier_run':
      return 'If the help desk knows this chat from an earlier run: the same seed gives the same chats. Restart it, or give another --seed.'
    case 'answer_lost':
      return 'The answer to the first was lost by a fault: allow the repetition with times: { min: 1, max: 2 }.'
    case 'delivered_again':
      return 'An event was delivered more than once before: does the intermediary treat the repetition as a new event?'
    case 'allow_call':
      return audience === 'test'
        ? `If it is right, expect it, or allow it with assertClean({ allow: ['${hint.endpoint}'] }).`
        : `If it is right, expect it, or allow it with strict: { allow: [${hint.endpoint}] }.`
    case 'settle':
      return 'If it is right, expect it. If it is only slow, give it time with timeouts: { settle: … }.'
    case 'forwards_copies':
      return 'Does the intermediary forward everything the help desk reports, the copies of what users wrote included? Forward only what agents write.'
    case 'current_chat':
      return 'Is "the current chat" kept in one variable for all conversations? Take the chat id from the event, and from the conversation the agent writes in.'
  }
}
