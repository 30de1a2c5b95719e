/** Defines intermediaries that are built in another way than the example and are as correct, as changes of the example. */
import { desk, deskApi, history, outbox, type Patch, platform, webhook } from './patch.ts'

const NEW_CONVERSATION = 'log(`request, new conversation'
const NOTED = 'conversation.inbox.push({ ...messageFrom(event), ...(late && { note: true }) })'
const SAY = '    this.#message(conversation, text, this.#agent(conversation), buttons)'
const BACKOFF = 'const FIRST_BACKOFF_MS = 500'
const POST = 'const { url, apiKey, botApiKey } = this.#settings'
const REPLY = "const retryAfter = response.headers.get('retry-after')"
const NO_REPLY = 'return { status: 0, text: nameOf(error), retryAfter: null }\n    }'
const REQUESTED = '  requested(id, event) {'
const LEARN = '  learn(id, event) {'
const HANDLED = '    return handler({ body, chat, request }) ?? QUEUED'
const KNOWN = 'return log(`request again'
const CONTEXT = platform.before('typing_start: {', "context: { path: 'transcript', confirmedBy: 'TRANSCRIPT' },")
const INBOX = 'ok(chat.inbox)'
const REQUEST_ITEM = 'conversation.inbox.push({ request: true })'
const SHOW_LINES = 'inbox.splice(place, 0, ...lines)'
const BLOCK = "lines.map(({ from, text }) => from + ': ' + text).join('\\n')"
const WITH_FILES = (file: string) =>
  `ok(chat.inbox.map(item => ({ ...item, attachments: item.attachments?.map(file => (${file})) })))`
const STARTED = '      supports_attachment: true,\n    })'
const ACKNOWLEDGE = 'return { status: 200, body: { ok: true } }'
const STORE = '    this.#dispatch(event)'
const SENT = 'const outcome = await this.#platform.send(call)'
const HANDLE = 'return handler({ body, chat, request }) ?? QUEUED'
const QUEUED_CALL = '    queue.outbox.push(call)\n    this.#store.save()\n    this.#wake(queue)'
const PLATFORM_KNOWN = '    this.#platform = platform\n    this.#desk = desk\n  }'
/** Handles what is queued, every 100 ms, in the order in which it came. What cannot be done is lost, so it is in the log. */
const HANDLE_QUEUE = `for (const work of this.queue.splice(0)) {
        try {
          work()
        } catch (error) {
          console.error(error)
        }
      }`

export const DESIGNS = {
  /** Tells the user at once about the queue, and reads the transcript; texts are split, and shown later. */
  'does-more': [
    platform('/api/v2/handover/', '/api/v2/takeover/'),
    CONTEXT,
    desk.before(NEW_CONVERSATION, "this.announce(conversation)\n    this.#call(conversation, 'context')"),
    desk(NOTED, `setTimeout(() => ${NOTED}, 300)`),
    desk(SAY, `    for (const part of text.match(/[^]{1,20000}/g)) {\n  ${SAY.replace('text', 'part')}\n    }`),
  ],
  /** Has five connections for all chats, reads the transcript for each request, and pauses all calls after a 401. */
  'shares-connections': [
    platform.before(BACKOFF, 'let busy = 0\nlet pausedUntilMs = 0'),
    CONTEXT,
    desk.before(NEW_CONVERSATION, "this.#call(conversation, 'context')"),
    platform.before(POST, 'while (busy >= 5 || Date.now() < pausedUntilMs) await sleep(5)\n    busy++'),
    platform.before(REPLY, 'if (response.status === 401) pausedUntilMs = Date.now() + 3_000'),
    platform(NO_REPLY, `${NO_REPLY} finally {\n      busy--\n    }`),
  ],
  /** Learns of a request some time after it was acknowledged, and answers each call of an agent slowly. */
  'is-slow': [
    desk(REQUESTED, `  requested(id, event) {\n    setTimeout(() => this.learn(id, event), 700)\n  }\n${LEARN}`),
    deskApi.before(HANDLED, 'await new Promise(resolve => setTimeout(resolve, 60))'),
  ],
  /** Has no queue and no list of requests: the agent waits for each call, and chats are unknown before a request. */
  'does-less': [
    platform('const MAX_TRIES = 5', 'const MAX_TRIES = 1'),
    deskApi(
      HANDLED,
      `    const answer = handler({ body, chat, request })
    while (chat && chat.outbox.length > 0) await new Promise(resolve => setTimeout(resolve, 5))
    return answer ?? QUEUED`,
    ),
    deskApi('GET: ({ chat }) => ok(chat.inbox)', 'GET: ({ chat }) => ok(chat.inbox.filter(item => !item.request))'),
    desk(
      "const conversation = known ?? this.#conversation(id, event, 'held')",
      'if (!known) return\n    const conversation = known',
    ),
  ],
  /** Reads the transcript with every request, also a repeated one, and tells waiting users their place again and again. */
  'repeats-notices': [
    CONTEXT,
    desk.before(
      NEW_CONVERSATION,
      `this.#call(conversation, 'context')
    const timer = setInterval(() => {
      if (conversation.status !== 'pending') return clearInterval(timer)
      this.announce(conversation)
    }, 300).unref()`,
    ),
    desk.before(KNOWN, "this.#call(known, 'context')"),
  ],
  /** Shows what was written before as one text. */
  'shows-one-block': history(SHOW_LINES, `inbox.splice(place, 0, { text: ${BLOCK}, attachments: [] })`),
  /** Shows it in the request. */
  'describes-the-request': history(SHOW_LINES, `Object.assign(inbox[place - 1] ?? {}, { text: ${BLOCK} })`),
  /** Links to a page with what was written before. */
  'links-to-the-conversation': [
    desk(REQUEST_ITEM, REQUEST_ITEM.replace('true', "true, text: 'https://desk.example.test/chats/' + id")),
    outbox('this.add(chat.reads, {', 'void ({'),
  ],
  /** Its inbox cannot be read by the driver. */
  'has-no-readable-inbox': deskApi(INBOX, '({ status: 500, body: null })'),
  /** Its inbox has the names of files, and no links. */
  'lists-names-of-files': deskApi(INBOX, WITH_FILES('{ name: file.name }')),
  /** The links of its inbox are relative to the page of the help desk. */
  'has-relative-links': deskApi(INBOX, WITH_FILES("{ ...file, url: '/files/' + file.name }")),
  /** Shows the user that the agent types as soon as it accepts, and answers typing events with 202. */
  'types-at-accept': [
    desk.after(STARTED, 'this.type(conversation, true)'),
    webhook.before(ACKNOWLEDGE, "if (event.event.startsWith('AGENT TYPING')) return { status: 202, body: {} }"),
  ],
  /** Records that a handover has started or ended some time after the answer to the call. Until then agents cannot write. */
  'records-calls-late': [
    desk("{ status: 'open', failed: null }", '{ failed: null }'),
    desk("{ status: 'closed', failed: null, typing: false }", '{ failed: null, typing: false }'),
    outbox.after(
      SENT,
      `const status = outcome.ok ? { start: 'open', end: 'closed' }[call.name] : undefined
    if (status !== undefined)
      setTimeout(() => {
        queue.status = status
        this.#store.save()
      }, 75)`,
    ),
  ],
  /** Acknowledges an event first, and handles it some time later. A crash in between loses the event. */
  'handles-events-late': webhook(
    STORE,
    '    setTimeout(() => {\n      try {\n        this.#dispatch(event)\n      } catch (error) {\n        log(String(error))\n      }\n    }, 75)',
  ),
  /** Asks the help desk every 100 ms what its agents have done. */
  'polls-the-desk': [
    deskApi(
      '    this.#desk = desk',
      `    this.queue = []
    setInterval(() => {
      ${HANDLE_QUEUE}
    }, 100).unref()
    this.#desk = desk`,
    ),
    deskApi(
      HANDLE,
      `if (request.method !== 'POST') return handler({ body, chat, request })
    this.queue.push(() => handler({ body, chat, request }))
    return QUEUED`,
    ),
  ],
  /** Handles its events, and makes its calls, every 100 ms. A crash in between loses events. */
  'works-in-batches': [
    webhook(
      PLATFORM_KNOWN,
      `    this.#platform = platform
    this.#desk = desk
    this.queue = []
    setInterval(() => {
      ${HANDLE_QUEUE}
    }, 100).unref()
  }`,
    ),
    webhook(STORE, '    this.queue.push(() => this.#dispatch(event))'),
    outbox(QUEUED_CALL, '    queue.outbox.push(call)\n    this.#store.save()'),
    outbox.after('    this.#store = store', 'setInterval(() => this.resume(), 100).unref()'),
  ],
} as const satisfies Readonly<Record<string, Patch | readonly Patch[]>>

export type DesignName = keyof typeof DESIGNS
