/** Renders what happened in place of the expected, as a line that is complete by itself, and what to try. */

import { sentence } from '../../../base/text/error-text.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import {
  driverFailureText,
  earlyEndText,
  failureText,
  stepFailureText,
  TLS_HINTS,
} from '../../../platform/wording/failures.ts'
import { findingText } from '../../linter/texts.ts'
import type {
  AttemptResult,
  CallProgress,
  CallRef,
  FailureHint,
  Happened,
  InboxDetail,
  InboxItemRef,
  NoCallDetail,
  RequirementRef,
} from '../failure.ts'
import { differenceText, firstDifferenceText, obstaclesText } from './expected.ts'
import {
  type Audience,
  callNamed,
  callText,
  callWithKey,
  chatText,
  howOften,
  itemName,
  itemText,
  listed,
  offset,
  patternName,
  patternText,
  quotedText,
  renderCode,
  seconds,
  stepText,
  type TextsOf,
  timesText,
  whereText,
} from './parts.ts'

const within = (ms: number) => `within ${formatDuration(ms)}`
const another = (seqs: readonly number[]) => (seqs.length === 0 ? '' : `, and ${seqs.length} more (${listed(seqs)})`)
const withBody = (call: CallRef, body: string | null) => `${callText(call)}${body === null ? '' : ` ${body}`}`

const DETAILS: TextsOf<NoCallDetail> = {
  unreachable: ({ failure }) => `: ${failureText(failure)}`,
  no_call_at_all: (_, audience) =>
    `: the intermediary made no call ${audience === 'test' ? 'at all' : 'for this scenario'}`,
  claimed: ({ call, step }) => `: ${callText(call)} is already claimed by step ${step}`,
  other_call: ({ call, afterMs }) => `; the nearest call is ${callText(call)} ${offset(afterMs)}`,
  last_call: ({ call }) => `; the last call was ${callText(call)}`,
  nothing: '',
} satisfies TextsOf<NoCallDetail>

/** `start was called only once within 5s (#9), expected exactly 3 times` */
function tooFew({ seqs }: CallProgress, requirement: RequirementRef, limit: string): string {
  const expected = `expected ${howOften(requirement.times)}`
  if (seqs.length === 0) return `${callWithKey(requirement)} was not called${limit}, ${expected}`
  return `${callWithKey(requirement)} was called only ${timesText(seqs.length)}${limit} (${listed(seqs)}), ${expected}`
}

const INBOX: TextsOf<InboxDetail> = {
  never_read: 'the inbox was not read',
  earlier: ({ item, obstacles }, audience) =>
    `${itemText(item)} is in the inbox, ${obstaclesText({ obstacles }, audience)}`,
  claimed: ({ item, step }) => `the inbox has only ${itemText(item)}, which is already claimed by step ${step}`,
  nothing_new: 'the inbox has no new item',
  nearest: ({ item, obstacles, difference }, audience) =>
    difference === null
      ? `nearest: ${itemText(item)}: ${obstaclesText({ obstacles }, audience)}`
      : `nearest: ${difference.path === 'text' ? itemName(item) : itemText(item)}: ${differenceText(difference)}`,
} satisfies TextsOf<InboxDetail>

const SIGNED: Readonly<Record<AttemptResult['sign'], string>> = {
  valid: '',
  none: ' without a signature',
  'wrong-key': ' with a signature made with another key',
  tampered: ' with a body changed after signing',
  truncated: ' with a truncated signature',
  hex: ' with a signature in hex',
}

const items = (all: readonly InboxItemRef[]) => all.map(item => itemText(item)).join(', ')

const ACKS = {
  empty: 'an empty body',
  body: (body: string) => `: ${body}`,
}

/** `answered 500 after 31 ms: TypeError: x is not a function` */
function attemptText({ status, failure, body, afterMs, url, sent }: AttemptResult): string {
  if (!sent) return `not sent: ${failureText(failure)}`
  if (status === null) return `no answer from ${url}: ${failureText(failure)}`
  return `answered ${status} after ${seconds(afterMs)}${ACKS.body(body === '' ? ACKS.empty : body)}`
}

/** Says that a check needs entries that were evicted. */
export const evictedText = (firstSeq: number): string =>
  `the journal no longer has the entries before #${firstSeq}, so the calls in them cannot be checked; raise journalLimit or memoryLimit, or check earlier`

const HAPPENED: TextsOf<Happened> = {
  unfillable: ({ message }) => message,
  capture_missing: ({ name, path, call }) => `${callText(call)} has no ${path} to capture as ${name}`,
  calls_too_close: ({ requirement, seqs: [first, second], gapMs }) =>
    `${callNamed(requirement)} was called again too soon: #${first} and #${second} are ${seconds(gapMs)} apart, expected at least ${formatDuration(requirement.apartMs ?? 0)}`,
  no_matching_call({ requirement, progress, call, afterMs, obstacles, differences }, audience) {
    const [first, ...more] = differences
    const single = first !== undefined && obstacles.length === 1
    const reason = single ? firstDifferenceText(first, more.length) : obstaclesText({ obstacles }, audience)
    const none =
      progress === null
        ? `no call of ${callWithKey({ ...requirement, body: null })} matches`
        : tooFew(progress, requirement, '')
    return `${none}; nearest: ${callText(call)} ${offset(afterMs)}: ${reason}`
  },
  no_call({ requirement, progress, withinMs, detail }, audience) {
    const name = callWithKey(requirement)
    const none =
      progress !== null
        ? tooFew(progress, requirement, ` ${within(withinMs)}`)
        : detail?.code === 'claimed'
          ? `${name} was not called again ${within(withinMs)}`
          : `${name} was not called ${within(withinMs)}`
    return `${none}${detail === null ? '' : renderCode(DETAILS, detail, audience)}`
  },
  unwanted_call: ({ call, afterMs, forMs }) =>
    `${callText(call)} was called at ${offset(afterMs)}${afterMs < 0 ? ' (before this step, in the same turn)' : ''}, expected none for ${formatDuration(forMs)}`,
  item_missing({ item, seen, withinMs, detail }, audience) {
    const often = seen === 0 ? `did not see ${item}` : `saw ${item} only ${timesText(seen)}`
    return `the agent ${often} ${within(withinMs)}: ${renderCode(INBOX, detail, audience)}`
  },
  item_too_often: ({ item, times, items: all }) =>
    `the agent saw ${item} ${timesText(all.length)}, expected ${howOften(times)}: ${items(all)}`,
  chat_differs: ({ differences }) => `the chat is not as expected: ${differences.map(differenceText).join('; ')}`,
  chat_not_observed: 'the chat was not observed',
  not_acknowledged: happened => {
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
    const answer = ACKS.body(body === '' ? ACKS.empty : body)
    return `the webhook answered ${status} to ${event} after ${seconds(afterMs)}${asExpected ? '' : `, expected ${expected}${slow}`}${answer}`
  },
  no_answer: ({ event, withinMs }) => `the webhook did not answer ${event ?? 'the event'} ${within(withinMs)}`,
  no_answer_before_stop: ({ event, cause }) =>
    `the webhook had not answered ${event ?? 'the event'} when the scenario was stopped: ${earlyEndText(cause)}`,
  event_held: ({ event, fault }) =>
    `the webhook did not receive ${event ?? 'the event'}, because the fault ${fault} held it`,
  driver_failed: happened => {
    // Adds the answer where the failure does not contain it.
    const { how, status, failure, answer } = happened
    const why = failure === null ? (status === null ? 'it failed' : `answered ${status}`) : driverFailureText(failure)
    const contained = failure !== null && (failure.code !== 'command_failed' || failure.stream === 'stdout')
    return `${happened.label} failed: ${`${how}: ${why}${answer === '' || contained ? '' : `: ${answer}`}`}`
  },
  step_failed: ({ label, failure }) => `${label} failed: ${stepFailureText(failure)}`,
  stopped_at_step: ({ cause, step }) =>
    `the scenario was stopped at ${stepText(step)}: ${cause === null ? 'the run ended' : earlyEndText(cause)}`,
  stopped: ({ cause }) => `the scenario was stopped: ${earlyEndText(cause)}`,
  unexpected_call: ({ call, body, afterMs, others }, audience) =>
    `${audience === 'test' ? 'nothing' : 'no step'} expects ${withBody(call, body)} at ${offset(afterMs)}${another(others)}`,
  call_after_end: ({ call, body, lateMs, others }) =>
    `${withBody(call, body)} was called ${seconds(lateMs)} after the end of the scenario${another(others)}`,
  forbidden_call: ({ pattern, call, afterMs, others }) =>
    `${patternText(pattern)} must never be called, but ${callText(call)} was called at ${offset(afterMs)}${another(others)}`,
  too_many_calls({ requirement, seqs, seq, after }) {
    const times = `${callNamed(requirement)} was called ${timesText(seqs.length)}, expected ${howOften(requirement.times)}`
    if (seqs.length === 2 && after !== null) return `${times}: #${after.seq}, and #${seq} ${seconds(after.ms)} later`
    const gap = after === null ? '' : `, ${seconds(after.ms)} after #${after.seq}`
    return `${times}: ${listed(seqs)}; the first one too many is #${seq}${gap}`
  },
  refused_call({ call, status, error, message, seqs }) {
    const often = seqs.length === 1 ? '' : ` (${timesText(seqs.length)}: ${listed(seqs)})`
    const why = `${error === null ? '' : ` ${error}`}${message === null ? '' : `: ${message}`}`
    return `the platform refused #${call.seq} ${call.method} ${call.path} with ${status}${why}${often}`
  },
  echoed: ({ seq, place, text, from, written }) =>
    `#${seq} ${whereText(place)} sent what the user of ${chatText(from)} wrote in #${written} back to the user: ${quotedText(text)}`,
  leaked: ({ seq, place, text, from, to }) =>
    `#${seq} ${whereText(place)} has in ${chatText(to)} what the user of ${chatText(from)} wrote: ${quotedText(text)}`,
  call_of_no_scenario({ method, path, chatId, status, message }) {
    const about = chatId === null ? 'names no chat' : `is about chat ${JSON.stringify(chatId)}, which no scenario has`
    return `${method} ${path} ${about}: answered ${status}${message === null ? '' : ` (${message})`}`
  },
  warning: ({ finding }) => findingText(finding),
  condition_false({ chat }) {
    const state = chat === null ? '' : `; the chat is with ${chat.status}, ${chat.typing ? 'typing' : 'not typing'}`
    return `the condition did not become true${state}`
  },
  delivery_failed: ({ seq, event, status, failure }) =>
    status === null
      ? `#${seq} ${event} was not delivered: ${failureText(failure)}`
      : `the webhook answered ${status} to #${seq} ${event}`,
  received({ call, seqs, different }) {
    if (seqs.length > 0) return `${call} was called ${timesText(seqs.length)}: ${listed(seqs)}`
    return different ? `no call of ${call} matches` : `${call} was not called`
  },
  slow_pattern: ({ pattern, length, limitMs }) =>
    `the pattern ${patternName(pattern)} took longer than ${limitMs} ms on a text of ${length} characters; rewrite it without nested repetition`,
  evicted: ({ firstSeq }) => evictedText(firstSeq),
  messages_evicted:
    'the transcripts lost their oldest messages, so lacks and length cannot be checked; raise memoryLimit',
  internal_error: ({ seq, where, message }) =>
    `#${seq} is an internal error of handover-sim (${where}): ${message}; it is no mistake of the intermediary, please report it with the journal`,
} satisfies TextsOf<Happened>

export const happenedText = (happened: Happened, audience: Audience): string => renderCode(HAPPENED, happened, audience)

const webhookUrl = (audience: Audience) => (audience === 'test' ? 'webhook.url' : '--target')

const HINTS: TextsOf<FailureHint> = {
  allow_time: (_, audience) =>
    audience === 'test'
      ? "Is it only slow? Allow more with { within: '5s' }."
      : 'Is it only slow? Allow more with within:, or with timeouts: { expect: … } for the whole scenario.',
  any_order: (_, audience) =>
    audience === 'test'
      ? 'Expectations are met in their order. Where the order does not matter, expect them side by side: await Promise.all([ … ]).'
      : 'Steps expect calls in their order. Where the order does not matter, put them into one all: [ … ].',
  since: (_, audience) =>
    audience === 'test'
      ? 'An expectation looks from the first thing the user did after the last one. { since } looks further back.'
      : 'A step looks at calls since the first stimulus of its turn. since: ID looks further back.',
  bearer_key:
    'Every call carries the header Authorization: Bearer <API_KEY>, with the key of the handover settings page.',
  chat_id: 'Is the chat id taken from the event that belongs to this conversation?',
  platform_address: ({ url }) =>
    `Does the intermediary know the address of the platform${url === null ? '' : ` (${url})`}?`,
  nothing_intercepts: ({ url, refused }) =>
    `${refused === null ? '' : `${sentence(hintText({ code: 'event_refused', result: refused }, 'test'))} `}No call reached the simulator: does the intermediary call ${url}, and is intercept(sim) or handlers(sim) in force?`,
  no_event: ({ action, verb }) =>
    `${stepText(action)} caused no webhook event: ${verb === 'press' ? 'is the handover closed?' : 'no agent has the chat, so the bot answered.'}`,
  event_refused: ({ result }) => `The webhook did not accept ${result.event}: ${attemptText(result)}`,
  answer_first: 'Answer the webhook first, and do the work after it.',
  platform_timeout: ({ ms }, audience) =>
    `The platform itself waits only ${formatDuration(ms)}: ${audience === 'test' ? "'webhook.timeout'" : 'config: { webhook.timeout: … }'} makes it wait longer.`,
  is_running: (_, audience) => `Is the intermediary running, and is ${webhookUrl(audience)} its webhook?`,
  ...TLS_HINTS,
  verify_first: 'Does the intermediary verify the signature before it does anything else?',
  fault_refused: ({ faults }) =>
    `The fault ${faults.join(', ')} changed this event: if refusing it is right, say ack: non-2xx on the step.`,
  signed_correctly:
    'The event was signed correctly: is the key the same, and is the HMAC made of the raw bytes of the body?',
  redirect: ({ location }) =>
    `A redirect is not followed; is ${location ?? 'the address it leads to'} the webhook? Often only a final slash or http/https differs.`,
  webhook_address: (_, audience) => `Is ${webhookUrl(audience)} the address of the webhook, path included?`,
  only_200: 'Only 200 acknowledges this event.',
  async: 'Write async: true on the step, so that the scenario continues and later events release this one.',
  event_twice: 'The same event may come twice: acknowledge it again, and forward it once.',
  forwarded_again: 'Is an event that is delivered again, or answered late, forwarded again?',
  command_folder: 'Commands run in the folder of the driver file, without a shell.',
  broke_off: 'The connection broke while it answered: what does the log of the intermediary say?',
  desk_address: 'Is the help desk of the intermediary running where the driver file says?',
  desk_path: 'Does the help desk know this chat yet, and is the path in the driver file right?',
  earlier_run:
    'If the help desk knows this chat from an earlier run: the same seed gives the same chats. Restart it, or give another --seed.',
  answer_lost: 'The answer to the first was lost by a fault: allow the repetition with times: { min: 1, max: 2 }.',
  delivered_again:
    'An event was delivered more than once before: does the intermediary treat the repetition as a new event?',
  allow_call: ({ endpoint }, audience) =>
    audience === 'test'
      ? `If it is right, expect it, or allow it with assertClean({ allow: ['${endpoint}'] }).`
      : `If it is right, expect it, or allow it with strict: { allow: [${endpoint}] }.`,
  settle: 'If it is right, expect it. If it is only slow, give it time with timeouts: { settle: … }.',
  forwards_copies:
    'Does the intermediary forward everything the help desk reports, the copies of what users wrote included? Forward only what agents write.',
  current_chat:
    'Is "the current chat" kept in one variable for all conversations? Take the chat id from the event, and from the conversation the agent writes in.',
} satisfies TextsOf<FailureHint>

export const hintText = (hint: FailureHint, audience: Audience): string => renderCode(HINTS, hint, audience)
