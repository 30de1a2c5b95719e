/** Recordings of any form: HAR, journals, lines of exchanges; cut off, with other traffic, and large. */
import { describe, expect, test } from 'vitest'
import { Calibration } from '../../src/evaluation/calibration/calibration.ts'
import { readRecording } from '../../src/evaluation/calibration/recording.ts'
import { createSimulator } from '../../src/index.ts'
import { defaultKnobs } from '../../src/platform/contract/knobs.ts'
import { calibrated, stateOf } from './calibrated.ts'
import { type RecordedExchange, recordedExercise } from './recorder.ts'

const exchangesOf = async (): Promise<RecordedExchange[]> =>
  (await recordedExercise({ 'start.again': '409' })).map(line => JSON.parse(line))

const headersOf = (headers: object) => Object.entries(headers).map(([name, value]) => ({ name, value }))
const asHar = ({ time, duration_ms, request: { method, url, headers, body }, response }: RecordedExchange) => ({
  startedDateTime: time,
  time: duration_ms,
  request: { method, url, headers: headersOf(headers), postData: { mimeType: 'application/json', text: body } },
  response: {
    status: response.status,
    headers: headersOf(response.headers),
    content: { mimeType: 'application/json', text: Buffer.from(response.body).toString('base64'), encoding: 'base64' },
  },
})

const exchange = (path: string, status: number, answer: unknown, body: object = { bot_id: 1, chat_id: 'c' }) =>
  JSON.stringify({
    time: '2026-07-01T09:00:00.000Z',
    request: {
      method: 'POST',
      url: new URL(path, 'https://bot.example.test/api/v2/handover/start'),
      headers: {},
      body: JSON.stringify(body),
    },
    response: { status, body: JSON.stringify(answer) },
  })

async function read(text: string, size = 1000) {
  const calibration = new Calibration(defaultKnobs())
  async function* pieces() {
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
  }
  await readRecording('traffic', pieces(), calibration)
  return calibration.result()
}

describe('a HAR file', () => {
  test('shows the same as lines of exchanges, in pieces of any size', async () => {
    const exchanges = await exchangesOf()
    const expected = await calibrated(exchanges.map(one => JSON.stringify(one)))
    const essence = ({ calls, events, findings, assumptions }: typeof expected) => [
      ...[calls, events, findings.map(({ kind, what, count }) => ({ kind, what, count }))],
      assumptions.map(({ name, status }) => [name, status]),
    ]
    const har = { log: { version: '1.2', creator: { name: '"entries":[' }, pages: [], entries: exchanges.map(asHar) } }
    const short = await read(JSON.stringify(har), 997)
    expect(essence(short)).toEqual(essence(expected))
    const long = await read(`\ufeff${JSON.stringify(har, null, 2)}`, 65_536)
    expect(essence(long)).toEqual(essence(expected))
  })

  test('leaves out what is no exchange of the platform, with counts', async () => {
    const [first] = await exchangesOf()
    const platform = asHar(first!)
    const at = (url: string, more: object = {}) => ({ ...platform, request: { ...platform.request, url }, ...more })
    const entries = [
      platform,
      { ...platform, request: { ...platform.request, url: 'https://cdn.example.test/app.js', method: 'GET' } },
      at('https://other.example.test/api/v1/users'),
      at('wss://chat.example.test/socket'),
      { ...platform, request: { url: platform.request.url } },
      at('https://bot.example.test/api/v2/handover/message/', { response: { status: 0 } }),
    ]
    const result = await read(JSON.stringify({ log: { entries } }))
    expect(result.leftOut).toEqual({
      'requests to other paths': 2,
      WebSocket: 1,
      'without a method or a URL': 1,
      'without an answer': 1,
    })
    expect(result.events).toBe(1)
  })

  test('that is cut off shows what is whole', async () => {
    const exchanges = await exchangesOf()
    const text = JSON.stringify({ log: { entries: exchanges.map(asHar) } })
    const result = await read(text.slice(0, -500))
    expect(result.leftOut).toMatchObject({ 'not JSON': 1 })
    expect(stateOf(result)['start.again']).toMatchObject({ status: 'contradicted', fits: '409' })
  })
})

test('lists fields, events, endpoints and error bodies that the contract does not have, with counts and an example', async () => {
  const started = { event: 'TAKEOVER STARTED', chat_id: 'c', chatmessage_id: '0123456789abcdef01234567' }
  const lines = [
    exchange('start', 200, { ...started, queue_position: 3 }),
    exchange('start', 200, { ...started, queue_position: 4 }),
    exchange('end', 200, { event: 'TAKEOVER ENDED', chat_id: 7 }),
    exchange('/api/v2/agents', 200, {}),
    exchange('end', 418, { reason: 'teapot' }),
    exchange('https://desk.example.test/hook', 200, null, { event: 'CHAT ENDED', chat_id: 'c' }),
  ]
  const result = await calibrated(lines)
  expect(result.findings.map(({ kind, what, count, example }) => [kind, what, count, example])).toEqual([
    ['unknown field', 'answer of start: queue_position', 2, '3'],
    ['difference', 'answer of end: chat_id must be a string', 1, '{"event":"TAKEOVER ENDED","chat_id":7}'],
    ['difference', 'answer of end: chatmessage_id is required: a string', 1, '{"event":"TAKEOVER ENDED","chat_id":7}'],
    ['unknown endpoint', 'POST /api/v2/agents', 1, '{"bot_id":1,"chat_id":"c"}'],
    ['unexplained refusal', 'end with 418', 1, '{"reason":"teapot"}'],
    ['unknown error body', '418: reason', 1, '{"reason":"teapot"}'],
    ['unknown event', 'CHAT ENDED', 1, '{"event":"CHAT ENDED","chat_id":"c"}'],
  ])
  expect(result.isContradicted).toBe(true)
})

test('never averages evidence that changes, and names between which entries it does', async () => {
  const OPEN = { queue: 'DEFAULT', availability: 'OPEN' }
  const answer = (updatedAt: string) => {
    const updated = { event: 'HANDOVER AVAILABILITY UPDATED', bot_id: '1', ...OPEN, updated_at: updatedAt }
    return exchange('availability', 200, updated, { ...OPEN, reason: 'OTHER' })
  }
  const iso = answer('2026-07-01T09:00:00.000000Z')
  const result = await calibrated([iso, iso, answer('1782896400'), answer('1782896401')])
  expect(stateOf(result)['time.format']).toMatchObject({
    status: 'changed',
    fits: undefined,
    changes: [{ from: { file: 'traffic.jsonl', entry: 2 }, to: { file: 'traffic.jsonl', entry: 3 } }],
  })
  expect(result.isContradicted).toBe(true)
})

describe('entries of a proxy', () => {
  const TIME = '2026-07-01T09:00:00.'
  const JSON_TYPE = { 'content-type': 'application/json' }
  const frame = { v: 1, cause: null, observed: true, follows: null, findings: [], unspecified: {} }
  const call = (seq: number, endpoint: string, status: number, response: unknown, more: object = {}) =>
    JSON.stringify({
      ...{ ...frame, seq, at_ms: seq, kind: 'api', endpoint, status, response, duration_ms: 5, time: `${TIME}000000Z` },
      ...{ method: 'POST', path: `/api/v2/handover/${endpoint}`, alias: 'handover', auth: 'valid' },
      request: { headers: JSON_TYPE, body: { bot_id: 1, chat_id: 'c' }, bytes: 30 },
      ...more,
    })
  const delivery = (seq: number, durationMs: number, headers: object, more: object = {}) =>
    JSON.stringify({
      ...{ ...frame, seq, at_ms: 1, kind: 'delivery', delivery_id: `d${seq}`, event: 'AGENT TYPING STOP', attempt: 1 },
      ...{ time: `${TIME}000000Z`, outcome: 'delivered', url: 'http://127.0.0.1:3000/webhook', status: 200 },
      ...{ duration_ms: durationMs, response: { headers: {}, body: '', truncated: false } },
      request: { headers, body: JSON.stringify({ event: 'AGENT TYPING STOP', chat_id: 'c' }) },
      ...more,
    })

  test('show error bodies, and whether a masked signature is that of the body', async () => {
    const refused = { error: { code: 'invalid_parameter', message: 'x', field: 'chat_id' } }
    const signed = { 'kindly-hmac': '*** (valid)', 'kindly-hmac-algorithm': 'HMAC-SHA-256 (base64 encoded)' }
    const entries = [
      call(1, 'start', 422, refused, { request: { headers: JSON_TYPE, body: { bot_id: 1 }, bytes: 12 } }),
      call(2, 'start', 0, null),
      delivery(3, 5, signed),
    ]
    const inFile = entries.map(entry => `{"v":2,"type":"entry","scenario":null,"entry":${entry}}`)
    const behaviours = stateOf(await calibrated(inFile))
    for (const name of ['signature', 'algorithm', 'signedContent', 'signatureHeader'])
      expect(behaviours[`webhook.${name}`]!.status, name).toBe('confirmed')
    const other = stateOf(await calibrated([delivery(3, 5, { 'x-check': '*** (valid)' })]))['webhook.signatureHeader']
    expect(other).toMatchObject({ status: 'contradicted', fits: 'x-check' })
    expect(behaviours['errors.body']!.status).toBe('confirmed')
    expect(behaviours['errors.validation']).toMatchObject({ status: 'contradicted', fits: '422' })
  })

  test('without an answer show the time limit: one that timed out, or two that were closed after the same time', async () => {
    const closed = (seq: number, durationMs: number) => {
      const failure = { code: 'sender_closed' }
      return delivery(seq, durationMs, {}, { outcome: 'failed', status: null, response: null, failure })
    }
    const timeout = async (...lines: string[]) => stateOf(await calibrated(lines))['webhook.timeout']!
    const sent = JSON.parse(exchange('https://desk.example.test/hook', 0, null, { event: 'CHAT ENDED', chat_id: 'c' }))
    const timedOut = JSON.stringify({ ...sent, duration_ms: 2000, timed_out: true })
    expect(await timeout(timedOut)).toMatchObject({ status: 'contradicted', fits: '2s' })
    expect((await timeout(closed(1, 700), closed(2, 5010))).status).toBe('not seen')
    expect(await timeout(closed(1, 700), closed(2, 5010), closed(3, 5004))).toMatchObject({
      ...{ status: 'contradicted', fits: '5s', count: 1 },
    })
  })

  test('that follow each other within a millisecond are read one after the other', async () => {
    const started = { event: 'TAKEOVER STARTED', chat_id: 'c', chatmessage_id: '0123456789abcdef01234567' }
    const at = (micros: string, durationMs: number) => ({ time: `${TIME}${micros}Z`, duration_ms: durationMs })
    const read = { method: 'GET', path: '/api/v1/chats/c', request: { headers: {}, body: null, bytes: 0 } }
    const result = await calibrated([
      call(1, 'start', 200, started, at('700000', 5)),
      call(2, 'end', 200, { ...started, event: 'TAKEOVER ENDED' }, at('805000', 0.235)),
      call(3, 'chat', 200, { chat: { taken_over: null, messages: [] } }, { ...read, ...at('805002', 0.251) }),
    ])
    expect(stateOf(result)['transcript.takenOver']!.status).toBe('not seen')
  })
})

test.each(['json', 'empty', 'html', 'text'])("reads errors.body: %s in the simulator's own journal", async form => {
  await using sim = createSimulator({ knobs: { 'errors.body': form as 'json' } })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${sim.apiKey}` }
  await sim.fetch(new Request(`${sim.baseUrl}/api/v2/handover/start`, { method: 'POST', headers, body: '{}' }))
  const lines = sim.journal.query().map(one => JSON.stringify(one))
  const { status, fits } = stateOf(await calibrated(lines))['errors.body']!
  expect({ status, fits }).toEqual({ status: form === 'json' ? 'confirmed' : 'contradicted', fits: form })
})
