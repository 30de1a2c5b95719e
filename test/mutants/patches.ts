/**
 * Defines common bugs of intermediaries, each as the smallest change of the example. Nothing else changes, so a failure
 * of a scenario is caused by this bug.
 */
import type { Patch } from './patch.ts'

const change = (file: string, find: string, replacement: string): Patch => ({ file, find, replacement })

const STORE_AND_ACK = '    this.#dispatch(event)\n    return'
const KNOWN_REQUEST = "if (known?.status === 'pending' || known?.status === 'open') {"
const SAY = 'this.#message(conversation, text, this.#agent(conversation), buttons)'
const END = "this.#call(conversation, 'end', { sender: this.#agent(conversation) })"
const RECEIVED = "const conversation = known ?? this.#conversation(id, event, 'held')"
const NOTED = 'conversation.inbox.push({ ...messageFrom(event), ...(late && { note: true }) })'
const REQUESTED = 'conversation.inbox.push({ request: true })'
const REQUESTED_LATE = change('desk.js', REQUESTED, `setTimeout(() => ${REQUESTED}, 1_000)`)
const MESSAGE_CALL = "this.#call(conversation, 'message', { message: text, sender, buttons })"
const ANSWERED = 'return { status: response.status, text: await response.text(), retryAfter }'
const WORTH = 'return status === 0 || status === 429 || status >= 500'
const STARTED = '      supports_attachment: true,\n    })'
const FORGET = change('settings.js', 'stateFile: env.STATE_FILE || null', 'stateFile: null')
const STOP_FIRST = 'if (conversation.typing) this.type(conversation, false)'
const IDLE = change(
  'desk.js',
  '  availabilityProblems() {',
  '  idle() {\n    return this.#outbox.idle()\n  }\n\n  availabilityProblems() {',
)
const ANNOUNCE = change(
  'desk.js',
  'log(`request, new conversation',
  'this.announce(conversation)\n    log(`request, new conversation',
)
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
const TYPE = "const type = request.headers['content-type'] ?? ''"

export const PATCHES = {
  // Messages of the agent
  'escapes-html': [
    change(
      'desk.js',
      SAY,
      SAY.replace('text', "text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/'/g, '&#39;')"),
    ),
  ],
  'cuts-emoji': [change('desk.js', SAY, SAY.replace('text', "text.replace(/[\\u{10000}-\\u{10ffff}]/gu, '?')"))],
  'cuts-long-texts': [change('desk.js', SAY, SAY.replace('text', 'text.slice(0, 10_000)'))],
  'translates-again': [
    change(
      'desk.js',
      SAY,
      SAY.replace('text', "(conversation.language === 'en' ? text : '[en>' + conversation.language + '] ' + text)"),
    ),
  ],
  'keeps-first-sender': [change('desk.js', 'conversation.agent = ', 'conversation.asked = ')],
  'mixes-up-chats': [
    change(
      'desk.js',
      "Object.assign(conversation, { status: 'open', failed: null })",
      "Object.assign(conversation, { status: 'open', failed: null })\n    this.current = conversation",
    ),
    change('desk.js', SAY, SAY.replace('conversation', 'this.current')),
  ],
  'forwards-copies': [
    change('desk.js', NOTED, `${NOTED}\n    this.#message(conversation, event.message, this.#agent(conversation))`),
  ],
  'sends-side-by-side': [
    change(
      'outbox.js',
      'queue.outbox.push(call)\n    this.#store.save()\n    this.#wake(queue)',
      'void this.#platform.send(call)',
    ),
  ],
  // The first message of the second chat leaves late, so that the second message passes it.
  'sends-side-by-side-one-late': [
    change(
      'outbox.js',
      'queue.outbox.push(call)\n    this.#store.save()\n    this.#wake(queue)',
      `this.writers ??= []
    const isFirst = call.name === 'message' && !this.writers.includes(queue)
    if (isFirst) this.writers.push(queue)
    setTimeout(() => this.#platform.send(call), isFirst && this.writers.length === 2 ? 100 : 0)`,
    ),
  ],
  'sends-twice': [change('desk.js', MESSAGE_CALL, `${MESSAGE_CALL}\n    ${MESSAGE_CALL}`)],
  'omits-sender': [change('desk.js', MESSAGE_CALL, MESSAGE_CALL.replace(' sender,', ''))],

  // Messages of the user
  'loses-attachments': [change('desk.js', 'supports_attachment: true,', 'supports_attachment: false,')],
  'needs-a-text': [change('desk.js', RECEIVED, `if (!event.message) return\n    ${RECEIVED}`)],
  'drops-repeats': [
    change('desk.js', RECEIVED, `if (known?.inbox.at(-1)?.text === event.message) return\n    ${RECEIVED}`),
  ],
  'drops-repeats-after-a-webhook': [
    change('desk.js', RECEIVED, `if (known?.inbox.at(-1)?.text === event.message) return\n    ${RECEIVED}`),
    change(
      'desk.js',
      REQUESTED,
      "conversation.inbox.push({ request: true, text: 'ok: the webhook brought a request' })",
    ),
  ],
  'keeps-last-ten': [change('desk.js', NOTED, `${NOTED}\n    conversation.inbox = conversation.inbox.slice(-10)`)],
  'shows-newest-first': [change('desk.js', NOTED, NOTED.replace('push', 'unshift'))],
  'shows-twice': [change('desk.js', NOTED, `${NOTED}\n    ${NOTED}`)],
  trims: [change('conversation.js', 'text: text(event.message),', 'text: text(event.message).trim(),')],
  'normalises-texts': [
    change('conversation.js', 'text: text(event.message),', "text: text(event.message).normalize('NFC'),"),
  ],
  'joins-lines': [
    change('conversation.js', 'text: text(event.message),', "text: text(event.message).replace(/\\n+/g, ' '),"),
  ],
  'guesses-links': [change('conversation.js', 'url: text(file?.url),', "url: text(file?.url) + '.download',")],
  'reads-latin1': [
    change('http.js', "new TextDecoder('utf-8', { fatal: true }).decode(bytes)", "bytes.toString('latin1')"),
  ],
  'declares-no-language': [change('desk.js', 'languages.length > 0 ?', 'languages.length < 0 ?')],

  // Start and end of a handover
  'accepts-locally': [change('desk.js', "this.#call(conversation, 'start', {", 'void ({')],
  'says-goodbye-late': [
    change('desk.js', END, `${END}\n    this.#message(conversation, 'Goodbye!', this.#agent(conversation))`),
  ],
  'ends-locally': [change('desk.js', END, '')],
  'ends-twice': [change('desk.js', END, `${END}\n    ${END}`)],
  'keeps-old-conversation': [change('desk.js', KNOWN_REQUEST, 'if (known) {')],
  'opens-twice': [change('desk.js', KNOWN_REQUEST, "if (known?.status === 'open') {")],
  'opens-twice-late': [change('desk.js', KNOWN_REQUEST, "if (known?.status === 'open') {"), REQUESTED_LATE],
  'request-undoes-takeover': [change('desk.js', KNOWN_REQUEST, "if (known?.status === 'pending') {")],
  'answers-after-end': [
    change(
      'desk.js',
      NOTED,
      `${NOTED}\n    if (late) this.#message(conversation, 'This conversation is closed.', SYSTEM_SENDER)`,
    ),
  ],
  'starts-to-announce': [
    change(
      'desk.js',
      'const queue = this.list()',
      "this.#call(conversation, 'start', { sender: SYSTEM_SENDER })\n    const queue = this.list()",
    ),
  ],
  'announces-as-bot': [change('desk.js', "{ name: 'Support desk',", "{ name: 'Nora',")],
  'counts-everyone': [change('desk.js', "this.list().filter(({ status }) => status === 'pending')", 'this.list()')],

  // Typing
  'types-for-ever': [change('desk.js', '{ timeout: TYPING_TIMEOUT_MS }', '{}'), change('desk.js', STOP_FIRST, '')],
  'message-leaves-typing-on': [change('desk.js', STOP_FIRST, '')],

  // Availability
  'never-reopens': [
    change(
      'desk.js',
      "const availability = open ? 'OPEN' : 'CLOSED'",
      "if (open) return\n    const availability = open ? 'OPEN' : 'CLOSED'",
    ),
  ],
  'gives-no-reason': [change('desk.js', ", reason: 'AGENT_AVAILABILITY' }", ' }')],
  'closes-desk-with-chat': [change('desk.js', END, `${END}\n    this.setAvailability(false)`)],

  'shows-no-messages': [change('desk.js', NOTED, '')],
  'sends-no-messages': [change('desk.js', MESSAGE_CALL, '')],

  // The webhook
  'fails-at-requests': [
    change('webhook.js', "case 'REQUESTING TAKEOVER':", "case 'REQUESTING TAKEOVER':\n        throw new Error('no')"),
  ],
  'expects-hyphens-in-ids': [
    change(
      'webhook.js',
      REQUEST_ID,
      `if (!event.chat.id.includes('-')) throw badInput('chat.id', 'is no UUID')\n        ${REQUEST_ID}`,
    ),
  ],
  'refuses-delivery-ids': [
    change(
      'webhook.js',
      SIGNATURE,
      `if (request.headers['x-delivery-id']) throw badInput('X-Delivery-Id', 'is not known')\n    ${SIGNATURE}`,
    ),
  ],
  'rewrites-with-spaces': [
    change(
      'webhook.js',
      SIGNED,
      SIGNED.replace(
        '(body,',
        "(Buffer.from(JSON.stringify(JSON.parse(String(body)), null, 1).replace(/,\\n\\s*/g, ', ').replace(/\\n\\s*/g, '')),",
      ),
    ),
  ],
  restringifies: [
    change('webhook.js', SIGNED, SIGNED.replace('(body,', '(Buffer.from(JSON.stringify(JSON.parse(String(body)))),')),
  ],
  'compares-hex': [change('signature.js', ".digest('base64')", ".digest('hex')")],
  'adds-a-newline-to-the-key': [change('signature.js', BODY, BODY.replace('secret', "secret + '\\n'"))],
  'accepts-unsigned-events': [change('webhook.js', SIGNED, `if (signature === undefined) return\n    ${SIGNED}`)],
  'compares-a-prefix': [
    change('signature.js', LENGTHS, 'timingSafeEqual(given, expected.subarray(0, given.length))'),
    change('signature.js', 'const given = Buffer.from(signature)', 'const given = Buffer.from(signature.slice(0, 44))'),
  ],
  'compares-letters-only': [
    change('signature.js', 'Buffer.from(signature)', 'Buffer.from(signature.toLowerCase())'),
    change('signature.js', 'Buffer.from(sign(body, secret))', 'Buffer.from(sign(body, secret).toLowerCase())'),
  ],
  'decodes-the-signature': [
    change('signature.js', 'Buffer.from(signature)', "Buffer.from(signature, 'base64')"),
    change('signature.js', 'Buffer.from(sign(body, secret))', "Buffer.from(sign(body, secret), 'base64')"),
  ],
  'compares-without-lengths': [change('signature.js', LENGTHS, 'timingSafeEqual(given, expected)')],
  'reads-the-algorithm': [
    change('webhook.js', SIGNATURE, `request.headers['kindly-hmac-algorithm'].toString()\n    ${SIGNATURE}`),
  ],
  'ignores-the-algorithm': [change('webhook.js', 'if (algorithm !== ALGORITHM) {', 'if (algorithm === null) {')],
  'dies-without-algorithm': [
    change(
      'webhook.js',
      SIGNATURE,
      `setImmediate(() => request.headers['kindly-hmac-algorithm'].toString())\n    ${SIGNATURE}`,
    ),
  ],
  'verifies-latin1': [change('signature.js', BODY, BODY.replace('(body)', "(body.toString('latin1'))"))],
  'verifies-trimmed': [change('signature.js', BODY, BODY.replace('(body)', '(body.toString().trim())'))],
  'checks-no-signature': [change('webhook.js', SIGNED, 'if (signature) return')],
  'checks-no-signature-and-shows-late': [change('webhook.js', SIGNED, 'if (signature) return'), REQUESTED_LATE],
  'knows-only-four-events': [
    change('webhook.js', 'log(`event ignored: ', "throw badInput('event', 'is not known here')\n        log(`"),
  ],
  'expects-a-chat': [change('webhook.js', 'switch (event.event) {', 'log(event.chat.id)\n    switch (event.event) {')],
  'acks-before-storing': [
    change('webhook.js', STORE_AND_ACK, '    setTimeout(() => this.#dispatch(event), 400)\n    return'),
  ],
  'acks-after-calling': [
    change('webhook.js', STORE_AND_ACK, '    this.#dispatch(event)\n    await this.#desk.idle()\n    return'),
    IDLE,
  ],
  'announces-before-ack': [
    change('webhook.js', STORE_AND_ACK, '    this.#dispatch(event)\n    await this.#desk.idle()\n    return'),
    IDLE,
    ANNOUNCE,
  ],
  'waits-a-moment-for-calls': [
    change(
      'webhook.js',
      STORE_AND_ACK,
      // The check makes answers take 500 ms more than an acknowledgement usually takes, which is long on a busy machine.
      '    this.#dispatch(event)\n    await Promise.race([this.#desk.idle(), new Promise(resolve => setTimeout(resolve, 2_500))])\n    return',
    ),
    IDLE,
    ANNOUNCE,
  ],
  'acks-slowly': [change('webhook.js', OK, `${PAUSE(1_500)}\n    ${OK}`)],
  'acks-messages-with-202': [
    change('webhook.js', OK, OK.replace('200', "event.event === 'MESSAGE FROM USER' ? 202 : 200")),
  ],
  'answers-200-to-everything': [
    change(
      'webhook.js',
      'checkContentType(request)\n    const event',
      "if (request.headers['content-type'] !== 'application/json') return { status: 200, body: null }\n    const event",
    ),
  ],

  'refuses-crowds': [
    change(
      'webhook.js',
      'this.#dispatch(event)\n    return',
      "this.recent = (this.recent ?? 0) + 1\n    setTimeout(() => this.recent--, 1_000)\n    if (this.recent > 100) throw new HttpError(503, 'busy', 'Busy.')\n    this.#dispatch(event)\n    return",
    ),
  ],
  'answers-no-crowds': [
    change(
      'webhook.js',
      'this.#dispatch(event)\n    return',
      "if (event.event === 'AGENT TYPING STOP') this.stops = (this.stops ?? 0) + 1\n    if (this.stops > 200) await new Promise(() => {})\n    this.#dispatch(event)\n    return",
    ),
  ],
  'leaves-a-lock': [
    change(
      'main.js',
      'try {\n  await main()',
      "try {\n  const { writeFileSync } = process.getBuiltinModule('node:fs')\n  writeFileSync(process.env.STATE_FILE + '.lock', '', { flag: 'wx' })\n  await main()",
    ),
  ],

  // What events contain, and their order
  'ends-at-unknown-events': [
    change(
      'webhook.js',
      'default:',
      'default:\n        console.error("no case", event.event)\n        process.exit(3)',
    ),
  ],
  'opens-for-unknown-events': [
    change(
      'webhook.js',
      'default:',
      'default:\n        if (event.chat?.id) this.#desk.requested(event.chat.id, event)',
    ),
  ],
  'opens-for-unknown-events-late': [
    change(
      'webhook.js',
      'default:',
      'default:\n        if (event.chat?.id) this.#desk.requested(event.chat.id, event)',
    ),
    REQUESTED_LATE,
  ],
  'rejects-unknown-fields': [
    change(
      'webhook.js',
      "if (typeof event.event !== 'string')",
      "if (event.chat && Object.keys(event.chat).length > 4) throw badInput('chat', 'has unknown fields')\n    if (typeof event.event !== 'string')",
    ),
  ],
  'needs-the-event-first': [change('webhook.js', 'switch (event.event) {', 'switch (Object.values(event)[0]) {')],
  'returns-typing': [
    change(
      'webhook.js',
      '        // The platform reports our own typing calls.',
      "        this.#desk.type(this.#desk.find(event.chat_id), event.event === 'AGENT TYPING START')\n        // The platform reports our own typing calls.",
    ),
  ],
  'expects-a-request-first': [
    change('desk.js', RECEIVED, `if (!known) throw new HttpError(404, 'no', 'No.')\n    ${RECEIVED}`),
  ],
  'expects-attachments': [
    change('conversation.js', 'Array.isArray(event.attachments) ? event.attachments : []', 'event.attachments.slice()'),
  ],
  'files-replace-the-text': [
    change('conversation.js', 'text: text(event.message),', "text: attachments.length > 0 ? '' : text(event.message),"),
  ],
  'knows-some-sources': [
    change(
      'desk.js',
      'const known = this.#store.chats.get(id)\n    if',
      "if (!['web', 'facebook', 'slack', 'app', 'test'].includes(event.chat.source)) return log('another source')\n    const known = this.#store.chats.get(id)\n    if",
    ),
  ],
  'formats-the-language': [
    change(
      'conversation.js',
      'language: text(event.chat.language),',
      'language: new Intl.Locale(event.chat.language).toString(),',
    ),
  ],
  'reads-the-latest-message': [
    change(
      'webhook.js',
      STORE_AND_ACK.split('\n')[0]!,
      '    void latest(event).then(text => this.#dispatch(text === null ? event : { ...event, message: text }))',
    ),
    change(
      'webhook.js',
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
  'key-in-address': [change('platform.js', '[call.name].path}', `[call.name].path}?key=\${apiKey}`)],
  'sends-plain-text': [change('platform.js', ", 'Content-Type': 'application/json' }", ' }')],
  'bot-id-as-text': [change('desk.js', 'bot_id: conversation.botId', 'bot_id: String(conversation.botId)')],
  'sends-a-rating-late': [
    change('platform.js', 'typing_start: {', "rating: { path: 'rating', confirmedBy: null },\n  typing_start: {"),
    change('desk.js', END, `${END}\n    setTimeout(() => this.#call(conversation, 'rating', { stars: 5 }), 200)`),
  ],
  'uses-former-paths': [change('platform.js', '/api/v2/handover/', '/api/v2/takeover/')],

  // The request
  'wants-a-length': [
    change(
      'webhook.js',
      'const body = await readBody(request)',
      "if (!request.headers['content-length']) throw new HttpError(411, 'length', 'Required.')\n    const body = await readBody(request)",
    ),
  ],
  'reads-one-piece': [change('http.js', WHOLE_BODY, `${WHOLE_BODY}\n    if (size > 0) continue`)],
  'wants-no-charset': [change('webhook.js', '^application\\/json *(;|$)', '^application\\/json$')],
  'breaks-on-byte-order-mark': [
    change('http.js', DECODED, DECODED.replace('true }', 'true, ignoreBOM: true }')),
    change('http.js', "HttpError(400, 'invalid_json'", "HttpError(500, 'invalid_json'"),
  ],
  'needs-a-content-type': [change('webhook.js', TYPE, TYPE.replace(" ?? ''", '.trim()'))],

  // Errors and restarts
  'gives-up-on-503': [change('platform.js', WORTH, 'return status === 0 || status === 429')],
  'gives-up-without-answer': [change('platform.js', WORTH, 'return status === 429 || status >= 500')],
  'hurries-without-retry-after': [
    change('platform.js', 'return retryAfterMs(retryAfter) ?? backoff', 'return retryAfterMs(retryAfter) ?? 1'),
  ],
  'reads-answers-by-position': [
    change(
      'platform.js',
      ANSWERED,
      `const text = await response.text()
      if (response.ok && !/^[{]("event"|[}])/.test(text)) throw new TypeError('no event')
      return { status: response.status, text, retryAfter }`,
    ),
  ],
  'refuses-unknown-fields': [
    change(
      'platform.js',
      ANSWERED,
      `const text = await response.text()
      const known = ['event', 'chat_id', 'chatmessage_id', 'bot_id', 'queue', 'availability', 'updated_at']
      if (response.ok && !Object.keys(JSON.parse(text)).every(field => known.includes(field))) throw new TypeError('a field')
      return { status: response.status, text, retryAfter }`,
    ),
  ],
  'ignores-retry-after': [change('platform.js', 'return retryAfterMs(retryAfter) ?? backoff', 'return backoff')],
  'hammers-on-401': [
    change('platform.js', WORTH, `${WORTH} || status === 401`),
    change('platform.js', 'const FIRST_BACKOFF_MS = 500', 'const FIRST_BACKOFF_MS = 2'),
  ],
  'never-stops-on-401': [
    change('platform.js', WORTH, `${WORTH} || status === 401`),
    change('platform.js', 'const MAX_TRIES = 5', 'const MAX_TRIES = 500'),
    change('platform.js', 'const LONGEST_BACKOFF_MS = 8_000', 'const LONGEST_BACKOFF_MS = 20'),
  ],
  'stops-for-ever-on-401': [
    change('outbox.js', SEND, `if (this.refused) return void queue.outbox.splice(0)\n    ${SEND}`),
    change('outbox.js', 'if (outcome.ok) log', 'this.refused ||= outcome.keyRefused\n    if (outcome.ok) log'),
  ],
  'waits-too-briefly': [change('platform.js', 'const CALL_TIMEOUT_MS = 15_000', 'const CALL_TIMEOUT_MS = 700')],
  'has-one-queue-for-all': [
    change(
      'outbox.js',
      SEND,
      'this.last = (this.last ?? Promise.resolve()).then(() => this.#platform.send(call))\n    const outcome = await this.last',
    ),
  ],
  'repeats-after-lost-answer': [
    change(
      'platform.js',
      '    for (let tries = 1; ; tries++) {',
      '    let lost = 0\n    for (let tries = 1; ; tries++) {',
    ),
    change(
      'platform.js',
      'const outcome = outcomeOf(call, reply)',
      'const outcome = outcomeOf(call, reply)\n      if (reply.status === 0) lost = tries\n      if (lost > 0 && tries < lost + 3) continue',
    ),
  ],
  'forgets-on-restart': [FORGET],
  'forgets-and-answers-202': [
    FORGET,
    change('desk.js', STARTED, `${STARTED}\n    this.#message(conversation, 'Hello, I am Nora.', SYSTEM_SENDER)`),
    change(
      'desk-api.js',
      'this.#desk.find(chatId))\n',
      '(this.#desk.list().find(({ id }) => id === chatId) ?? { inbox: [] }))\n    if (chat && !chat.id && rest(path)) return QUEUED\n',
    ),
    change(
      'desk-api.js',
      '/** @param {string} segment */',
      "const rest = path => !path.endsWith('/inbox')\n\n/** @param {string} segment */",
    ),
  ],
} as const satisfies Readonly<Record<string, readonly Patch[]>>

export type BugName = keyof typeof PATCHES
