/**
 * Defines common bugs of intermediaries, each as the smallest change of the example. Nothing else changes, so a failure
 * of a scenario is caused by this bug.
 */
import {
  conversations,
  desk,
  deskApi,
  history,
  http,
  outbox,
  type Patch,
  platform,
  program,
  settings,
  signatures,
  webhook,
} from './patch.ts'

const STORE_AND_ACK = '    this.#dispatch(event)\n    return'
const KNOWN_REQUEST = "if (known?.status === 'pending' || known?.status === 'open') {"
const SAY = 'this.#message(conversation, text, this.#agent(conversation), buttons)'
const END = "this.#call(conversation, 'end', { sender: this.#agent(conversation) })"
const RECEIVED = "const conversation = known ?? this.#conversation(id, event, 'held')"
const NOTED = 'conversation.inbox.push({ ...messageFrom(event), ...(late && { note: true }) })'
const REQUESTED = 'conversation.inbox.push({ request: true })'
const REQUESTED_LATE = desk(REQUESTED, `setTimeout(() => ${REQUESTED}, 1_000)`)
const MESSAGE_CALL = "this.#call(conversation, 'message', { message: text, sender, buttons })"
const ANSWERED = 'return { status: response.status, text: await response.text(), retryAfter }'
const WORTH = 'return status === 0 || status === 429 || status >= 500'
const STARTED = '      supports_attachment: true,\n    })'
const FORGET = settings('stateFile: env.STATE_FILE || null', 'stateFile: null')
const STOP_FIRST = 'if (conversation.typing) this.type(conversation, false)'
const IDLE = desk.before('  availabilityProblems() {', 'idle() {\n    return this.#outbox.idle()\n  }')
const ANNOUNCE = desk.before('log(`request, new conversation', 'this.announce(conversation)')
const CALLS_FIRST = webhook(STORE_AND_ACK, '    this.#dispatch(event)\n    await this.#desk.idle()\n    return')
const OK = 'return { status: 200, body: { ok: true } }'
const PAUSE = (ms: number) => `await new Promise(resolve => setTimeout(resolve, ${ms}))`
const SIGNED = 'if (isSigned(body, webhookSecretOf(this.#platform), signature)) return'
const SEND = 'const outcome = await this.#platform.send(call)'

const REQUEST_ID = "return this.#desk.requested(nonEmptyString(event.chat?.id, 'chat.id'), event)"
const SIGNATURE = 'const signature = request.headers[SIGNATURE_HEADER]'
const LENGTHS = 'given.length === expected.length && timingSafeEqual(given, expected)'
const BODY = "createHmac('sha256', secret).update(body)"
const DECODED = "new TextDecoder('utf-8', { fatal: true }).decode(bytes)"
const WHOLE_BODY = 'for await (const chunk of request) {'
const SHOW_LINES = 'inbox.splice(place, 0, ...lines)'
const TYPE = "const type = request.headers['content-type'] ?? ''"

export const PATCHES = {
  // Messages of the agent
  'escapes-html': desk(
    SAY,
    SAY.replace('text', "text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/'/g, '&#39;')"),
  ),
  'cuts-emoji': desk(SAY, SAY.replace('text', "text.replace(/[\\u{10000}-\\u{10ffff}]/gu, '?')")),
  'cuts-long-texts': desk(SAY, SAY.replace('text', 'text.slice(0, 10_000)')),
  'translates-again': desk(
    SAY,
    SAY.replace('text', "(conversation.language === 'en' ? text : '[en>' + conversation.language + '] ' + text)"),
  ),
  'keeps-first-sender': desk('conversation.agent = ', 'conversation.asked = '),
  'mixes-up-chats': [
    desk.after("Object.assign(conversation, { status: 'open', failed: null })", 'this.current = conversation'),
    desk(SAY, SAY.replace('conversation', 'this.current')),
  ],
  'forwards-copies': desk.after(NOTED, 'this.#message(conversation, event.message, this.#agent(conversation))'),
  'sends-side-by-side': outbox(
    'queue.outbox.push(call)\n    this.#store.save()\n    this.#wake(queue)',
    'void this.#platform.send(call)',
  ),
  // The first message of the second chat leaves late, so that the second message passes it.
  'sends-side-by-side-one-late': [
    outbox(
      'queue.outbox.push(call)\n    this.#store.save()\n    this.#wake(queue)',
      `this.writers ??= []
    const isFirst = call.name === 'message' && !this.writers.includes(queue)
    if (isFirst) this.writers.push(queue)
    setTimeout(() => this.#platform.send(call), isFirst && this.writers.length === 2 ? 100 : 0)`,
    ),
  ],
  'sends-twice': desk(MESSAGE_CALL, `${MESSAGE_CALL}\n    ${MESSAGE_CALL}`),
  'omits-sender': desk(MESSAGE_CALL, MESSAGE_CALL.replace(' sender,', '')),
  'names-nobody': desk(
    MESSAGE_CALL,
    MESSAGE_CALL.replace(' sender,', " sender: { ...sender, name: 'undefined undefined' },"),
  ),
  'shows-a-path': desk(MESSAGE_CALL, MESSAGE_CALL.replace(' sender,', " sender: { ...sender, avatar: '/anna.png' },")),

  // Messages of the user
  'loses-attachments': desk('supports_attachment: true,', 'supports_attachment: false,'),
  'needs-a-text': desk.before(RECEIVED, 'if (!event.message) return'),
  'drops-repeats': desk.before(RECEIVED, 'if (known?.inbox.at(-1)?.text === event.message) return'),
  'drops-repeats-after-a-webhook': [
    desk.before(RECEIVED, 'if (known?.inbox.at(-1)?.text === event.message) return'),
    desk(REQUESTED, "conversation.inbox.push({ request: true, text: 'ok: the webhook brought a request' })"),
  ],
  'keeps-last-ten': desk.after(NOTED, 'conversation.inbox = conversation.inbox.slice(-10)'),
  'shows-newest-first': desk(NOTED, NOTED.replace('push', 'unshift')),
  'shows-twice': desk(NOTED, `${NOTED}\n    ${NOTED}`),
  trims: conversations('text: text(event.message),', 'text: text(event.message).trim(),'),
  'normalises-texts': conversations('text: text(event.message),', "text: text(event.message).normalize('NFC'),"),
  'joins-lines': conversations('text: text(event.message),', "text: text(event.message).replace(/\\n+/g, ' '),"),
  'guesses-links': conversations('url: text(file?.url),', "url: text(file?.url) + '.download',"),
  'reads-latin1': http("new TextDecoder('utf-8', { fatal: true }).decode(bytes)", "bytes.toString('latin1')"),
  'declares-no-language': desk('languages.length > 0 ?', 'languages.length < 0 ?'),

  // What was written before
  'reads-no-transcript': outbox('this.add(chat.reads, {', 'void ({'),
  'reads-handover-transcript': platform("call.name === 'transcript' && botApiKey !== null", 'botApiKey === undefined'),
  'shows-two-lines': history(SHOW_LINES, SHOW_LINES.replace('lines', 'lines.slice(-2)')),
  'shows-whole-transcript': history('end === -1 ? messages.length : end', 'Math.max(end, messages.length)'),
  'shows-transcript-newest-first': history(SHOW_LINES, SHOW_LINES.replace('lines', 'lines.reverse()')),
  'shows-only-the-transcript': history(SHOW_LINES, SHOW_LINES.replace('0', 'inbox.length')),

  // Start and end of a handover
  'accepts-locally': desk("this.#call(conversation, 'start', {", 'void ({'),
  'runs-only-while-it-answers': [
    outbox('    this.#store.save()\n    this.#wake(queue)\n', '    this.#store.save()\n'),
    desk.before('  availabilityProblems() {', 'resume() {\n    this.#outbox.resume()\n  }'),
    webhook(STORE_AND_ACK, `    this.#desk.resume()\n${STORE_AND_ACK}`),
  ],
  'says-goodbye-late': desk.after(END, "this.#message(conversation, 'Goodbye!', this.#agent(conversation))"),
  'ends-locally': desk(END, ''),
  'ends-twice': desk(END, `${END}\n    ${END}`),
  'keeps-old-conversation': desk(KNOWN_REQUEST, 'if (known) {'),
  'opens-twice': desk(KNOWN_REQUEST, "if (known?.status === 'open') {"),
  'opens-twice-late': [desk(KNOWN_REQUEST, "if (known?.status === 'open') {"), REQUESTED_LATE],
  'request-undoes-takeover': desk(KNOWN_REQUEST, "if (known?.status === 'pending') {"),
  'answers-after-end': desk.after(
    NOTED,
    "if (late) this.#message(conversation, 'This conversation is closed.', SYSTEM_SENDER)",
  ),
  'starts-to-announce': desk.before(
    'const queue = this.list()',
    "this.#call(conversation, 'start', { sender: SYSTEM_SENDER })",
  ),
  'announces-as-bot': desk("{ name: 'Support desk',", "{ name: 'Nora',"),
  'counts-everyone': desk("this.list().filter(({ status }) => status === 'pending')", 'this.list()'),

  'stays-open-when-the-user-leaves': outbox('if (outcome.gone) closeAsGone(queue)', ''),
  'repeats-what-is-not-found': platform(WORTH, `${WORTH} || status === 404`),

  // Typing
  'types-for-ever': [desk('{ timeout: TYPING_TIMEOUT_MS }', '{}'), desk(STOP_FIRST, '')],
  'message-leaves-typing-on': desk(STOP_FIRST, ''),

  // Availability
  'never-reopens': desk.before("const availability = open ? 'OPEN' : 'CLOSED'", 'if (open) return'),
  'gives-no-reason': desk(", reason: 'AGENT_AVAILABILITY' }", ' }'),
  'closes-desk-with-chat': desk.after(END, 'this.setAvailability(false)'),

  'shows-no-messages': desk(NOTED, ''),
  // As two instances behind a load balancer, of which each has received half of the events.
  'shows-halves-in-turn': deskApi(
    'ok(chat.inbox)',
    '{ chat.turn = (chat.turn ?? 0) + 1; return ok(chat.inbox.filter((_, at) => (at + chat.turn) % 2 === 0)) }',
  ),
  'sends-no-messages': desk(MESSAGE_CALL, ''),

  // The webhook
  'fails-at-requests': webhook.after("case 'REQUESTING TAKEOVER':", "throw new Error('no')"),
  'expects-hyphens-in-ids': webhook.before(
    REQUEST_ID,
    "if (!event.chat.id.includes('-')) throw badInput('chat.id', 'is no UUID')",
  ),
  'refuses-delivery-ids': webhook.before(
    SIGNATURE,
    "if (request.headers['x-delivery-id']) throw badInput('X-Delivery-Id', 'is not known')",
  ),
  'rewrites-with-spaces': webhook(
    SIGNED,
    SIGNED.replace(
      '(body,',
      "(Buffer.from(JSON.stringify(JSON.parse(String(body)), null, 1).replace(/,\\n\\s*/g, ', ').replace(/\\n\\s*/g, '')),",
    ),
  ),
  restringifies: webhook(SIGNED, SIGNED.replace('(body,', '(Buffer.from(JSON.stringify(JSON.parse(String(body)))),')),
  'compares-hex': signatures(".digest('base64')", ".digest('hex')"),
  'adds-a-newline-to-the-key': signatures(BODY, BODY.replace('secret', "secret + '\\n'")),
  'accepts-unsigned-events': webhook.before(SIGNED, 'if (signature === undefined) return'),
  'compares-a-prefix': [
    signatures(LENGTHS, 'timingSafeEqual(given, expected.subarray(0, given.length))'),
    signatures('const given = Buffer.from(signature)', 'const given = Buffer.from(signature.slice(0, 44))'),
  ],
  'compares-letters-only': [
    signatures('Buffer.from(signature)', 'Buffer.from(signature.toLowerCase())'),
    signatures('Buffer.from(sign(body, secret))', 'Buffer.from(sign(body, secret).toLowerCase())'),
  ],
  'decodes-the-signature': [
    signatures('Buffer.from(signature)', "Buffer.from(signature, 'base64')"),
    signatures('Buffer.from(sign(body, secret))', "Buffer.from(sign(body, secret), 'base64')"),
  ],
  'compares-without-lengths': signatures(LENGTHS, 'timingSafeEqual(given, expected)'),
  'reads-the-algorithm': webhook.before(SIGNATURE, "request.headers['kindly-hmac-algorithm'].toString()"),
  'ignores-the-algorithm': webhook('if (algorithm !== ALGORITHM) {', 'if (algorithm === null) {'),
  'dies-without-algorithm': webhook.before(
    SIGNATURE,
    "setImmediate(() => request.headers['kindly-hmac-algorithm'].toString())",
  ),
  'verifies-latin1': signatures(BODY, BODY.replace('(body)', "(body.toString('latin1'))")),
  'verifies-trimmed': signatures(BODY, BODY.replace('(body)', '(body.toString().trim())')),
  'checks-no-signature': webhook(SIGNED, 'if (signature) return'),
  'checks-no-signature-and-shows-late': [webhook(SIGNED, 'if (signature) return'), REQUESTED_LATE],
  'knows-only-four-events': webhook(
    'log(`event ignored: ',
    "throw badInput('event', 'is not known here')\n        log(`",
  ),
  'expects-a-chat': webhook.before('switch (event.event) {', 'log(event.chat.id)'),
  'acks-before-storing': webhook(STORE_AND_ACK, '    setTimeout(() => this.#dispatch(event), 400)\n    return'),
  'acks-after-calling': [CALLS_FIRST, IDLE],
  'announces-before-ack': [CALLS_FIRST, IDLE, ANNOUNCE],
  'waits-a-moment-for-calls': [
    webhook(
      STORE_AND_ACK,
      // The check makes answers take 500 ms more than an acknowledgement usually takes, which is long on a busy machine.
      '    this.#dispatch(event)\n    await Promise.race([this.#desk.idle(), new Promise(resolve => setTimeout(resolve, 2_500))])\n    return',
    ),
    IDLE,
    ANNOUNCE,
  ],
  'acks-slowly': webhook.before(OK, `${PAUSE(1_500)}`),
  'acks-messages-with-202': webhook(OK, OK.replace('200', "event.event === 'MESSAGE FROM USER' ? 202 : 200")),
  'answers-200-to-everything': webhook(
    'checkContentType(request)\n    const event',
    "if (request.headers['content-type'] !== 'application/json') return { status: 200, body: null }\n    const event",
  ),

  'refuses-crowds': webhook.before(
    'this.#dispatch(event)\n    return',
    "this.recent = (this.recent ?? 0) + 1\n    setTimeout(() => this.recent--, 1_000)\n    if (this.recent > 100) throw new HttpError(503, 'busy', 'Busy.')",
  ),
  'answers-no-crowds': webhook.before(
    'this.#dispatch(event)\n    return',
    "if (event.event === 'AGENT TYPING STOP') this.stops = (this.stops ?? 0) + 1\n    if (this.stops > 200) await new Promise(() => {})",
  ),
  'leaves-a-lock': program(
    'try {\n  await main()',
    "try {\n  const { writeFileSync } = process.getBuiltinModule('node:fs')\n  writeFileSync(process.env.STATE_FILE + '.lock', '', { flag: 'wx' })\n  await main()",
  ),

  // What events contain, and their order
  'ends-at-unknown-events': webhook.after('default:', 'console.error("no case", event.event)\n        process.exit(3)'),
  'opens-for-unknown-events': webhook.after(
    'default:',
    'if (event.chat?.id) this.#desk.requested(event.chat.id, event)',
  ),
  'opens-for-unknown-events-late': [
    webhook.after('default:', 'if (event.chat?.id) this.#desk.requested(event.chat.id, event)'),
    REQUESTED_LATE,
  ],
  'rejects-unknown-fields': webhook.before(
    "if (typeof event.event !== 'string')",
    "if (event.chat && Object.keys(event.chat).length > 4) throw badInput('chat', 'has unknown fields')",
  ),
  'needs-the-event-first': webhook('switch (event.event) {', 'switch (Object.values(event)[0]) {'),
  'returns-typing': webhook.before(
    '        // The platform reports our own typing calls.',
    "this.#desk.type(this.#desk.find(event.chat_id), event.event === 'AGENT TYPING START')",
  ),
  'expects-a-request-first': desk.before(RECEIVED, "if (!known) throw new HttpError(404, 'no', 'No.')"),
  'expects-attachments': conversations(
    'Array.isArray(event.attachments) ? event.attachments : []',
    'event.attachments.slice()',
  ),
  'files-replace-the-text': conversations(
    'text: text(event.message),',
    "text: attachments.length > 0 ? '' : text(event.message),",
  ),
  'knows-some-sources': desk.before(
    'const known = this.#store.chats.get(id)\n    if',
    "if (!['web', 'facebook', 'slack', 'app', 'test'].includes(event.chat.source)) return log('another source')",
  ),
  'formats-the-language': conversations(
    'language: text(event.chat.language),',
    'language: new Intl.Locale(event.chat.language).toString(),',
  ),
  'reads-the-latest-message': [
    webhook(
      STORE_AND_ACK.split('\n')[0]!,
      '    void latest(event).then(text => this.#dispatch(text === null ? event : { ...event, message: text }))',
    ),
    webhook(
      '/** @param {Request} request */\nfunction checkContentType',
      'async function latest(event) {\n' +
        "  if (event.event !== 'MESSAGE FROM USER') return null\n" +
        "  const headers = { Authorization: 'Bearer ' + process.env.HANDOVER_SIM_BOT_API_KEY }\n" +
        '  const { chat } = await (await fetch(event.chat._links.self, { headers })).json()\n' +
        '  return chat.messages.findLast(({ from_bot }) => !from_bot)?.message ?? null\n' +
        '}\n\n' +
        '/** @param {Request} request */\nfunction checkContentType',
    ),
  ],

  // Every call
  'key-in-address': platform('[call.name].path}', `[call.name].path}?key=\${apiKey}`),
  'sends-plain-text': platform(", 'Content-Type': 'application/json' }", ' }'),
  'bot-id-as-text': desk('bot_id: conversation.botId', 'bot_id: String(conversation.botId)'),
  'sends-a-rating-late': [
    platform.before('typing_start: {', "rating: { path: 'rating', confirmedBy: null },"),
    desk.after(END, "setTimeout(() => this.#call(conversation, 'rating', { stars: 5 }), 200)"),
  ],
  'uses-former-paths': platform('/api/v2/handover/', '/api/v2/takeover/'),

  // The request
  'wants-a-length': webhook.before(
    'const body = await readBody(request)',
    "if (!request.headers['content-length']) throw new HttpError(411, 'length', 'Required.')",
  ),
  'reads-one-piece': http.after(WHOLE_BODY, 'if (size > 0) continue'),
  'wants-no-charset': webhook('^application\\/json *(;|$)', '^application\\/json$'),
  'breaks-on-byte-order-mark': [
    http(DECODED, DECODED.replace('true }', 'true, ignoreBOM: true }')),
    http("HttpError(400, 'invalid_json'", "HttpError(500, 'invalid_json'"),
  ],
  'needs-a-content-type': webhook(TYPE, TYPE.replace(" ?? ''", '.trim()')),

  // Errors and restarts
  'gives-up-on-503': platform(WORTH, 'return status === 0 || status === 429'),
  'gives-up-without-answer': platform(WORTH, 'return status === 429 || status >= 500'),
  'hurries-without-retry-after': platform(
    'return retryAfterMs(retryAfter) ?? backoff',
    'return retryAfterMs(retryAfter) ?? 1',
  ),
  'reads-answers-by-position': platform(
    ANSWERED,
    `const text = await response.text()
      if (response.ok && !/^[{]("event"|[}])/.test(text)) throw new TypeError('no event')
      return { status: response.status, text, retryAfter }`,
  ),
  'refuses-unknown-fields': platform(
    ANSWERED,
    `const text = await response.text()
      const known = ['event', 'chat_id', 'chatmessage_id', 'bot_id', 'queue', 'availability', 'updated_at']
      if (response.ok && !Object.keys(JSON.parse(text)).every(field => known.includes(field))) throw new TypeError('a field')
      return { status: response.status, text, retryAfter }`,
  ),
  'ignores-retry-after': platform('return retryAfterMs(retryAfter) ?? backoff', 'return backoff'),
  'hammers-on-401': [
    platform(WORTH, `${WORTH} || status === 401`),
    platform('const FIRST_BACKOFF_MS = 500', 'const FIRST_BACKOFF_MS = 2'),
  ],
  'never-stops-on-401': [
    platform(WORTH, `${WORTH} || status === 401`),
    platform('const MAX_TRIES = 5', 'const MAX_TRIES = 500'),
    platform('const LONGEST_BACKOFF_MS = 8_000', 'const LONGEST_BACKOFF_MS = 20'),
  ],
  'stops-for-ever-on-401': [
    outbox.before(SEND, 'if (this.refused) return void queue.outbox.splice(0)'),
    outbox.before('if (outcome.ok) log', 'this.refused ||= outcome.keyRefused'),
  ],
  'waits-too-briefly': platform('const CALL_TIMEOUT_MS = 15_000', 'const CALL_TIMEOUT_MS = 700'),
  'has-one-queue-for-all': outbox(
    SEND,
    'this.last = (this.last ?? Promise.resolve()).then(() => this.#platform.send(call))\n    const outcome = await this.last',
  ),
  'repeats-after-lost-answer': [
    platform.before('    for (let tries = 1; ; tries++) {', 'let lost = 0'),
    platform.after(
      'const outcome = outcomeOf(call, reply)',
      'if (reply.status === 0) lost = tries\n      if (lost > 0 && tries < lost + 3) continue',
    ),
  ],
  'forgets-on-restart': FORGET,
  'forgets-and-answers-202': [
    FORGET,
    desk.after(STARTED, "this.#message(conversation, 'Hello, I am Nora.', SYSTEM_SENDER)"),
    deskApi(
      'this.#desk.find(chatId))\n',
      '(this.#desk.list().find(({ id }) => id === chatId) ?? { inbox: [] }))\n    if (chat && !chat.id && rest(path)) return QUEUED\n',
    ),
    deskApi.before('/** @param {string} segment */', "const rest = path => !path.endsWith('/inbox')"),
  ],
} as const satisfies Readonly<Record<string, Patch | readonly Patch[]>>

export type BugName = keyof typeof PATCHES
