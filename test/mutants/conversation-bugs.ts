/**
 * Defines bugs of the example intermediary that need a certain conversation: an order, a count, a text, a second chat. No
 * shipped scenario and no check finds them; `explore` does. Each has the shortest conversation that shows it.
 */
import type { Act, ActKind } from '../../src/running/explorer/model.ts'
import { conversations, desk, type Patch } from './patch.ts'

const RECEIVED = "const conversation = known ?? this.#conversation(id, event, 'held')"
const SAY = '    this.#message(conversation, text, this.#agent(conversation), buttons)'
const CLOSED = "Object.assign(conversation, { status: 'closed', failed: null, typing: false })"
const KNOWN = 'return log(`request again'
const AVAILABILITY = "const availability = open ? 'OPEN' : 'CLOSED'"
/** What came by webhook, without what comes from a transcript. */
const TEXTS = 'conversation.inbox.filter(item => !item.request && item.from === undefined).length'
const ACCEPTED = "Object.assign(conversation, { status: 'open', failed: null })"
const TYPED = 'conversation.typing = on'
const REQUESTS = 'conversation.inbox.filter(item => item.request).length'

/** Leaves an event out when a condition holds. */
const ignoring = (condition: string) => desk.after(RECEIVED, `if (${condition}) return`)
/** Sends a text of the agent only when a condition does not hold. */
const notSaying = (condition: string) => desk.before(SAY, `if (${condition}) return`)
/** Does this before a text of the agent is sent. */
const beforeSaying = (statement: string) => desk.before(SAY, `${statement}`)

/** `accept`, `2 press`: in the second chat; `says:command`: with a text of this kind; `user/quick`: at this pace. */
const act = (words: string): Act => {
  const [, chat = '1', kind = '', text, value, pace = 'human', file] =
    /^(?:(\d) )?([a-z]+)(?::([a-z]+)(?:=(.+?))?)?(?:\/(quick|during|slow))?(\+file)?$/.exec(words) ?? []
  const isText = kind === 'user' || kind === 'says'
  return {
    kind: kind as ActKind,
    chat: Number(chat) - 1,
    pace: pace as Act['pace'],
    ...(isText && { text: { kind: text ?? 'plain', value: value ?? `Text of ${kind}` } }),
    ...(file && { files: [{ name: 'no extension', type: 'application/octet-stream', size_kb: 3 }] }),
  }
}

interface ConversationBug {
  readonly patches: readonly Patch[]
  readonly acts: readonly Act[]
}

/** The acts of `press, 2 press, says:command=stop/quick`. */
export const actsOf = (words: string): Act[] => words.split(', ').map(act)

const bug = (acts: string, ...patches: readonly Patch[]): ConversationBug => ({ patches, acts: actsOf(acts) })

export const CONVERSATION_BUGS = {
  'loses-the-first-text-after-a-silent-handover': bug(
    'press, accept, leave, press, accept, user',
    ignoring(`${REQUESTS} === 2 && ${TEXTS} === 0 && !conversation.lost && (conversation.lost = true)`),
  ),
  'gives-up-after-three-presses': bug(
    'press, press, press, accept',
    desk.before(
      KNOWN,
      "known.presses = (known.presses ?? 1) + 1\n      if (known.presses === 3 && known.status === 'pending') known.status = 'closed'",
    ),
  ),
  'takes-digits-for-a-code': bug('press, accept, user:digits=4711', ignoring('/^\\d{3,10}$/.test(event.message)')),
  'takes-a-slash-for-a-command': bug('press, accept, says:command=/start', notSaying("text.startsWith('/')")),
  'leaves-at-the-word-stop': bug('press, accept, says:command=stop', notSaying('/^(stop|end|quit)$/i.test(text)')),
  'drops-the-same-answer': bug(
    'press, accept, says, says:again=Text of says',
    notSaying('text === conversation.said || ((conversation.said = text), false)'),
  ),
  'lowers-capitals': bug(
    'press, accept, user:capitals=WHERE IS MY PARCEL 7',
    conversations(
      'text: text(event.message),',
      'text: text(event.message).replace(/^[A-Z0-9 ]{12,}$/, all => all.toLowerCase()),',
    ),
  ),
  'closes-the-queue-with-an-impatient-user': bug(
    '1 press, 2 press, 2 press, 2 accept, 2 leave, 1 accept',
    desk.before(KNOWN, "known.isImpatient = known.status === 'pending'"),
    desk.before(
      CLOSED,
      "if (conversation.isImpatient) for (const one of this.list()) if (one.status === 'pending') one.status = 'closed'",
    ),
  ),
  'loses-the-text-after-a-repeated-request': bug(
    'press, accept, user, press, user',
    desk.before(KNOWN, "known.skips = known.status === 'open' && known.inbox.some(item => item.text)"),
    ignoring('conversation.skips && !(conversation.skips = false)'),
  ),
  'empties-the-queue-when-away': bug(
    'press, away, back, accept',
    desk.after(
      AVAILABILITY,
      "if (!open) for (const one of this.list()) if (one.status === 'pending') one.status = 'closed'",
    ),
  ),
  'hears-nothing-while-typing': bug('press, accept, type, user', ignoring('conversation.typing')),
  'loses-files-without-extension': bug(
    'press, accept, user+file',
    conversations(
      'attachments: attachments.map(',
      "attachments: attachments.filter(file => file?.name?.includes('.')).map(",
    ),
  ),
  'keeps-typing-over-the-end': bug(
    'press, accept, type, leave, press, accept, says',
    desk.before(CLOSED, 'conversation.typed = conversation.typing'),
    notSaying('conversation.typed && !(conversation.typed = false)'),
  ),
  'forgets-the-other-chat-while-typing': bug(
    '1 press, 1 accept, 2 press, 2 accept, 1 type, 1 leave, 2 user',
    desk.before(
      CLOSED,
      "if (conversation.typing) for (const one of this.list()) one.skips = one.status === 'open' && one !== conversation",
    ),
    ignoring('conversation.skips && !(conversation.skips = false)'),
  ),
  'loses-a-text-during-the-start': bug(
    'press, accept, user/during',
    ignoring("conversation.outbox[0]?.name === 'start'"),
  ),
  'loses-a-file-sent-while-typing': bug(
    'press, accept, type, user+file',
    ignoring('conversation.typing && event.attachments?.length > 0'),
  ),
  'ignores-the-third-request': bug(
    'press, accept, leave, press, accept, leave, press',
    desk.before(
      "const conversation = this.#conversation(id, event, 'pending')",
      'if (known?.inbox.filter(item => item.request).length === 2) return',
    ),
  ),
  'loses-an-answer-during-the-start': bug(
    'press, accept, says/during',
    notSaying("conversation.outbox[0]?.name === 'start'"),
  ),
  'loses-the-answer-after-typing-twice': bug(
    'press, accept, type, type, says',
    desk.before(TYPED, 'conversation.isRetyped = on && conversation.typing'),
    notSaying('conversation.isRetyped && !(conversation.isRetyped = false)'),
  ),
  'loses-the-answer-after-a-text-that-was-broken-off': bug(
    'press, accept, type, stop, user, says',
    desk.before(TYPED, 'conversation.isBrokenOff = !on && conversation.typing'),
    desk.after(RECEIVED, 'conversation.skips = conversation.isBrokenOff'),
    beforeSaying(
      'conversation.isBrokenOff = false\n    if (conversation.skips && !(conversation.skips = false)) return',
    ),
    desk.after('if (conversation.typing) this.type(conversation, false)', 'conversation.isBrokenOff = false'),
  ),
  'ignores-a-lone-question-mark': bug('press, accept, user:short=?', ignoring('/^[?.]$/.test(event.message)')),
  'takes-a-link-for-spam': bug(
    'press, accept, user:link=www.example.test',
    ignoring('/^(www\\.|file:)/.test(event.message)'),
  ),
  'looks-answers-up-in-an-object': bug(
    'press, accept, says:word=constructor',
    beforeSaying('text = String(Object(Object.getOwnPropertyDescriptor(Object.prototype, text)).value ?? text)'),
  ),
  'takes-brackets-for-data': bug('press, accept, user:word=[]', ignoring('/^[[{"]+[\\]}"]+$/.test(event.message)')),
  'sends-the-address-of-a-link-only': bug(
    'press, accept, says:markup=[a](http://a.test)',
    beforeSaying("text = text.replace(/^\\[\\w+\\]\\((\\S+)\\)$/, '$1')"),
  ),
  'lowers-capitals-of-the-agent': bug(
    'press, accept, says:capitals=WHERE IS MY PARCEL 7',
    beforeSaying('text = text.replace(/^[A-Z0-9 ]{12,}$/, all => all.toLowerCase())'),
  ),
  'loses-the-answer-to-a-repeated-text': bug(
    'press, accept, user, user, says',
    desk.after(
      RECEIVED,
      "conversation.isEcho = event.message !== '' && conversation.inbox.at(-1)?.text === event.message",
    ),
    notSaying('conversation.isEcho && !(conversation.isEcho = false)'),
  ),
  'says-nothing-while-away': bug(
    'press, accept, away, says',
    desk.after(AVAILABILITY, 'for (const one of this.list()) one.isAway = !open'),
    notSaying('conversation.isAway'),
  ),
  'loses-the-first-text-after-a-break': bug(
    'press, accept, away, back, user',
    desk.after(AVAILABILITY, "for (const one of this.list()) one.skips = open && one.status === 'open'"),
    ignoring('conversation.skips && !(conversation.skips = false)'),
  ),
  'loses-a-first-answer-that-comes-late': bug(
    'press, accept, says/slow',
    desk.after(ACCEPTED, 'conversation.acceptedAtMs = Date.now()'),
    notSaying('Date.now() - conversation.acceptedAtMs > 2500 && !(conversation.acceptedAtMs = 0)'),
    beforeSaying('conversation.acceptedAtMs = Number.POSITIVE_INFINITY'),
  ),
  'mixes-the-typing-of-two-chats': bug(
    '1 press, 1 accept, 2 press, 2 accept, 1 type, 2 type, 1 says',
    notSaying('conversation.typing && this.list().some(one => one !== conversation && one.typing)'),
  ),
} as const satisfies Readonly<Record<string, ConversationBug>>

export type ConversationBugName = keyof typeof CONVERSATION_BUGS
