import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/base/text/terminal-text.ts'
import { createLog, type LogOptions } from '../../src/pages/reporters/log.ts'
import type { Entry, EntryOf } from '../../src/platform/journal/entry.ts'
import {
  altered,
  at,
  botSays,
  CHAT,
  call,
  created,
  delivery,
  event,
  failedWith,
  press,
  refusedWith,
  says,
  target,
} from './log-samples.ts'

function show(entries: readonly Entry[], options: Partial<LogOptions> = {}): string {
  const log = createLog({ style: 'pretty', colorLevel: 0, ...options })
  return `\n${entries.map(log).join('')}`
}

const HANDOVER = (): Entry[] => [
  created,
  press,
  botSays('One moment, I am passing you on to a human colleague.'),
  event('x'),
  delivery(),
  call({
    request: {
      headers: {},
      body: { sender: { name: 'Anna', language_codes: ['en', 'nb'] }, supports_attachment: true },
      bytes: 1,
    },
    unspecified: { 'start.again': 'accept', 'typing.again': null },
  }),
  call({
    endpoint: 'message',
    request: { headers: {}, body: { message: 'Hei! Hvordan kan jeg hjelpe?', sender: { name: 'Anna' } }, bytes: 1 },
    response: { event: 'MESSAGE SENT TO USER' },
    findings: [{ rule: 'R-SENDER.4', message: 'sender.avatar is missing.' }],
  }),
]

describe('pretty', () => {
  it('shows a handover with two aligned lines per call', () => {
    expect(show([...HANDOVER(), delivery()])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674 nb    platform                  chat c394b674-c865-4926-9541-db8f3c7cb8b6 (web)
      09:00:01 c394b674 nb    user -> platform          presses "Talk to us"
      09:00:01 c394b674 nb    platform -> user          writes "One moment, I am passing you on to a hum…"
      09:00:01 c394b674 nb    platform -> webhook       MESSAGE FROM USER "x"
                              answer 200                12 ms
      09:00:01 c394b674 nb    intermediary -> platform  POST start as Anna (en, nb), attachments
                              answer 200                TAKEOVER STARTED, 1.2 ms, assumed
                                                        start.again=accept, typing.again
      09:00:01 c394b674 nb    intermediary -> platform  POST message as Anna "Hei! Hvordan kan jeg hjelp…"
                              answer 200                MESSAGE SENT TO USER, 1.2 ms
                              finding R-SENDER.4        sender.avatar is missing.
      09:00:01 c394b674 nb    webhook -> platform       answer 200 to MESSAGE FROM USER, 12 ms
      "
    `)
  })

  it('says why a call is refused in its column, and what to do', () => {
    const message =
      "This key has no 'Read chats' scope. The transcript endpoint takes a bot API key, not the handover key."
    const refused = call({
      ...{ endpoint: 'chat', method: 'GET', request: { headers: {}, body: null, bytes: 0 }, status: 403 },
      response: { error: { code: 'missing_scope', message, field: null } },
      unspecified: { 'errors.body': 'json', 'keys.shared': 'off' },
    })
    const handover_sim = { code: 'foreign_host', message: 'refused: "evil.example" is unknown.', hint: 'Set api.cors.' }
    expect(show([refused, call({ status: 403, response: { handover_sim } })])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       intermediary -> platform  GET chat
                              answer 403                missing_scope, 1.2 ms, assumed errors.body=json,
                                                        keys.shared=off
                              because                   This key has no 'Read chats' scope. The transcript
                                                        endpoint takes a bot API key, not the handover
                                                        key.
      09:00:01 c394b674       intermediary -> platform  POST start
                              answer 403                foreign_host, 1.2 ms
                              because                   refused: "evil.example" is unknown.
                              hint                      Set api.cors.
      "
    `)
  })

  it('says each assumption once, and again with another value', () => {
    const refused = (value: string) =>
      call({
        status: 400,
        response: { error: { code: 'invalid_parameter', message: 'no' } },
        unspecified: { 'errors.body': value },
      })
    const lines = show([refused('json'), refused('json'), refused('text'), refused('json')], { columns: 200 }).match(
      /answer 400 .*/g,
    )
    expect(lines?.map(line => line.replace(/ {2,}/, ' '))).toEqual([
      'answer 400 invalid_parameter, 1.2 ms, assumed errors.body=json',
      'answer 400 invalid_parameter, 1.2 ms',
      'answer 400 invalid_parameter, 1.2 ms, assumed errors.body=text',
      'answer 400 invalid_parameter, 1.2 ms',
    ])
  })

  it('stays within 100 columns, and uses a wider terminal', () => {
    const entries = [
      ...HANDOVER(),
      says('word '.repeat(100)),
      refusedWith(401, 'x '.repeat(300)),
      failedWith({ code: 'function_threw', detail: 'y '.repeat(90) }),
    ]
    const widths = (columns: number) =>
      show(entries, { columns })
        .split('\n')
        .map(line => line.length)
    expect(Math.max(...widths(100))).toBeLessThanOrEqual(100)
    expect(Math.max(...widths(140))).toBeGreaterThan(100)
  })

  it('escapes text that would move the cursor, add a line or change its direction', () => {
    const hostile = 'a\u001b[2J\r\nb\u202egnp.exe\u2066\u009b31m\u2028\u0000\ud800"'
    const refusal = refusedWith(500, hostile, { location: hostile })
    const text = show([says(hostile), refusal, failedWith({ code: 'no_url' }, `http://x/${hostile}`)])
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    expect(text).toContain('writes "a<U+001B>[2J\\r\\nb<U+202E>gnp.exe<U+2066>…"\n')
  })

  it('shortens emoji and wide scripts by their columns', () => {
    for (const text of ['👩‍👩‍👧', '漢字']) {
      const line = show([says(text.repeat(40))])
      expect(line).toMatch(new RegExp(`writes "(${text}){10,20}…"`))
      expect(widthOf(line.trim())).toBeLessThanOrEqual(100)
    }
  })
})

describe('a hint for a failed webhook', () => {
  const hintOf = (entry: Entry) => {
    const text = show([entry], { columns: 400 })
    return /hint +(.*)/.exec(text)?.[1] ?? text
  }
  const refusedBy = { target, system_code: 'ECONNREFUSED' }
  const certificate = { detail: 'self-signed certificate', system_code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }
  const noUrl = { outcome: 'skipped', status: null, response: null, url: null, failure: { code: 'no_url' } } as const
  const https = 'https://127.0.0.1:3000/webhook'
  it.each<[what: string, entry: Entry, hint: RegExp]>([
    [
      'nothing listens',
      failedWith({ code: 'connection_refused', ...refusedBy }),
      /^Is the intermediary .* that port\?$/,
    ],
    [
      'localhost',
      failedWith({ code: 'connection_refused', ...refusedBy }, 'http://localhost:3000/'),
      /may mean ::1 here: try 127\.0\.0\.1\.$/,
    ],
    ['a wrong path', refusedWith(404), /^Something runs at 127\.0\.0\.1:3000 but has no \/webhook;/],
    ['a signature', refusedWith(401), /^Signature refused\? Compute the HMAC over the raw body bytes/],
    ['a redirect', refusedWith(308, '', { location: '/webhook/' }), /^Set the address it leads to \(\/webhook\/\)/],
    [
      'https to http',
      failedWith({ code: 'no_tls', target, system_code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, https),
      /plain http server answers there; try http:\/\/127\.0\.0\.1:3000\/webhook\.$/,
    ],
    [
      'http to https',
      failedWith({ code: 'connection_closed', target, system_code: 'UND_ERR_SOCKET' }),
      /expect https\? Then try https:\/\/127\.0\.0\.1:3000\/webhook\. Otherwise it closed the connection/,
    ],
    [
      'http to https behind nginx',
      refusedWith(400, '<h1>The plain HTTP request was sent to HTTPS port</h1>'),
      /expect https\? Then try https:\/\/127\.0\.0\.1:3000\/webhook\./,
    ],
    [
      'a certificate',
      failedWith({ code: 'tls', ...certificate }, https),
      /not trusted: .* NODE_EXTRA_CA_CERTS=ca\.pem\.$/,
    ],
    [
      'no such host',
      failedWith({ code: 'dns_not_found', target: 'desk.test', system_code: 'ENOTFOUND' }, 'http://desk.test/'),
      /^Check the spelling of desk\.test,/,
    ],
    ['too slow', failedWith({ code: 'timeout', timeout_ms: 10_000 }), /^Answer 200 first .* webhook\.timeout\.$/],
    ['POST refused', refusedWith(405), /^The route \/webhook must take POST\.$/],
    ['a crash', refusedWith(500), /its own log has the reason\.$/],
    ['202', refusedWith(202), /^Answer exactly 200:/],
    ['no URL', delivery(noUrl), /--webhook-url URL, webhook\.url in the config file, or PATCH \/_sim\/config\.$/],
    ['a forged event', altered(refusedWith(403), { triggered: true, sign: 'none' }), /^Refused as it should be/],
    ['a triggered event', altered(refusedWith(401), { triggered: true, sign: 'valid' }), /^Signature refused\?/],
    ['an old event', altered(refusedWith(401), { resent: true }), /--re-sign/],
  ])('%s', (_what, entry, hint) => {
    expect(hintOf(entry)).toMatch(hint)
  })

  it('is shown once per cause', () => {
    const text = show([refusedWith(404), refusedWith(404), refusedWith(401), refusedWith(404)])
    expect(text.match(/^ +hint /gm)).toHaveLength(2)
  })

  it('has the answer of the receiver and the time of the next attempt', () => {
    const entry = { ...refusedWith(401, '{"error":"bad signature"}'), retry_in_ms: 5000 } as Entry
    expect(show([entry])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       webhook -> platform       to MESSAGE FROM USER
                              answer 401                only 200 acknowledges MESSAGE FROM USER, 12 ms,
                                                        next attempt in 5s
                              sent to                   http://127.0.0.1:3000/webhook
                              body                      {"error":"bad signature"}
                              hint                      Signature refused? Compute the HMAC over the raw
                                                        body bytes, before any JSON parsing, with the
                                                        handover key, and compare as the header is
                                                        encoded.
      "
    `)
  })
})

const note = (name: string, more: object = {}) => at({ kind: 'note', note: name, ...more })
const driver = { kind: 'driver', chat_id: CHAT, how: 'POST' } as const
const triggered = (sign: EntryOf<'delivery'>['sign']) => ({ delivery_id: 't1', triggered: true, sign }) as const

describe('compact: one line says', () => {
  const pathNotFound = { code: 'path_not_found', message: 'No endpoint.' }
  const transcript = { event: 'TRANSCRIPT', chat: { messages: [1, 2] } }
  const typing = { headers: {}, body: { timeout: 5000 }, bytes: 1 }
  const closed = { code: 'status', status: 409, body: 'the chat is closed' } as const
  const availability = { bot_id: 1042, queue: 'DEFAULT', availability: 'CLOSED', by: 'workspace' }
  const changed = { 'webhook.url': 'http://x.example.test/', 'webhook.retry': ['1s'] }
  const crash = { where: 'timer', code: 'TypeError', message: 'x is not a function' }
  it.each<[line: string, entry: Entry]>([
    [
      'POST start as Anna (en, nb), attachments: 200 TAKEOVER STARTED, 1.2 ms, assumed start.again=accept,',
      HANDOVER()[5]!,
    ],
    [
      'POST /api/v2/handover/strat: 404 path_not_found, 1.2 ms; because No endpoint.',
      call({ endpoint: null, path: '/api/v2/handover/strat', status: 404, response: { error: pathNotFound } }),
    ],
    [
      'POST end (takeover path): 200 TAKEOVER ENDED, 1.2 ms',
      call({ endpoint: 'end', alias: 'takeover', response: { event: 'TAKEOVER ENDED' } }),
    ],
    ['POST transcript: 200 TRANSCRIPT, 2 messages, 1.2 ms', call({ endpoint: 'transcript', response: transcript })],
    ['POST typing_start for 5000 ms: 200 1.2 ms', call({ endpoint: 'typing_start', request: typing, response: {} })],
    ['manual -> webhook MESSAGE FROM USER, triggered: 200 12 ms', delivery(triggered('valid'))],
    ['manual -> webhook MESSAGE FROM USER (attempt 2), resent: 200 12 ms', delivery({ attempt: 2, resent: true })],
    [
      'changed after signing on purpose: 200 12 ms; accepted although the signature is invalid: does the receiver',
      delivery(triggered('tampered')),
    ],
    [
      'signed with a wrong key on purpose: 401 only 200 acknowledges MESSAGE FROM USER, 12 ms; sent to http:',
      altered(refusedWith(401), triggered('wrong-key')),
    ],
    ['platform -> user hides the typing indicator (timeout)', note('typing_hidden', { chat_id: CHAT, why: 'timeout' })],
    ['platform availability CLOSED (workspace)', note('availability', availability)],
    ['settings webhook.url=http://x.example.test/ webhook.retry=["1s"]', note('config', { changed })],
    ['clock advances by 10m to 2024-01-01T09:10', note('clock_advanced', { by: '10m', to: '2024-01-01T09:10:00Z' })],
    ['internal error of handover-sim (timer): x is not a function; please report it', note('internal_error', crash)],
    ['journal The journal keeps 10 entries', note('evicted', { message: 'The journal keeps 10 entries' })],
    [
      'agent -> help desk accept: answer 202 4.0 ms',
      at({ ...driver, verb: 'accept', outcome: 'ok', status: 202, duration_ms: 4 }),
    ],
    [
      'agent -> help desk says "Hello": failed answered 409: the chat is closed, 3.0 ms',
      at({ ...driver, verb: 'says', text: 'Hello', outcome: 'failed', status: 409, duration_ms: 3, failure: closed }),
    ],
  ])('%s', (line, entry) => {
    expect(show([entry], { style: 'compact' })).toContain(line)
  })
})

it('quiet shows a forged event if the webhook accepted it', () => {
  const events = (['valid', 'none', 'truncated', 'hex'] as const).map(sign => delivery(triggered(sign)))
  const text = show(events, { style: 'quiet' }).replace(/\s+/g, ' ')
  expect(text.match(/accepted although the signature is invalid/g)).toHaveLength(3)
  for (const words of ['not signed', 'signature cut short', 'signature encoded wrong']) expect(text).toContain(words)
})

it('only the level has a colour', () => {
  const coloured = show(HANDOVER(), { colorLevel: 1 })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(show(HANDOVER()))
  expect(coloured).toContain('\u001b[33mfinding R-SENDER.4')
})
