/** Requests that the control API refuses: status, code, and what the message names. A refused request changes nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import type { PlatformServer } from '../../../src/server/start.ts'
import { type ControlClient, type ControlRequest, createControlClient } from '../../support/control-client.ts'
import { connectRaw } from '../../support/network.ts'

let server: PlatformServer
let control: ControlClient
beforeAll(async () => {
  server = await startSimulator({ port: 0, clock: 'virtual' })
  control = createControlClient(server)
  await server.chat({
    id: 'ada',
    history: [{ bot: 'Hello', buttons: [{ label: 'Opening hours' }, { label: 'Prices', is_active: false }] }],
  })
})
afterAll(async () => {
  expect(server.journal.query()).toMatchObject([{ note: 'chat_created' }])
  expect(server.chats()).toHaveLength(1)
  await server.close()
})

const refuses = async (route: string, request: ControlRequest): Promise<object> => {
  const [method = '', path = ''] = route.split(' ')
  const { status, headers, body } = await control(method, path, request)
  expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
  const { code, message } = body.error
  return { status, code, message }
}

/** The body, and a part of the message. */
type Row = readonly [route: string, body: unknown, text: string]
const UNKNOWN_FILES = new FormData()
UNKNOWN_FILES.set('file', new File(['x'], 'a.txt'))
const attached = (more: object) => ({ text: 'x', attachments: [{ name: 'a', type: 'text/plain', ...more }] })

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  '422 invalid_body': [
    ['POST /chats', { langauge: 'nb' }, 'langauge is not a known key; did you mean language?'],
    ['POST /chats', { user: { frist_name: 'Ada' } }, 'user.frist_name is not a known key; did you mean first_name?'],
    ['POST /chats', { history: [{ usr: 'Hi' }] }, 'history[0] must be one of { user }, { bot, buttons? }'],
    ['POST /chats', { language: 5 }, 'language must be a string, got the number 5'],
    ['PUT /availability', { availability: 'SHUT' }, 'availability must be OPEN or CLOSED'],
    ['POST /clock/advance', { by: '5' }, 'by must be a duration such as 500ms'],
    ['POST /reset', { all: true }, 'all is not a known key'],
    ['POST /trigger', {}, 'event is required'],
    ['POST /trigger', { event: 'X', sign: 'wrong' }, 'sign must be valid, none, wrong-key, tampered'],
    ['POST /trigger', { event: 'X', body: [] }, 'body must be an object'],
    ['POST /faults', { on: { api: 'begin' }, respond: { status: 503 } }, 'on.api'],
    ['PATCH /config', [], 'The body must be an object'],
    ['POST /chats/ada/messages', attached({}), 'size_kb'],
    ['POST /chats/ada/messages', attached({ size_kb: 1, base64: 'aGk=' }), 'base64'],
    ['POST /chats/ada/messages', attached({ base64: '%%%' }), 'base64'],
    ['POST /chats/ada/messages', attached({ size_kb: -1 }), 'size_kb'],
    ['POST /chats/ada/messages', attached({ type: 'a\r\nb', size_kb: 1 }), 'type'],
    ['POST /chats/ada/messages', UNKNOWN_FILES, 'did you mean files?'],
  ],
  '422 invalid_query': [
    ['POST /deliveries/d/resend?resigned=true', undefined, 'resigned is not a known key; did you mean resign?'],
    ['POST /deliveries/d/resend?resign=yes', undefined, 'resign must be true or false'],
    ['GET /wait?cal=start', undefined, 'cal is not a known key; did you mean call?'],
    ['GET /wait?call=strat', undefined, 'call must be transcript, '],
    ['GET /wait', undefined, 'The query must say what to wait for: call, event, note or kind, such as ?call=start'],
    ['GET /wait?call=start&timeout=5', undefined, 'timeout must be a duration'],
    ['GET /journal?after=x', undefined, 'after must be an integer, got the string "x"'],
    ['GET /journal?limit=0', undefined, 'limit must be greater than 0'],
    ['GET /config?x=1', undefined, 'x is not known here'],
    ['GET /state?__proto__=1', undefined, '__proto__'],
    ['GET /wait?kind=note&toString=1', undefined, 'toString'],
  ],
  '422 invalid_setting': [
    ['POST /chats', { transcript: 'nb-shpo' }, 'did you mean nb-shop?'],
    ['POST /chats', { bot_id: 1 }, 'bot_id 1 is not a bot of this simulator'],
    ['PATCH /config', { 'typing.webhok': 'off', 'bot.delay': '1s' }, 'did you mean typing.webhook?'],
    ['PATCH /config', { 'webhook.json': 'yaml' }, 'webhook.json'],
    ['PATCH /config', { constructor: 'x' }, 'constructor'],
    ['PATCH /config', '{"__proto__":"x"}', '__proto__ is not a setting'],
    ['POST /workspaces', '{"knobs":{"__proto__":"x"}}', '__proto__ is not a knob'],
    ['POST /workspaces', '{"business_hours":{"time_zone":"UTC","__proto__":1}}', '__proto__ is not a day'],
  ],
  '422 invalid_parameter': [['PUT /availability', { availability: 'OPEN', queue: 'VIP' }, 'queue must be "DEFAULT"']],
  '422 invalid_message': [['POST /chats/ada/messages', {}, '']],
  '422 inactive_button': [['POST /chats/ada/press', { button: 'Prices' }, 'its is_active is false']],
  '422 unknown_button': [['POST /chats/ada/press', { button: 'Openin hours' }, '"handover", "Opening hours"']],
  '400 invalid_json': [['POST /chats', '{"language":', '']],
  '415 unsupported_media_type': [['POST /chats', new FormData(), '']],
  '404 chat_not_found': [
    ['GET /chats/none', undefined, 'none'],
    ['POST /chats/none/messages', { text: 'Hi' }, 'none'],
    ['POST /chats/none/press?wait=ack', { button: 'handover' }, 'none'],
    ['GET /chats/ada?at=0', undefined, 'after entry 0'],
    ['POST /trigger', { event: 'X', chat_id: 'adda' }, 'did you mean ada?'],
  ],
  '404 delivery_not_found': [
    ['POST /deliveries/d1/resend', undefined, 'There is no delivery "d1". There are no deliveries yet.'],
    ['POST /deliveries/latest/diagnose', {}, ''],
  ],
  '404 file_not_found': [['GET /files/nothing', undefined, '']],
  '404 route_not_found': [
    ['GET /jornal', undefined, 'There is no /_sim/jornal; did you mean /_sim/journal?'],
    ['GET /something/else/entirely', undefined, 'POST /_sim/chats/:id/press'],
  ],
  '405 method_not_allowed': [
    ['DELETE /chats', undefined, 'POST, GET'],
    ['OPTIONS /chats', undefined, 'POST, GET'],
  ],
}

const CASES = Object.entries(ROWS).flatMap(([refusal, rows]) => rows.map(row => [refusal, ...row] as const))

test.each(CASES)('%s: %s %j: %s', async (refusal, route, body, text) => {
  const field = body instanceof FormData ? 'form' : typeof body === 'string' ? 'text' : 'body'
  const [status, code] = refusal.split(' ')
  expect(await refuses(route, { [field]: body })).toEqual({
    ...{ status: Number(status), code },
    message: expect.stringContaining(text),
  })
})

test.each([
  ['POST /chats', `[${'{},'.repeat(100_000)}{}]`, 422, 'too many values; at most 200000 are read'],
  ['POST /chats', `{"text":"${'x'.repeat(5_000_000)}"}`, 413, 'at most 4194304 bytes; this one has 5000011 bytes'],
  ['POST /chats/ada/messages', `{"context":${'['.repeat(65)}${']'.repeat(65)}}`, 422, 'more than 64 levels'],
  ['POST /plays', `{"yaml":"${'x'.repeat(300_000)}"}`, 413, 'at most 262144 bytes'],
  ['PUT /snapshot', `[${'{},'.repeat(1_000_000)}{}]`, 422, 'too many values; at most 2000000 are read'],
  [
    'PUT /snapshot',
    `{${Array.from({ length: 10_001 }, (_, at) => `"${at}":0`)}}`,
    422,
    'too many fields; at most 10000',
  ],
  ['PUT /snapshot', `{"v":1,"config":${'['.repeat(5000)}${']'.repeat(5000)}}`, 422, 'more than 256 levels'],
])('%s refuses a body that it does not need, before it is parsed', async (route, text, status, message) => {
  expect(await refuses(route, { text })).toMatchObject({ status, message: expect.stringContaining(message) })
})

test('a form that cannot be read is refused with 400', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  expect(await refuses('POST /chats/ada/messages', { text: 'no form', headers })).toMatchObject({ status: 400 })
})

test('every wrong setting is named with its allowed values, and none is applied', async () => {
  const body = { 'typing.webhok': 'off', 'webhook.json': 'yaml', 'bot.delay': '1s' }
  const { issues } = (await control('PATCH', '/config', { body })).body.error
  expect(issues).toMatchObject([
    { field: 'typing.webhok', allowed: expect.arrayContaining(['webhook.url']) },
    { field: 'webhook.json', allowed: expect.stringContaining('compact | spaced') },
  ])
  expect((await control('GET', '/config')).body['bot.delay']).toBe('0s')
})

/** Sends lines to the server and returns all it answers until it closes the connection. */
async function sendLines(...lines: string[]): Promise<string> {
  const connection = await connectRaw(server.port)
  connection.send(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  return connection.ended()
}

test.each([
  [['GET /_sim/state HTTP/1.1', 'Host: 1270.1'], 400, /"code":"invalid_host"/],
  [['GET /_sim/state HTTP/1.1', 'Host: [::1'], 400, /"code":"invalid_host"/],
  [['GET /_sim/state HTTP/1.1', 'Host: localhost:99999999'], 400, /"code":"invalid_host"/],
  [['GET /_sim/state HTTP/1.1', 'Host: 127.0.0.1', 'host: 127.0.0.1'], 400, /more than once/],
  [['GET /api/v1/chats/x HTTP/1.1', 'Host: sim', 'Authorization: A', 'AUTHORIZATION: B'], 400, /more than once/],
  [['GET http://evil.example/_sim/state HTTP/1.1', 'Host: 127.0.0.1'], 403, /foreign_host/],
])('%j: %i', async (lines, status, pattern) => {
  const answer = await sendLines(...lines)
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer).toMatch(pattern)
})
