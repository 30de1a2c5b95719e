/** Defines intermediaries that are built in another way than the example and are as correct, as changes of the example. */
import type { Patch } from './patch.ts'

const change = (file: string, find: string, replacement: string): Patch => ({ file, find, replacement })

const NEW_CONVERSATION = 'log(`request, new conversation'
const NOTED = 'conversation.inbox.push({ ...messageFrom(event), ...(late && { note: true }) })'
const SAY = '    this.#message(conversation, text, this.#agent(conversation), buttons)'
const BACKOFF = 'const FIRST_BACKOFF_MS = 500'
const POST = 'const { url, apiKey } = this.#settings'
const REPLY = "const retryAfter = response.headers.get('retry-after')"
const NO_REPLY = 'return { status: 0, text: nameOf(error), retryAfter: null }\n    }'
const REQUESTED = '  requested(id, event) {'
const LEARN = '  learn(id, event) {'
const HANDLED = '    return handler({ body, chat, request }) ?? QUEUED'
const KNOWN = 'return log(`request again'
const TRANSCRIPT = change(
  'platform.js',
  'typing_start: {',
  "transcript: { path: 'transcript', confirmedBy: 'TRANSCRIPT' },\n  typing_start: {",
)
const INBOX = 'ok(chat.inbox)'
const WITH_FILES = (file: string) =>
  `ok(chat.inbox.map(item => ({ ...item, attachments: item.attachments?.map(file => (${file})) })))`
const STARTED = '      supports_attachment: true,\n    })'
const ACKNOWLEDGE = 'return { status: 200, body: { ok: true } }'

export const DESIGNS = {
  /** Tells the user at once about the queue, and reads the transcript; texts are split, and shown later. */
  'does-more': [
    change('platform.js', '/api/v2/handover/', '/api/v2/takeover/'),
    TRANSCRIPT,
    change(
      'desk.js',
      NEW_CONVERSATION,
      `this.announce(conversation)\n    this.#call(conversation, 'transcript')\n    ${NEW_CONVERSATION}`,
    ),
    change('desk.js', NOTED, `setTimeout(() => ${NOTED}, 300)`),
    change(
      'desk.js',
      SAY,
      `    for (const part of text.match(/[^]{1,20000}/g)) {\n  ${SAY.replace('text', 'part')}\n    }`,
    ),
  ],
  /** Has five connections for all chats, reads the transcript for each request, and pauses all calls after a 401. */
  'shares-connections': [
    change('platform.js', BACKOFF, `let busy = 0\nlet pausedUntilMs = 0\n${BACKOFF}`),
    change(
      'platform.js',
      'typing_start: {',
      "transcript: { path: 'transcript', confirmedBy: 'TRANSCRIPT' },\n  typing_start: {",
    ),
    change('desk.js', NEW_CONVERSATION, `this.#call(conversation, 'transcript')\n    ${NEW_CONVERSATION}`),
    change(
      'platform.js',
      POST,
      `while (busy >= 5 || Date.now() < pausedUntilMs) await sleep(5)\n    busy++\n    ${POST}`,
    ),
    change('platform.js', REPLY, `if (response.status === 401) pausedUntilMs = Date.now() + 3_000\n      ${REPLY}`),
    change('platform.js', NO_REPLY, `${NO_REPLY} finally {\n      busy--\n    }`),
  ],
  /** Learns of a request some time after it was acknowledged, and answers each call of an agent slowly. */
  'is-slow': [
    change(
      'desk.js',
      REQUESTED,
      `  requested(id, event) {\n    setTimeout(() => this.learn(id, event), 700)\n  }\n${LEARN}`,
    ),
    change('desk-api.js', HANDLED, `    await new Promise(resolve => setTimeout(resolve, 60))\n${HANDLED}`),
  ],
  /** Has no queue and no list of requests: the agent waits for each call, and chats are unknown before a request. */
  'does-less': [
    change('platform.js', 'const MAX_TRIES = 5', 'const MAX_TRIES = 1'),
    change(
      'desk-api.js',
      HANDLED,
      `    const answer = handler({ body, chat, request })
    while (chat && chat.outbox.length > 0) await new Promise(resolve => setTimeout(resolve, 5))
    return answer ?? QUEUED`,
    ),
    change(
      'desk-api.js',
      'GET: ({ chat }) => ok(chat.inbox)',
      'GET: ({ chat }) => ok(chat.inbox.filter(item => !item.request))',
    ),
    change(
      'desk.js',
      "const conversation = known ?? this.#conversation(id, event, 'held')",
      'if (!known) return\n    const conversation = known',
    ),
  ],
  /** Reads the transcript with every request, also a repeated one, and tells waiting users their place again and again. */
  'repeats-notices': [
    TRANSCRIPT,
    change(
      'desk.js',
      NEW_CONVERSATION,
      `this.#call(conversation, 'transcript')
    const timer = setInterval(() => {
      if (conversation.status !== 'pending') return clearInterval(timer)
      this.announce(conversation)
    }, 300).unref()
    ${NEW_CONVERSATION}`,
    ),
    change('desk.js', KNOWN, `this.#call(known, 'transcript')\n      ${KNOWN}`),
  ],
  /** Its inbox cannot be read by the driver. */
  'has-no-readable-inbox': [change('desk-api.js', INBOX, '({ status: 500, body: null })')],
  /** Its inbox has the names of files, and no links. */
  'lists-names-of-files': [change('desk-api.js', INBOX, WITH_FILES('{ name: file.name }'))],
  /** The links of its inbox are relative to the page of the help desk. */
  'has-relative-links': [change('desk-api.js', INBOX, WITH_FILES("{ ...file, url: '/files/' + file.name }"))],
  /** Shows the user that the agent types as soon as it accepts, and answers typing events with 202. */
  'types-at-accept': [
    change('desk.js', STARTED, `${STARTED}\n    this.type(conversation, true)`),
    change(
      'webhook.js',
      ACKNOWLEDGE,
      `if (event.event.startsWith('AGENT TYPING')) return { status: 202, body: {} }\n    ${ACKNOWLEDGE}`,
    ),
  ],
} as const satisfies Readonly<Record<string, readonly Patch[]>>

export type DesignName = keyof typeof DESIGNS
