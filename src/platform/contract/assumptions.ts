/**
 * Lists every behaviour the platform's description leaves open: what is not said, what the simulator does instead,
 * and the knobs that change it. An assumption has the name of its principal knob, or a name of its own without one.
 * Defines the evidence for what the platform does instead, as `calibrate --write` writes it.
 */

import { keysOf } from '../../base/objects.ts'
import { formatKnob, isKnob, type KnobName, type Knobs, parseKnob } from './knobs.ts'

interface OpenPoint {
  /** The rule of docs/reference/platform.md nearest to the gap. */
  readonly rule: string
  /** What the description does not say. */
  readonly open: string
  /** What the simulator does by default, and why. */
  readonly behaviour: string
  readonly furtherKnobs: readonly KnobName[]
}

const openPoint = (rule: string, open: string, behaviour: string, ...furtherKnobs: KnobName[]): OpenPoint => ({
  rule,
  open,
  behaviour,
  furtherKnobs,
})

const OPEN_POINTS = {
  'webhook.signature': openPoint(
    'A4',
    'Header name, algorithm, signed content and encoding of the webhook signature.',
    'Kindly-HMAC is the base64 HMAC-SHA256 of the raw body, keyed with the API key; Kindly-HMAC-algorithm names it. This is what the public guide shows.',
    'webhook.signatureHeader',
    'webhook.algorithmHeader',
    'webhook.algorithm',
    'webhook.signedContent',
  ),
  'webhook.json': openPoint('EV1', 'How the JSON of a webhook body is written.', 'Compact, UTF-8.'),
  'webhook.retry': openPoint(
    'WH1',
    'Whether a delivery is tried again, and what happens after a response other than 200.',
    'It is never tried again; the journal marks it as failed and the chat does not change.',
  ),
  'webhook.timeout': openPoint(
    'WH1',
    'How long the webhook may take to respond.',
    '10 s; the body of the response is ignored.',
  ),
  'webhook.redirect': openPoint('WH1', 'Whether redirects of the webhook are followed.', 'A redirect is a failure.'),
  'webhook.order': openPoint(
    'EV1',
    'The order of deliveries.',
    'Per chat in the order they were caused, each after the response to the one before; different chats are independent.',
  ),
  'webhook.basicAuth': openPoint(
    'WH1',
    'Whether the platform sends a user and a password that are in the webhook URL.',
    'They are not sent. With on, each event has them in Authorization, as most HTTP clients write them.',
  ),
  'webhook.idHeader': openPoint(
    'EV1',
    'Whether a delivery carries an id or a retry marker.',
    'None: the payloads have none.',
  ),
  'typing.webhook': openPoint(
    'EV9',
    'What triggers the two typing events.',
    'Sent after typing_start, after typing_stop and when the indicator times out; any answer but a redirect counts as received.',
  ),
  'typing.response': openPoint(
    'E7',
    'The response body of typing_start and typing_stop.',
    'An empty object with status 200: the smallest body a client can rely on.',
  ),
  'typing.again': openPoint('E7.5', 'Typing again while the indicator is on.', 'The new call replaces the timer.'),
  'typing.timeout': openPoint('L5', 'A timeout of zero or less.', 'Refused as an invalid parameter.'),
  'typing.clearOn': openPoint(
    'E7.5',
    'Whether a message or the end hides the typing indicator.',
    'The end hides it, a message does not.',
  ),
  'typing.idle': openPoint(
    'ST13',
    'Typing while no agent has taken the chat over.',
    '200, as in a chat with an agent.',
  ),
  'errors.body': openPoint(
    'ER4',
    'Status codes, error bodies and error codes.',
    '400 for bad JSON, 401 for the key, 403 for the scope, 404 for an id or path, 405, 413; the body names code, message and field.',
  ),
  'errors.validation': openPoint('ER4', 'The status of a refused parameter.', '400.'),
  'errors.idMismatch': openPoint('A5', 'A bot_id and a chat_id that do not belong together.', '404.'),
  'summarize.errorStatus': openPoint(
    'ER3',
    'The error when a chat is too short to summarize.',
    '400 precondition_failed: the request itself is well formed.',
  ),
  'summarize.count': openPoint(
    'L2',
    'How "more than 30 characters" counts.',
    'Code points of the trimmed user messages, added up.',
  ),
  'summarize.text': openPoint(
    'E2.5',
    'Text and language of a summary.',
    'A fixed template drawn from the user messages, in the language of the chat.',
    'summarize.vary',
    'summarize.prompt',
  ),
  'summarize.latency': openPoint('E2.5', 'How long a summary takes.', 'It is ready at once.'),
  'availability.initial': openPoint(
    'ST17',
    'Availability before the first update.',
    'OPEN, so that a first run works.',
  ),
  'availability.otherQueues': openPoint('R-AVL.2', 'Queues other than DEFAULT.', 'Another queue is refused.'),
  'availability.missingQueue': openPoint('R-AVL.2', 'An availability call without a queue.', 'It means DEFAULT.'),
  'availability.missingReason': openPoint('R-AVL.3', 'An availability call without a reason.', 'Accepted.'),
  'availability.closedBlocksStart': openPoint(
    'ST21',
    'What CLOSED does to chats that wait or are taken over, and to start.',
    'No effect: only new requests stop.',
  ),
  'time.format': openPoint(
    'R-AVL.4',
    'The format of updated_at.',
    'ISO 8601 with microseconds and Z, as in the transcript sample.',
  ),
  'keys.handover': openPoint('A2', 'The API key of the handover settings page.', 'A fixed key, the same in every run.'),
  'keys.bot': openPoint('A3', 'The bot API key with the scope Read chats.', 'A fixed key, the same in every run.'),
  'keys.more': openPoint(
    'E3.6',
    'Which bot an availability call means: its body has no bot_id.',
    'The bot the key belongs to; the answer gives bot_id as a string, as published.',
  ),
  'keys.shared': openPoint(
    'A3',
    'Whether the handover key also reads transcripts.',
    'No: only a key with Read chats does; the other one gets 403 with a hint.',
  ),
  'keys.graceful': openPoint(
    'A4',
    'What happens to the old key when a new one is made.',
    'The old key is refused at once; events are signed with the new one.',
  ),
  'request.repeat': openPoint(
    'ST4',
    'Pressing the handover button while closed, while a request waits, or while an agent is there.',
    'Closed: the closed text and no event (no text either while an agent is there: the bot stays silent). Otherwise the event is sent again. The press itself adds no user message.',
  ),
  'request.forwardPending': openPoint(
    'ST5',
    'Whether user messages are sent to the webhook while a request waits.',
    'No event is sent; the bot answers.',
  ),
  'request.closedButton': openPoint(
    'ST23',
    "Whether the bot's own button that asks for an agent is shown while handover is closed.",
    "Shown: a press brings the closed text. Hidden: it cannot be pressed. The platform's own clients hide a button that has hide_outside_business_hours.",
  ),
  'bot.delay': openPoint('ST2', 'How long the bot takes to answer.', 'It answers at once, on the simulator clock.'),
  'start.unrequested': openPoint('ST6', 'A start without a request.', '200, as with a request.'),
  'start.again': openPoint(
    'ST6',
    'A start while the chat is taken over.',
    '200 with a new message id; sender, languages and attachment support are replaced.',
  ),
  'end.idle': openPoint(
    'ST13',
    'An end while no agent has taken the chat over.',
    '200 with a fresh id that is in no transcript; no text is added.',
  ),
  'message.requiresTakeover': openPoint(
    'ST13',
    'A message while no agent has taken the chat over.',
    '200; the user gets it.',
  ),
  'message.allowEmpty': openPoint('L', 'An empty message.', 'Refused.'),
  'messages.open': openPoint(
    'ST20',
    "The text for 'Handover is open' (configured in the workspace).",
    'A short sentence in the language of the chat, or in English.',
  ),
  'messages.closed': openPoint(
    'ST23',
    "The text for 'Handover is closed' (configured in the workspace).",
    'A short sentence in the language of the chat, or in English.',
  ),
  'messages.entering': openPoint(
    'ST8',
    'The text when an agent enters (configured in the workspace).',
    'A short sentence in the language of the chat, or in English; {name} is the sender.',
  ),
  'messages.left': openPoint(
    'ST15',
    'The text when the agent leaves (configured in the workspace).',
    'A short sentence in the language of the chat, or in English; {name} is the sender.',
  ),
  'strict.sender': openPoint(
    'R-SENDER.4',
    'A message without sender, name or avatar: expected, but not called required.',
    'Accepted with a finding.',
  ),
  'buttons.form': openPoint(
    'R-BTN',
    'The fields of a button, and what a press of it does.',
    "Typed, as the platform's own clients have it: button_type (or type), label, value, index, is_active, hide_outside_business_hours. A link, a phone and an email open value; a quick_reply writes value as the user; is_active false cannot be pressed. Without a type, label, url and handover count, as with own.",
  ),
  'buttons.schema': openPoint(
    'R-BTN',
    'Which buttons are refused.',
    "Any object is accepted, and what is not read passes through. Strict accepts what the platform's own clients show, or with buttons.form=own a label.",
  ),
  'limits.body': openPoint('L', 'The largest body.', 'A body over 1 MiB is 413.'),
  'limits.nesting': openPoint('L', 'The deepest body.', 'A body nested more than 200 levels deep is refused.'),
  'limits.rate': openPoint('L', 'Rate limits.', 'None.'),
  'limits.attachmentKb': openPoint(
    'L',
    'Attachment limits.',
    'None from the platform; the simulator makes up to 100 MB.',
  ),
  'attachments.auth': openPoint('R-ATT', 'Who may open an attachment link.', 'Anyone: the agent can click it.'),
  'attachments.ttl': openPoint('R-ATT', 'How long an attachment link works.', 'For as long as the simulator runs.'),
  'attachments.whenEmpty': openPoint(
    'EV5',
    'attachments when a message has none, and the text of a message that is only files.',
    'An empty list when started with support, no key otherwise; an empty text.',
  ),
  'translation.match': openPoint(
    'E4.7',
    'How language codes are compared (en and en-GB).',
    'Without case, by primary subtag; no is not nb.',
    'translation.aliases',
  ),
  'translation.engine': openPoint(
    'E4.8',
    'The translated text, an empty language_codes, the engine.',
    'A visible marker such as [no>en] before the text; an empty list turns translation off.',
  ),
  'transcript.text': openPoint(
    'R-MSG',
    'Which text the transcript keeps of a translated message.',
    'The text as the user typed or saw it.',
  ),
  'transcript.state': openPoint(
    'R-REC',
    'The values of state and their transitions.',
    'Always chatting, the only sample.',
  ),
  'transcript.source': openPoint(
    'R-REC',
    'The values of source.',
    'Events: web, facebook, slack, app, test, android, ios. Transcript: chatbubble for web, else the same word.',
  ),
  'transcript.takenOver': openPoint(
    'R-REC',
    'taken_over when it is not null.',
    "true, which the platform's public pages suggest; null when the chat is not taken over.",
  ),
  'transcript.extra': openPoint(
    'R-REC',
    'The elements of comments, and further fields.',
    "An empty list; no field is added. The word client adds to each message the fields that the platform's own clients have: sender, message_format, image_carousel, video_source, reply_to_id, labels_triggered, from_webhook, agent_joined, v.",
  ),
  'transcript.handover': openPoint(
    'E1.3',
    'Further fields of the handover transcript, and where it is cut off.',
    'The same record as the chat transcript; messages before the latest request, all of them if there was none.',
  ),
  'transcript.agentFromBot': openPoint(
    'R-MSG',
    'from_bot, exchange_id and exchange_type of messages by an agent or the system.',
    "from_bot is true, the name is the sender's, both exchange fields are null.",
  ),
  'transcript.noticeExchange': openPoint(
    'R-MSG',
    'exchange_id of a notice of the workspace, such as the text when an agent enters.',
    "Notices carry an id, as the platform's public pages show for neighbouring APIs; exchange_type is null.",
  ),
  'transcript.exchangeType': openPoint(
    'R-MSG',
    'exchange_type of messages of the bot.',
    "usersays, the only sample. By kind: greeting for the first message of a chat, fallback for an answer that offers an agent, usersays for any other answer, dialogue for what follows the bot, which are types of the platform's own clients.",
  ),
  'ids.chat': openPoint('R-CHAT', 'The form of chat ids.', 'A UUID.'),
  'ids.message': openPoint('R-MSG', 'The form of message ids.', '24 hexadecimal digits.'),
  'ids.user': openPoint('R-USER', 'The form of user ids.', '24 hexadecimal digits.'),
  'ids.exchange': openPoint('R-MSG', 'The form of exchange ids.', 'A UUID.'),
  'api.trailingSlash': openPoint('E6.1', 'Trailing slashes other than written.', 'Accepted.'),
  'api.byteOrderMark': openPoint('E0.2', 'A byte order mark before the body.', 'Accepted with a finding.'),
  'api.contentEncoding': openPoint(
    'E0.2',
    'A Content-Encoding other than identity.',
    'A finding; the body is parsed as it is, so a compressed one is not valid JSON.',
  ),
  'api.contentType': openPoint('E0.2', 'A missing or different Content-Type.', 'Accepted with a finding.'),
  'api.answers': openPoint(
    'V4',
    'Whether answers gain fields or change the order of fields, and whether errors are worded otherwise.',
    "As described. The platform's public pages reserve all three, without notice.",
  ),
  'api.unknownFields': openPoint('ER1', 'Unknown fields in a request.', 'Ignored with a finding.'),
  'api.nulls': openPoint('ER4', 'A null in an optional field of a request.', 'Read as left out, with a finding.'),
  'api.emptyFields': openPoint(
    'ER4',
    'An empty text or list in an optional field of a request.',
    'Read as left out, with a finding.',
  ),
  'api.versions': openPoint(
    'V4',
    'Other API versions and their end of life.',
    'There are none: calls of other versions get 404.',
  ),
  'api.cors': openPoint(
    'E9.1',
    'Which web pages may call the API from a browser and read its answers (CORS).',
    'Pages on loopback addresses and localhost, and those listed. While published default keys are in force, other pages, and clients that use a host name unknown to the server, get 403 from handover-sim itself.',
  ),
  'chat.idleTimeout': openPoint('R-REC', 'When a chat ends by itself (active turns false).', 'Never.'),
  'chat.closed': openPoint(
    'ST15',
    'What the end of a chat by its user does to a handover, and to calls for the chat; whether the webhook hears of it.',
    'The chat stays taken over until end, and calls are accepted: the description knows no other way back to the bot. No event is sent, because it lists none.',
  ),
  'chat.deleted': openPoint(
    'R-REC',
    'What calls for a chat get whose log its user has deleted.',
    'Any call gets 404, as for a chat that never was; the handover is over, because nothing could end it.',
  ),
  'chat.reopens': openPoint(
    'ST11',
    'What a message or a press does in a chat that its user has closed or deleted, as in an old tab.',
    'The chat is active again with what is left of it, and the message goes to who has the chat.',
  ),
} as const satisfies Record<string, OpenPoint>

export type AssumptionName = keyof typeof OPEN_POINTS

/** Open points of which the simulator, by default or with another value, refuses what the description does not forbid. */
export const ASSUMED_REFUSALS: readonly string[] = [
  'typing.timeout',
  'message.allowEmpty',
  'start.unrequested',
  'limits.body',
  'limits.nesting',
  'limits.rate',
  'api.trailingSlash',
  'api.unknownFields',
  'api.nulls',
  'api.emptyFields',
] satisfies AssumptionName[]

/**
 * How traffic shows what the platform does. ordinary: any traffic does. provoked: traffic does after a person has done
 * something unusual. never: it is a setting of the workspace, a choice of the simulator's engine, or follows an act of the
 * user of which the platform sends no event.
 */
export type AssumptionClass = 'ordinary' | 'provoked' | 'never'

/**
 * What an assumption rests on. described: the platform's description says that it is a setting. documented: the platform
 * documents it elsewhere. seen: in recorded traffic (`evidence` of the config file). assumed: nothing.
 */
export type AssumptionTier = 'described' | 'documented' | 'seen' | 'assumed'

const NEVER: readonly AssumptionName[] = [
  'webhook.basicAuth',
  'summarize.text',
  'summarize.latency',
  'availability.initial',
  'keys.handover',
  'keys.bot',
  'keys.more',
  'keys.graceful',
  'bot.delay',
  'messages.open',
  'messages.closed',
  'messages.entering',
  'messages.left',
  'request.closedButton',
  'limits.attachmentKb',
  'translation.engine',
  'api.answers',
  'api.cors',
  'chat.closed',
  'chat.deleted',
  'chat.reopens',
]
const ORDINARY: readonly AssumptionName[] = [
  'webhook.signature',
  'webhook.json',
  'webhook.idHeader',
  'typing.webhook',
  'typing.response',
  'time.format',
  'buttons.form',
  'attachments.whenEmpty',
  'transcript.state',
  'transcript.source',
  'transcript.takenOver',
  'transcript.extra',
  'transcript.handover',
  'transcript.agentFromBot',
  'transcript.noticeExchange',
  'transcript.exchangeType',
  'ids.chat',
  'ids.message',
  'ids.user',
  'ids.exchange',
]
const DESCRIBED: readonly AssumptionName[] = [
  'keys.handover',
  'keys.bot',
  'messages.open',
  'messages.closed',
  'messages.entering',
  'messages.left',
]
const DOCUMENTED: readonly AssumptionName[] = [
  'webhook.signature',
  'request.closedButton',
  'buttons.form',
  'transcript.source',
  'transcript.extra',
  'transcript.exchangeType',
  'ids.chat',
]

export interface Assumption extends Omit<OpenPoint, 'furtherKnobs'> {
  readonly name: AssumptionName
  readonly class: AssumptionClass
  /** The tier before any traffic was recorded. */
  readonly tier: AssumptionTier
  /** The principal knob first; empty when no knob changes the behaviour. */
  readonly knobs: readonly KnobName[]
}

const NAMES = keysOf(OPEN_POINTS)

export const ASSUMPTIONS: readonly Assumption[] = NAMES.map(name => {
  const { furtherKnobs, ...openPoint } = OPEN_POINTS[name]
  return {
    name,
    ...openPoint,
    class: NEVER.includes(name) ? 'never' : ORDINARY.includes(name) ? 'ordinary' : 'provoked',
    tier: DESCRIBED.includes(name) ? 'described' : DOCUMENTED.includes(name) ? 'documented' : 'assumed',
    knobs: isKnob(name) ? [name, ...furtherKnobs] : furtherKnobs,
  }
})

/** The assumption a knob changes. */
export const assumptionOf = (knob: KnobName): Assumption => ASSUMPTIONS.find(({ knobs }) => knobs.includes(knob))!

/** What recorded traffic shows about one behaviour. */
export interface EvidenceItem {
  /** The value of the knob that fits; absent for an assumption without a knob. */
  readonly value?: unknown
  /** How many entries of recordings show it. */
  readonly count: number
  /** The day of the latest, `YYYY-MM-DD`. */
  readonly date: string
  /** The recording. */
  readonly file: string
}

/** A knob, or an assumption without one. */
export type Behaviour = KnobName | AssumptionName

export const BEHAVIOURS: readonly Behaviour[] = ASSUMPTIONS.flatMap(({ name, knobs }): readonly Behaviour[] =>
  knobs.length > 0 ? knobs : [name],
)

export type Evidence = { readonly [Name in Behaviour]?: EvidenceItem }

/** Whether the evidence shows this value, as config files write it. Another value of the knob makes it void. */
export function shows(evidence: Evidence | undefined, name: Behaviour, value: unknown): boolean {
  const item = evidence?.[name]
  if (item === undefined || !isKnob(name)) return item !== undefined
  return JSON.stringify(formatKnob(name, parseKnob(name, item.value))) === JSON.stringify(value)
}

/** Whether the evidence shows what is in force. */
export const isSeen = (evidence: Evidence | undefined, name: Behaviour, knobs: Knobs): boolean =>
  shows(evidence, name, isKnob(name) ? formatKnob(name, knobs[name]) : null)

/** What an assumption rests on: the evidence of the user, else what the platform says. */
export const tierOf = (name: AssumptionName, evidence: Evidence | undefined, knobs: Knobs): AssumptionTier =>
  isSeen(evidence, name, knobs) ? 'seen' : (ASSUMPTIONS.find(assumption => assumption.name === name)?.tier ?? 'assumed')

/** The tier of the assumption that a knob changes. */
export const tierOfKnob = (knob: KnobName, evidence: Evidence | undefined, knobs: Knobs): AssumptionTier =>
  isSeen(evidence, knob, knobs) ? 'seen' : assumptionOf(knob).tier

/** Evidence may be outdated after so many days. */
const MAX_AGE_DAYS = 30
const DAY_MS = 86_400_000

/** Says that evidence is old; null when none is. */
export function agedEvidence(evidence: Evidence, nowIso: string): string | null {
  const items = Object.values(evidence).filter(item => item !== undefined)
  const old = items.filter(({ date }) => Date.parse(nowIso) - Date.parse(date) > MAX_AGE_DAYS * DAY_MS)
  const [oldest] = old.toSorted((a, b) => a.date.localeCompare(b.date))
  if (oldest === undefined) return null
  const count = old.length === 1 ? 'one behaviour' : `${old.length} behaviours`
  return `The evidence for ${count} is older than ${MAX_AGE_DAYS} days (the oldest of ${oldest.date}, ${oldest.file}): record the platform again, and run npx handover-sim calibrate.`
}
