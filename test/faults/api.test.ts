/** Applies faults to API calls: the answer, the effect on the platform, and the journal. */
import { expect, test } from 'vitest'
import { FAULT_HEADER, UNSPECIFIED_HEADER } from '../../src/platform/contract/errors.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { call, post, sends, texts, transcript, world } from '../support/test-simulator.ts'
import { hitsOf } from './support.ts'

const EFFECTS: readonly Partial<FaultSpec>[] = [
  { respond: { status: 503 } },
  { drop: 'before' },
  { drop: 'after' },
  { reset: true },
  { slow_body: '20ms' },
  { malformed: true },
]

const callsOf = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' })
const lastCall = (sim: PlatformSimulator) => callsOf(sim).at(-1)!

async function setUp(...specs: FaultSpec[]) {
  const { sim } = world()
  const chat = await sim.chat()
  for (const spec of specs) sim.faults.add(spec)
  const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  return { sim, chat, start: { method: 'POST', headers, body } }
}

test('respond: the fault answers, and the platform does not process the call', async () => {
  const respond = { status: 503, headers: { 'Retry-After': '1' } }
  const { sim, chat } = await setUp({ name: 'flaky', on: { api: 'start' }, respond, times: 2 })
  for (let count = 0; count < 2; count++) {
    const { status, text, headers } = await post(sim, 'start', chat)
    expect([status, text, headers.get('retry-after')]).toEqual([503, '', '1'])
    expect([headers.get(FAULT_HEADER), headers.get(UNSPECIFIED_HEADER)]).toEqual(['flaky', null])
    expect(chat.status).toBe('bot')
  }
  expect((await post(sim, 'start', chat)).headers.get(FAULT_HEADER)).toBeNull()
  expect(chat.status).toBe('agent')
  const calls = callsOf(sim).map(({ status, faults }) => `${status} by ${faults}`)
  expect(calls).toEqual(['503 by flaky', '503 by flaky', '200 by undefined'])
})

test.each([
  [{ error: 'later' }, {}, 'application/json; charset=utf-8', '{"error":"later"}'],
  ['<h1>Bad gateway</h1>', {}, 'text/plain; charset=utf-8', '<h1>Bad gateway</h1>'],
  ['<p>', { 'Content-Type': 'text/html' }, 'text/html', '<p>'],
])('respond: a body of %j with the headers %j', async (body, headers, type, text) => {
  const { sim, chat } = await setUp({ on: 'api', respond: { status: 502, headers, body } })
  const answer = await post(sim, 'end', chat)
  expect([answer.headers.get('content-type'), answer.text]).toEqual([type, text])
  expect(lastCall(sim).response).toEqual(body)
})

test.each([
  [{ drop: 'before' }, 'UND_ERR_SOCKET', 'before'],
  [{ drop: 'after' }, 'UND_ERR_SOCKET', 'after'],
  [{ reset: true }, 'ECONNRESET', 'before'],
] as const)('%j: no answer, reported like fetch does', async (effect, code, answer_lost) => {
  const { sim, chat } = await setUp({ ...effect, on: 'api', name: 'lost', times: 1 })
  const failure = await sends(sim, chat, 'Hi').catch(error => error)
  expect(failure).toBeInstanceOf(TypeError)
  expect([failure.message, failure.cause.code]).toEqual(['fetch failed', code])
  expect(texts(chat)).toEqual(answer_lost === 'after' ? ['Hi'] : [])
  const request = { body: { message: 'Hi' } }
  const about = { endpoint: 'message', chat_id: chat.id, auth: 'valid', request, faults: ['lost'], answer_lost }
  const processed = answer_lost === 'after' ? { status: 200 } : { status: 0, findings: [], response: null }
  expect(lastCall(sim)).toMatchObject({ ...about, ...processed })
  expect((await sends(sim, chat, 'Hi')).status).toBe(200)
})

test('latency: the platform processes the call after it', async () => {
  const { sim, chat } = await setUp({ on: { api: 'start' }, latency: '40ms' })
  const answering = post(sim, 'start', chat)
  expect(chat.status).toBe('bot')
  const answer = await answering
  expect([answer.status, chat.status, answer.headers.get(FAULT_HEADER)]).toEqual([200, 'agent', 'fault-1'])
  expect(lastCall(sim).duration_ms).toBeGreaterThanOrEqual(38)
})

test('malformed: the status is right, the body is invalid JSON, and the platform processes the call', async () => {
  const { sim, chat } = await setUp({ on: 'api', malformed: true })
  const answer = await post(sim, 'start', chat)
  expect([answer.status, chat.status]).toEqual([200, 'agent'])
  expect(answer.text).toMatch(/^\{"event":"TAKEOVER/)
  expect(() => answer.json).toThrow('JSON')
  expect(lastCall(sim).response).toMatchObject({ event: 'TAKEOVER STARTED' })
})

test('each hit is an entry caused by the call', async () => {
  const late = { name: 'late', on: 'api', latency: '1ms' } as const
  const { sim, chat } = await setUp(late, { name: 'cut', on: { api: 'start' }, malformed: true, times: 3 })
  await post(sim, 'start', chat)
  const { seq, faults } = lastCall(sim)
  expect(faults).toEqual(['late', 'cut'])
  const about = { kind: 'fault', chat_id: chat.id, endpoint: 'start', cause: seq, hit: 1 }
  expect(hitsOf(sim)).toMatchObject([
    { ...about, fault: 'late', effect: { latency: '1ms' }, of: null },
    { ...about, fault: 'cut', effect: { malformed: true }, of: 3 },
  ])
  expect(sim.journal.query({ after: seq }).map(({ kind }) => kind)).toEqual(['fault', 'fault', 'note', 'note'])
})

test('faults apply to calls with a wrong key, and the journal still shows the wrong key', async () => {
  const { sim } = await setUp({ on: 'api', respond: { status: 401 } })
  await call(sim, '/api/v2/takeover/end', { key: 'no', body: '{' })
  expect(lastCall(sim)).toMatchObject({ auth: 'unknown', alias: 'takeover', request: { body: '{' } })
})

test('faults match the transcript endpoint by its path', async () => {
  const { sim, chat } = await setUp()
  const other = await sim.chat()
  sim.faults.add({ on: { api: 'chat' }, chat_id: chat.id, respond: { status: 500 } })
  expect(await transcript(sim, chat)).toBeUndefined()
  expect((await transcript(sim, other)).id).toBe(other.id)
  expect(callsOf(sim).map(({ status }) => status)).toEqual([500, 200])
})

test.each([
  ['OPTIONS', '/api/v2/handover/start', 204],
  ['GET', '/files/x/y', 404],
  ['POST', '/api/v2/handover/stop', 404],
])('faults do not apply to %s %s', async (method, path, status) => {
  const { sim } = await setUp({ on: 'api', reset: true })
  expect((await call(sim, path, { method })).status).toBe(status)
  expect(hitsOf(sim)).toEqual([])
})

test.each(EFFECTS)('%j: a reset during the call leaves no trace', async effect => {
  const { sim, chat, start } = await setUp()
  await post(sim, 'typing_stop', chat)
  sim.faults.add({ on: 'api', ...effect, latency: '10s' } as FaultSpec)
  const answering = sim.handle({ ...start, target: '/api/v2/handover/start', body: Buffer.from(start.body) })
  expect(sim.faults.list()[0]!.hits).toBe(1)
  sim.reset()
  expect((await answering).status).toBe(500)
  expect([sim.chats(), sim.journal.query(), sim.faults.list()]).toEqual([[], [], []])
})

test('a reset ends a slow body', async () => {
  const { sim, start } = await setUp({ on: 'api', slow_body: '10s' })
  const answer = await sim.fetch(`${sim.baseUrl}/api/v2/handover/start`, start)
  const reading = answer.text()
  sim.reset()
  await expect(reading).rejects.toThrow('terminated')
})

test('a cleared fault no longer applies', async () => {
  const { sim, chat } = await setUp(...EFFECTS.map(effect => ({ on: 'api', ...effect }) as FaultSpec))
  sim.faults.clear()
  const answer = await post(sim, 'start', chat)
  expect([answer.status, answer.headers.get(FAULT_HEADER)]).toEqual([200, null])
})
