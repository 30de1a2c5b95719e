import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/base/text/terminal-text.ts'
import { createLog, type LogOptions } from '../../src/pages/reporters/log.ts'
import type { DeliveryFailure, Entry, EntryOf } from '../../src/platform/journal/entry.ts'
import { at, call, created, delivery, event, failedWith, note, press, refusedWith, says } from './log-samples.ts'

function show(entries: readonly Entry[], options: Partial<LogOptions> = {}): string {
  const log = createLog({ style: 'pretty', colorLevel: 0, ...options })
  return `\n${entries.map(log).join('')}`
}
const inOneLine = (entries: readonly Entry[], options: Partial<LogOptions> = {}) =>
  show(entries, options).replace(/\s+/g, ' ')

const START = call(
  { unspecified: { 'start.again': 'accept', 'typing.again': null } },
  { sender: { name: 'Anna', language_codes: ['en', 'nb'] }, supports_attachment: true },
)
const FINDING = { rule: 'R-SENDER.4', message: 'sender.avatar is missing.' }
const MESSAGE = { message: 'Hei! Hvordan kan jeg hjelpe?', sender: { name: 'Anna' } }
const BOT = note('bot_message', { message_id: 'm', text: 'One moment, I am passing you on to a human colleague.' })
const FINDING_CALL = call({ endpoint: 'message', findings: [FINDING] }, MESSAGE)
const HANDOVER = [created, press, BOT, event('x'), delivery(), START, FINDING_CALL, delivery()]

describe('pretty', () => {
  it('shows a handover with two aligned lines per call', () => {
    expect(show(HANDOVER)).toMatchInlineSnapshot(`
      "
      09:00:00 c394b674 nb    platform                  chat c394b674-c865-4926-9541-db8f3c7cb8b6 (web)
      09:00:00 c394b674 nb    user -> platform          presses "handover"
      09:00:00 c394b674 nb    platform -> user          the bot says "One moment, I am passing you on to…"
      09:00:00 c394b674 nb    platform -> intermediary  MESSAGE FROM USER "x"
                              answer 200                31 ms
      09:00:00 c394b674 nb    intermediary -> platform  POST start as Anna (en, nb), attachments
                              answer 200                TAKEOVER STARTED, 1.2 ms, assumed
                                                        start.again=accept, typing.again
      09:00:00 c394b674 nb    intermediary -> platform  POST message as Anna "Hei! Hvordan kan jeg hjelp…"
                              answer 200                MESSAGE SENT TO USER, 1.2 ms
                              finding R-SENDER.4        sender.avatar is missing.
      09:00:00 c394b674 nb    intermediary -> platform  answer 200 to MESSAGE FROM USER, 31 ms
      "
    `)
  })

  it('says why a call is refused in its column, and what to do', () => {
    const message = "This key has no 'Read chats' scope. The transcript endpoint takes a bot API key, not that one."
    const error = { code: 'missing_scope', message, field: null }
    const handover_sim = { code: 'foreign_host', message: 'refused: "evil.example" is unknown.', hint: 'Set api.cors.' }
    const refusals = [{ error }, { handover_sim }].map(response => call({ status: 403, response }))
    expect(show(refusals)).toMatch(/ because {19}This key .* transcript\n {50}endpoint takes a bot API key, not/)
    expect(inOneLine(refusals)).toMatch(/answer 403 foreign_host, 1\.2 ms because refused: .* hint Set api\.cors\./)
  })

  it('says each assumption once, and again with another value', () => {
    const about = { status: 400, response: { error: { code: 'invalid_parameter', message: 'no' } } }
    const calls = ['json', 'json', 'text', 'json'].map(body => call({ ...about, unspecified: { 'errors.body': body } }))
    const [json, text] = ['json', 'text'].map(body => `, assumed errors.body=${body}`)
    expect(show(calls, { columns: 200 }).match(/(?<=1\.2 ms).*/g)).toEqual([json, '', text, ''])
  })

  it('stays within 100 columns, and uses a wider terminal; emoji and wide scripts count by their columns', () => {
    const entries = [
      ...[...HANDOVER, says('word '.repeat(100)), says('👩‍👩‍👧'.repeat(40)), says('漢字'.repeat(40))],
      ...[
        refusedWith(401, { body: 'x '.repeat(300) }),
        failedWith({ code: 'function_threw', detail: 'y '.repeat(90) }),
      ],
    ]
    const widest = (columns: number) => Math.max(...show(entries, { columns }).split('\n').map(widthOf))
    expect(widest(100)).toBeLessThanOrEqual(100)
    expect(widest(140)).toBeGreaterThan(100)
    expect(show(entries)).toMatch(/"(👩‍👩‍👧){10,24}…"(.|\n)*"(漢字){10,20}漢?…"/u)
  })

  it('escapes text that would move the cursor, add a line or change its direction', () => {
    const hostile = 'a\u001b[2J\r\nb\u202egnp.exe\u2066\u009b31m\u2028\u0000\ud800"'
    const refusal = refusedWith(500, { body: hostile, headers: { location: hostile } })
    const text = show([says(hostile), refusal, failedWith({ code: 'no_url' }, `http://x/${hostile}`)])
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    expect(text).toContain('  "a<U+001B>[2J\\r\\nb<U+202E>gnp.exe<U+2066>')
  })
})

describe('a hint for a failed webhook', () => {
  const HTTP = 'http://127.0.0.1:3000/webhook'
  const HTTPS = 'https://127.0.0.1:3000/webhook'
  const unsent = (code: string, url = HTTP) => {
    const system = { system_code: 'DEPTH_ZERO_SELF_SIGNED_CERT', detail: 'self-signed certificate' }
    const failure = { code, target: new URL(url).host, ...system, timeout_ms: 10_000 }
    return failedWith(failure as DeliveryFailure, url)
  }
  const noUrl = { outcome: 'skipped', status: null, response: null, url: null, failure: { code: 'no_url' } } as const
  const nginx = '<h1>The plain HTTP request was sent to HTTPS port</h1>'
  it.each<[what: string, entry: Entry, hint: RegExp]>([
    ['nothing listens', unsent('connection_refused'), /^Is the intermediary .* that port\?$/],
    ['localhost', unsent('connection_refused', 'http://localhost:3000/'), /may mean ::1 here: try 127\.0\.0\.1\.$/],
    ['a wrong path', refusedWith(404), /^Something runs at 127\.0\.0\.1:3000 but has no \/webhook;/],
    ['a signature', refusedWith(401), /^Signature refused\? Compute the HMAC over the raw body bytes/],
    ['a user in the URL', refusedWith(401, { url: 'http://me:pass@127.0.0.1/webhook' }), /webhook\.basicAuth=on/],
    ['a redirect', refusedWith(308, { headers: { location: '/at/' } }), /^Set the address it leads to \(\/at\/\)/],
    ['https to http', unsent('no_tls', HTTPS), /plain http server answers there; try http:\/\/127.*\/webhook\.$/],
    [
      'http to https',
      unsent('connection_closed'),
      /Perhaps it speaks HTTPS: try https:.*\. Otherwise its log says why/,
    ],
    ['http to https behind nginx', refusedWith(400, { body: nginx }), /Perhaps it speaks HTTPS: try https:\/\/127/],
    ['a certificate', unsent('tls', HTTPS), /not trusted: .* NODE_EXTRA_CA_CERTS=ca\.pem\.$/],
    ['no such host', unsent('dns_not_found', 'http://desk.test/'), /^Check the spelling of desk\.test,/],
    ['too slow', unsent('timeout'), /^Answer 200 first .* webhook\.timeout\.$/],
    ['POST refused', refusedWith(405), /^The route \/webhook must take POST\.$/],
    ['a crash', refusedWith(500), /its own log has the reason\.$/],
    ['202', refusedWith(202), /^Answer exactly 200:/],
    ['no URL', delivery(noUrl), /--webhook-url URL, webhook\.url in the config file, or PATCH \/_sim\/config\.$/],
    ['a forged event', refusedWith(403, { triggered: true, sign: 'none' }), /^ *Refused as it should be/],
    ['a triggered event', refusedWith(401, { triggered: true, sign: 'valid' }), /^Signature refused\?/],
    ['an old event', refusedWith(401, { resent: true }), /--re-sign/],
  ])('%s', (_what, entry, hint) => {
    const text = show([entry], { columns: 400 })
    expect(/hint +(.*)/.exec(text)?.[1] ?? text).toMatch(hint)
  })

  it('is shown once per cause, after the answer and the time of the next attempt', () => {
    const text = show([refusedWith(404), refusedWith(404), refusedWith(401), refusedWith(404)])
    expect(text.match(/^ +hint /gm)).toHaveLength(2)
    const retried = refusedWith(401, { body: '{"error":"bad signature"}', retry_in_ms: 5000 })
    expect(inOneLine([retried])).toMatch(
      /answer 401 only 200 ack.* 31 ms, again after 5.0 s sent to http.* body {"error/,
    )
  })
})

const triggered = (sign: EntryOf<'delivery'>['sign']) => ({ delivery_id: 't1', triggered: true, sign }) as const

describe('compact: one line says', () => {
  const agent = { kind: 'driver', how: 'POST', duration_ms: 4 }
  const failure = { code: 'status', status: 409, body: 'the chat is closed' }
  const says = { ...agent, verb: 'says', text: 'Hello', outcome: 'failed', status: 409, failure }
  const error = { code: 'path_not_found', message: 'No endpoint.' }
  const unknown = { endpoint: null, path: '/api/v2/handover/strat', status: 404, response: { error } }
  const transcript = { event: 'TRANSCRIPT', chat: { messages: [1, 2] } }
  const availability = { bot_id: 1042, queue: 'DEFAULT', availability: 'CLOSED', by: 'workspace' }
  const changed = { 'webhook.url': 'http://x.example.test/', 'webhook.retry': ['1s'] }
  const crash = { where: 'timer', code: 'TypeError', message: 'x is not a function' }
  const wrongKey = refusedWith(401, triggered('wrong-key'))
  it.each<[line: string, entry: Entry]>([
    ['POST start as Anna (en, nb), attachments: 200 TAKEOVER STARTED, 1.2 ms, assumed start.again=accept,', START],
    ['POST /api/v2/handover/strat: 404 path_not_found, 1.2 ms; because No endpoint.', call(unknown)],
    ['POST end (takeover path): 200 TAKEOVER ENDED, 1.2 ms', call({ endpoint: 'end', alias: 'takeover' })],
    ['POST transcript: 200 TRANSCRIPT, 2 messages, 1.2 ms', call({ endpoint: 'transcript', response: transcript })],
    ['POST typing_start for 5000 ms: 200 1.2 ms', call({ endpoint: 'typing_start', response: {} }, { timeout: 5000 })],
    ['-> intermediary MESSAGE FROM USER, sent manually: 200 31 ms', delivery(triggered('valid'))],
    ['-> intermediary MESSAGE FROM USER, sent again: 200 31 ms', delivery({ attempt: 2, resent: true })],
    [
      'changed after signing on purpose: 200 31 ms; because the webhook accepted a forged',
      delivery(triggered('tampered')),
    ],
    ['signed with a wrong key on purpose: 401 only 200 acknowledges MESSAGE FROM USER, 31 ms; sent to http:', wrongKey],
    ['platform -> user typing indicator hidden (timeout)', note('typing_hidden', { why: 'timeout' })],
    ['platform availability CLOSED (workspace)', note('availability', availability)],
    ['platform settings webhook.url=http://x.example.test/ webhook.retry=["1s"]', note('config', { changed })],
    [
      'platform the clock advances by 10m to 2024-01-01T09:10',
      note('clock_advanced', { by: '10m', to: '2024-01-01T09:10:00Z' }),
    ],
    ['internal error of handover-sim (timer): x is not a function; please report it', note('internal_error', crash)],
    ['handover-sim The journal keeps 10 entries', note('evicted', { message: 'The journal keeps 10 entries' })],
    ['agent -> intermediary accepts: 202 4.0 ms', at({ ...agent, verb: 'accept', outcome: 'ok', status: 202 })],
    ['agent -> intermediary says "Hello": failed answered 409: the chat is closed, 4.0 ms', at(says)],
  ])('%s', (line, entry) => {
    expect(show([entry], { style: 'compact' })).toContain(line)
  })
})

it('quiet shows a forged event if the webhook accepted it', () => {
  const events = (['valid', 'none', 'truncated', 'hex'] as const).map(sign => delivery(triggered(sign)))
  const text = inOneLine(events, { style: 'quiet' })
  expect(text.match(/the webhook accepted a forged event: it answered 200/g)).toHaveLength(3)
  for (const words of ['not signed', 'signature cut short', 'signature encoded wrong']) expect(text).toContain(words)
})

it('only the level has a colour', () => {
  const coloured = show(HANDOVER, { colorLevel: 1 })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(show(HANDOVER))
  expect(coloured).toContain('\u001b[33mfinding R-SENDER.4')
})
