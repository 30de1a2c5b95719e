import { describe, expect, it } from 'vitest'
import { createLog, type LogOptions } from '../../src/pages/reporters/log.ts'
import type { Entry, EntryOf } from '../../src/platform/journal/entry.ts'
import {
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

const HANDOVER = () => [
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
    expect(show(HANDOVER())).toMatchInlineSnapshot(`
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
      "
    `)
  })

  it('names the event again in a later answer', () => {
    expect(show([event('a', 'd1'), event('b', 'd2'), delivery({ delivery_id: 'd1' })])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       platform -> webhook       MESSAGE FROM USER "a"
      09:00:01 c394b674       platform -> webhook       MESSAGE FROM USER "b"
      09:00:01 c394b674       webhook -> platform       answer 200 to MESSAGE FROM USER, 12 ms
      "
    `)
  })

  it('says why handover-sim itself refuses a call, and what to do', () => {
    const handover_sim = { code: 'foreign_host', message: 'refused: "evil.example" is unknown.', hint: 'Set api.cors.' }
    expect(show([call({ status: 403, response: { handover_sim } })])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       intermediary -> platform  POST start
                              answer 403                foreign_host, 1.2 ms
                              because                   refused: "evil.example" is unknown.
                              hint                      Set api.cors.
      "
    `)
  })

  it('wraps the reason of a refusal in its column', () => {
    const error = {
      code: 'missing_scope',
      message:
        "This key has no 'Read chats' scope. The transcript endpoint takes a bot API key (Connect -> API Keys), not the handover key.",
      field: null,
    }
    const refused = call({
      endpoint: 'chat',
      method: 'GET',
      request: { headers: {}, body: null, bytes: 0 },
      status: 403,
      response: { error },
      unspecified: { 'errors.body': 'json', 'keys.shared': 'off' },
    })
    expect(show([refused])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       intermediary -> platform  GET chat
                              answer 403                missing_scope, 1.2 ms, assumed errors.body=json,
                                                        keys.shared=off
                              because                   This key has no 'Read chats' scope. The transcript
                                                        endpoint takes a bot API key (Connect -> API
                                                        Keys), not the handover key.
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

  it('shows the path of unknown calls, and reports the old spelling', () => {
    expect(
      show([
        call({
          endpoint: null,
          path: '/api/v2/handover/strat',
          status: 404,
          response: { error: { code: 'path_not_found', message: 'No endpoint.' } },
        }),
        call({ endpoint: 'end', alias: 'takeover', response: { event: 'TAKEOVER ENDED' } }),
        call({ endpoint: 'transcript', response: { event: 'TRANSCRIPT', chat: { messages: [1, 2] } } }),
        call({ endpoint: 'typing_start', request: { headers: {}, body: { timeout: 5000 }, bytes: 1 }, response: {} }),
      ]),
    ).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       intermediary -> platform  POST /api/v2/handover/strat
                              answer 404                path_not_found, 1.2 ms
                              because                   No endpoint.
      09:00:01 c394b674       intermediary -> platform  POST end (takeover path)
                              answer 200                TAKEOVER ENDED, 1.2 ms
      09:00:01 c394b674       intermediary -> platform  POST transcript
                              answer 200                TRANSCRIPT, 2 messages, 1.2 ms
      09:00:01 c394b674       intermediary -> platform  POST typing_start for 5000 ms
                              answer 200                1.2 ms
      "
    `)
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
    const text = show([
      says(hostile),
      call({ endpoint: null, method: `P${hostile}`, path: `/${hostile}` }),
      call({
        request: { headers: {}, body: { sender: { name: hostile } }, bytes: 1 },
        findings: [{ rule: 'ER1', message: hostile }],
      }),
      refusedWith(500, hostile, { location: hostile }),
      failedWith({ code: 'function_threw', detail: hostile }, `http://x/${hostile}`),
      at({ kind: 'fault', fault: hostile, effect: { latency: hostile }, hit: 1, of: null, not_applied: [hostile] }),
      at({ kind: 'driver', what: hostile }),
      at({ kind: 'note', note: hostile, [hostile]: hostile }),
    ])
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    expect(text.split('\n').filter(line => /^b/.test(line))).toEqual([])
    expect(show([says(hostile)])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       user -> platform          writes "a<U+001B>[2J\\r\\nb<U+202E>gnp.exe<U+2066>…"
      "
    `)
  })

  it('shortens emoji and wide scripts by their columns', () => {
    expect(
      show([says('👩‍👩‍👧'.repeat(40)), says('漢字'.repeat(40)), says('Привет, где моя посылка?')]),
    ).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       user -> platform          writes "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧…"
      09:00:01 c394b674       user -> platform          writes "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字…"
      09:00:01 c394b674       user -> platform          writes "Привет, где моя посылка?"
      "
    `)
  })
})

describe('a hint for a failed webhook', () => {
  const hintOf = (entry: Entry) => {
    const text = show([entry], { columns: 400 })
    return /hint +(.*)/.exec(text)?.[1] ?? text
  }
  it.each([
    [
      'nothing listens',
      failedWith({ code: 'connection_refused', target, system_code: 'ECONNREFUSED' }),
      'Is the intermediary running, and on that port?',
    ],
    [
      'localhost',
      failedWith(
        { code: 'connection_refused', target: 'localhost', system_code: 'ECONNREFUSED' },
        'http://localhost:3000/',
      ),
      'Is the intermediary running, and on that port? localhost may mean ::1 here: try 127.0.0.1.',
    ],
    [
      'a wrong path',
      refusedWith(404),
      'Something runs at 127.0.0.1:3000 but has no /webhook; check the path of the webhook URL.',
    ],
    [
      'a signature',
      refusedWith(401),
      'Signature refused? Compute the HMAC over the raw body bytes, before any JSON parsing, with the handover key, and compare as the header is encoded.',
    ],
    [
      'a redirect',
      refusedWith(308, '', { location: '/webhook/' }),
      'Set the address it leads to (/webhook/); often only a final slash or http/https differs.',
    ],
    [
      'https to http',
      failedWith(
        { code: 'no_tls', target, system_code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
        'https://127.0.0.1:3000/webhook',
      ),
      'The address says https but a plain http server answers there; try http://127.0.0.1:3000/webhook.',
    ],
    [
      'http to https',
      failedWith({ code: 'connection_closed', target, system_code: 'UND_ERR_SOCKET' }),
      'Does the receiver expect https? Then try https://127.0.0.1:3000/webhook. Otherwise it closed the connection before answering: see its log.',
    ],
    [
      'http to https behind nginx',
      refusedWith(400, '<h1>The plain HTTP request was sent to HTTPS port</h1>'),
      'Does the receiver expect https? Then try https://127.0.0.1:3000/webhook. Otherwise it closed the connection before answering: see its log.',
    ],
    [
      'a certificate',
      failedWith(
        { code: 'tls', detail: 'self-signed certificate', system_code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
        'https://127.0.0.1:3000/',
      ),
      'The certificate is not trusted: use http on this machine, or start with NODE_EXTRA_CA_CERTS=ca.pem.',
    ],
    [
      'no such host',
      failedWith({ code: 'dns_not_found', target: 'desk.test', system_code: 'ENOTFOUND' }, 'http://desk.test/'),
      'Check the spelling of desk.test, and that the name is known where the simulator runs.',
    ],
    [
      'too slow',
      failedWith({ code: 'timeout', timeout_ms: 10_000 }),
      'Answer 200 first and work afterwards: the platform waits no longer than the knob webhook.timeout.',
    ],
    ['POST refused', refusedWith(405), 'The route /webhook must take POST.'],
    ['a crash', refusedWith(500), 'The receiver failed: its own log has the reason.'],
    ['202', refusedWith(202), 'Answer exactly 200: no other status acknowledges this event.'],
    [
      'no URL',
      delivery({ outcome: 'skipped', status: null, response: null, url: null, failure: { code: 'no_url' } }),
      'Say where events go: --webhook-url URL, webhook.url in the config file, or PATCH /_sim/config.',
    ],
  ])('%s', (_what, entry, hint) => {
    expect(hintOf(entry)).toBe(hint)
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

describe('a manual event', () => {
  const triggered = (sign: EntryOf<'delivery'>['sign']) => ({ delivery_id: 't1', triggered: true, sign }) as const
  const note = at({ kind: 'note', note: 'event_triggered', chat_id: CHAT, event: 'X', delivery_id: 't1', sign: 'none' })

  it('is marked as manual, and its invalid signature as intended', () => {
    const refused = { ...refusedWith(401), ...triggered('wrong-key') } as Entry
    const accepted = delivery(triggered('tampered'))
    const resent = delivery({ attempt: 2, resent: true })
    expect(show([event('x'), note, delivery(triggered('valid')), refused, accepted, resent])).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       platform -> webhook       MESSAGE FROM USER "x"
      09:00:01 c394b674       manual -> webhook         MESSAGE FROM USER, triggered
                              answer 200                12 ms
      09:00:01 c394b674       manual -> webhook         MESSAGE FROM USER, triggered, signed with a wrong
                                                        key on purpose
                              answer 401                only 200 acknowledges MESSAGE FROM USER, 12 ms
                              sent to                   http://127.0.0.1:3000/webhook
                              hint                      Refused as it should be: this signature was wrong
                                                        on purpose.
      09:00:01 c394b674       manual -> webhook         MESSAGE FROM USER, triggered, changed after
                                                        signing on purpose
                              answer 200                12 ms
                              accepted                  although the signature is invalid: does the
                                                        receiver verify it?
      09:00:01 c394b674       manual -> webhook         MESSAGE FROM USER (attempt 2), resent
                              answer 200                12 ms
      "
    `)
    expect(show([note, accepted, resent], { style: 'compact' })).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       manual -> webhook MESSAGE FROM USER, triggered, changed after signing on purpose: 200 12 ms; accepted although the signature is invalid: does the receiver verify it?
      09:00:01 c394b674       manual -> webhook MESSAGE FROM USER (attempt 2), resent: 200 12 ms
      "
    `)
  })

  it('is shown by quiet if the webhook accepted its invalid signature', () => {
    const lines = (['valid', 'none', 'truncated', 'hex'] as const).map(sign => delivery(triggered(sign)))
    const text = show([note, ...lines], { style: 'quiet' })
    expect(text.match(/manual -> webhook/g)).toHaveLength(3)
    for (const words of ['not signed', 'signature cut short', 'signature encoded wrong'])
      expect(text.replace(/\s+/g, ' ')).toContain(words)
    expect(text.replace(/\s+/g, ' ')).toContain('accepted although the signature is invalid')
  })

  it('has a hint that the refusal is correct, or why an old event is refused', () => {
    const hint = (entry: Entry) => /hint +(.*)$/m.exec(show([entry], { columns: 250 }))![1]
    expect(hint({ ...refusedWith(403), ...triggered('none') } as Entry)).toMatch(/^Refused as it should be/)
    expect(hint({ ...refusedWith(401), ...triggered('valid') } as Entry)).toMatch(/^Signature refused\?/)
    expect(hint({ ...refusedWith(401), resent: true } as Entry)).toContain('--re-sign')
  })
})

describe('the other styles', () => {
  it('compact writes one line per entry', () => {
    expect(show([...HANDOVER(), refusedWith(401, 'no')], { style: 'compact' })).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674 nb    platform chat c394b674-c865-4926-9541-db8f3c7cb8b6 (web)
      09:00:01 c394b674 nb    user -> platform presses "Talk to us"
      09:00:01 c394b674 nb    platform -> user writes "One moment, I am passing you on to a…"
      09:00:01 c394b674 nb    platform -> webhook MESSAGE FROM USER: 200 12 ms
      09:00:01 c394b674 nb    intermediary -> platform POST start as Anna (en, nb), attachments: 200 TAKEOVER STARTED, 1.2 ms, assumed start.again=accept, typing.again
      09:00:01 c394b674 nb    intermediary -> platform POST message as Anna "Hei! Hvordan kan jeg hjelpe?": 200 MESSAGE SENT TO USER, 1.2 ms; finding R-SENDER.4 sender.avatar is missing.
      09:00:01 c394b674 nb    platform -> webhook MESSAGE FROM USER: 401 only 200 acknowledges MESSAGE FROM USER, 12 ms; sent to http://127.0.0.1:3000/webhook; body no; hint Signature refused? Compute the HMAC over the raw body bytes, before any JSON parsing, with the handover key, and compare as the header is encoded.
      "
    `)
  })

  it('quiet shows only failures and findings', () => {
    const text = show([...HANDOVER(), says('x'), event('x'), refusedWith(404)], { style: 'quiet' })
    expect(text).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674 nb    intermediary -> platform  POST message as Anna "Hei! Hvordan kan jeg hjelp…"
                              answer 200                MESSAGE SENT TO USER, 1.2 ms
                              finding R-SENDER.4        sender.avatar is missing.
      09:00:01 c394b674 nb    platform -> webhook       MESSAGE FROM USER
                              answer 404                only 200 acknowledges MESSAGE FROM USER, 12 ms
                              sent to                   http://127.0.0.1:3000/webhook
                              hint                      Something runs at 127.0.0.1:3000 but has no
                                                        /webhook; check the path of the webhook URL.
      "
    `)
    expect(show([event('x'), delivery(), call()], { style: 'quiet' })).toBe('\n')
  })

  it('only the level has a colour', () => {
    const plain = show(HANDOVER())
    const coloured = show(HANDOVER(), { colorLevel: 1 })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(plain)
    expect(coloured).toContain('\u001b[33mfinding R-SENDER.4')
  })
})

describe('notes', () => {
  it('are rendered as text, unless a call has the same text', () => {
    expect(
      show([
        at({ kind: 'note', note: 'taken_over', chat_id: CHAT, by: 'Anna' }),
        at({ kind: 'note', note: 'typing_hidden', chat_id: CHAT, why: 'timeout' }),
        at({
          kind: 'note',
          note: 'availability',
          bot_id: 1042,
          queue: 'DEFAULT',
          by: 'workspace',
          availability: 'CLOSED',
        }),
        at({ kind: 'note', note: 'availability', bot_id: 1042, queue: 'DEFAULT', by: 'api', availability: 'CLOSED' }),
        at({
          kind: 'note',
          note: 'config',
          changed: { 'webhook.url': 'http://x.example.test/', 'webhook.retry': ['1s'] },
        }),
        at({ kind: 'note', note: 'clock_advanced', by: '10m', to: '2024-01-01T09:10:00.000000Z' }),
        at({ kind: 'note', note: 'internal_error', where: 'timer', code: 'TypeError', message: 'x is not a function' }),
        at({ kind: 'note', note: 'evicted', message: 'The journal keeps 10 entries; older ones are being dropped.' }),
        at({ kind: 'driver', chat_id: CHAT, verb: 'accept', outcome: 'ok', how: 'POST', status: 202, duration_ms: 4 }),
        at({
          ...{
            kind: 'driver',
            chat_id: CHAT,
            verb: 'says',
            text: 'Hello',
            outcome: 'failed',
            how: 'POST',
            status: 409,
          },
          ...{ duration_ms: 3, failure: { code: 'status', status: 409, body: 'the chat is closed' } },
        }),
      ]),
    ).toMatchInlineSnapshot(`
      "
      09:00:01 c394b674       platform -> user          hides the typing indicator (timeout)
      09:00:01                platform                  availability CLOSED (workspace)
      09:00:01                settings                  webhook.url=http://x.example.test/
                                                        webhook.retry=["1s"]
      09:00:01                clock                     advances by 10m to 2024-01-01T09:10:00.000000Z
      09:00:01                handover-sim              internal error of handover-sim (timer): x is not a
                                                        function; please report it
      09:00:01                journal                   The journal keeps 10 entries; older ones are being
                                                        dropped.
      09:00:01 c394b674       agent -> help desk        accept
                              answer 202                4.0 ms
      09:00:01 c394b674       agent -> help desk        says "Hello"
                              failed                    answered 409: the chat is closed, 3.0 ms
      "
    `)
  })
})
