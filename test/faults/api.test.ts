/** Applies faults to API calls: the answer, the effect on the platform, and the journal. */
import { describe, expect, test } from 'vitest'
import { FAULT_HEADER, UNSPECIFIED_HEADER } from '../../src/platform/contract/errors.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { setUp } from '../support/test-simulator.ts'
import { API_FAULTS, callsOf, hitsOf, lastCall, raw } from './support.ts'

const agentTexts = (sim: PlatformSimulator, id: string) =>
  sim.findChat(id)!.transcript.flatMap(({ from, text }) => (from === 'agent' ? [text] : []))

/** Resolves when a fault was applied once. */
async function appliedOnce({ faults }: PlatformSimulator): Promise<void> {
  for (let turns = 0; turns < 10_000 && faults.list()[0]!.hits === 0; turns++)
    await new Promise(resolve => setImmediate(resolve))
}

describe('a fault on the API', () => {
  test('respond: the fault answers, and the platform does not process the call', async () => {
    const harness = await setUp()
    const { sim } = harness
    const chat = await sim.chat()
    const headers = { 'Retry-After': '1' }
    sim.faults.add({ name: 'flaky', on: { api: 'start' }, respond: { status: 503, headers }, times: 2 })
    for (let count = 0; count < 2; count++) {
      const refused = await raw(harness, 'start', chat.id)
      expect([refused.status, await refused.text()]).toEqual([503, ''])
      expect(refused.headers.get('retry-after')).toBe('1')
      expect([refused.headers.get(FAULT_HEADER), refused.headers.get(UNSPECIFIED_HEADER)]).toEqual(['flaky', null])
      expect(chat.status).toBe('bot')
    }
    expect((await raw(harness, 'start', chat.id)).headers.get(FAULT_HEADER)).toBeNull()
    expect(chat.status).toBe('agent')
    expect(callsOf(sim).map(({ status, faults }) => [status, faults])).toEqual([
      [503, ['flaky']],
      [503, ['flaky']],
      [200, undefined],
    ])
  })

  test.each([
    [{ error: 'later' }, {}, 'application/json; charset=utf-8', '{"error":"later"}'],
    ['<h1>Bad gateway</h1>', {}, 'text/plain; charset=utf-8', '<h1>Bad gateway</h1>'],
    ['<p>', { 'Content-Type': 'text/html' }, 'text/html', '<p>'],
  ])('respond: a body of %j with the headers %j', async (body, headers, type, text) => {
    const harness = await setUp()
    const { id } = await harness.sim.chat()
    harness.sim.faults.add({ on: 'api', respond: { status: 502, headers, body } })
    const answer = await raw(harness, 'end', id)
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([type, text])
    expect(lastCall(harness.sim).response).toEqual(body)
  })

  test.each([
    [{ on: 'api', drop: 'before' }, 'UND_ERR_SOCKET', false],
    [{ on: 'api', drop: 'after' }, 'UND_ERR_SOCKET', true],
    [{ on: 'api', reset: true }, 'ECONNRESET', false],
  ] as [FaultSpec, string, boolean][])('%j: no answer, reported like fetch does', async (spec, code, processed) => {
    const harness = await setUp()
    const { sim } = harness
    const chat = await sim.chat()
    sim.faults.add({ ...spec, name: 'lost', times: 1 })
    const failure = await raw(harness, 'message', chat.id).catch(error => error)
    expect(failure).toBeInstanceOf(TypeError)
    expect([failure.message, failure.cause.code]).toEqual(['fetch failed', code])
    expect(agentTexts(sim, chat.id)).toEqual(processed ? ['Hi'] : [])
    const entry = lastCall(sim)
    expect(entry).toMatchObject({
      endpoint: 'message',
      chat_id: chat.id,
      auth: 'valid',
      request: { body: { message: 'Hi' } },
      faults: ['lost'],
      answer_lost: processed ? 'after' : 'before',
      status: processed ? 200 : 0,
    })
    if (!processed) expect(entry).toMatchObject({ findings: [], unspecified: {}, response: null })
    expect((await raw(harness, 'message', chat.id)).status).toBe(200)
  })

  test('latency: the platform processes the call after it', async () => {
    const harness = await setUp()
    const chat = await harness.sim.chat()
    harness.sim.faults.add({ on: { api: 'start' }, latency: '40ms' })
    const answering = raw(harness, 'start', chat.id)
    expect(chat.status).toBe('bot')
    const answer = await answering
    expect([answer.status, chat.status]).toEqual([200, 'agent'])
    expect(answer.headers.get(FAULT_HEADER)).toBe('fault-1')
    expect(lastCall(harness.sim).duration_ms).toBeGreaterThanOrEqual(38)
  })

  test('slow_body: the status is sent at once, the body in pieces', async () => {
    const harness = await setUp()
    const chat = await harness.sim.chat()
    harness.sim.faults.add({ on: 'api', slow_body: '60ms' })
    const answer = await raw(harness, 'start', chat.id)
    expect([answer.status, lastCall(harness.sim).status]).toEqual([200, 200])
    const pieces: string[] = []
    for await (const piece of answer.body!) pieces.push(Buffer.from(piece).toString())
    expect(pieces.length).toBeGreaterThan(1)
    expect(JSON.parse(pieces.join(''))).toMatchObject({ event: 'TAKEOVER STARTED', chat_id: chat.id })
  })

  test('malformed: the status is right, the body is invalid JSON, and the platform processes the call', async () => {
    const harness = await setUp()
    const chat = await harness.sim.chat()
    harness.sim.faults.add({ on: 'api', malformed: true })
    const answer = await raw(harness, 'start', chat.id)
    const text = await answer.text()
    expect(answer.status).toBe(200)
    expect(text).toMatch(/^\{"event":"TAKEOVER/)
    expect(() => JSON.parse(text)).toThrow()
    expect(chat.status).toBe('agent')
    expect(lastCall(harness.sim).response).toMatchObject({ event: 'TAKEOVER STARTED' })
  })

  test('each hit is an entry caused by the call', async () => {
    const harness = await setUp()
    const { sim } = harness
    const chat = await sim.chat()
    sim.faults.add({ name: 'late', on: 'api', latency: '1ms' })
    sim.faults.add({ name: 'cut', on: { api: 'start' }, malformed: true, times: 3 })
    await raw(harness, 'start', chat.id)
    const call = lastCall(sim)
    const about = { kind: 'fault', chat_id: chat.id, endpoint: 'start', cause: call.seq, hit: 1 }
    expect(call.faults).toEqual(['late', 'cut'])
    expect(hitsOf(sim)).toMatchObject([
      { ...about, fault: 'late', effect: { latency: '1ms' }, of: null },
      { ...about, fault: 'cut', effect: { malformed: true }, of: 3 },
    ])
    expect(sim.journal.query({ after: call.seq }).map(({ kind }) => kind)).toEqual(['fault', 'fault', 'note', 'note'])
  })

  test('faults apply to calls with a wrong key, and the journal still shows the wrong key', async () => {
    const harness = await setUp()
    harness.sim.faults.add({ on: 'api', respond: { status: 401 } })
    await harness.send('/api/v2/takeover/end', { method: 'POST', headers: { authorization: 'Bearer no' }, body: '{' })
    expect(lastCall(harness.sim)).toMatchObject({ auth: 'unknown', alias: 'takeover', request: { body: '{' } })
  })

  test('faults match the transcript endpoint by its path', async () => {
    const harness = await setUp()
    const [one, other] = [await harness.sim.chat(), await harness.sim.chat()]
    harness.sim.faults.add({ on: { api: 'chat' }, chat_id: one.id, respond: { status: 500 } })
    const read = async (id: string) =>
      (await harness.send(`/api/v1/chats/${id}`, { headers: { authorization: `Bearer ${harness.sim.botApiKey}` } }))
        .status
    expect([await read(one.id), await read(other.id)]).toEqual([500, 200])
    expect(lastCall(harness.sim).chat_id).toBe(other.id)
  })

  test('faults do not apply to preflight requests, files and unknown paths', async () => {
    const harness = await setUp()
    harness.sim.faults.add({ on: 'api', reset: true })
    expect((await harness.send('/api/v2/handover/start', { method: 'OPTIONS' })).status).toBe(204)
    expect((await harness.send('/files/x/y')).status).toBe(404)
    expect((await harness.send('/api/v2/handover/stop', { method: 'POST' })).status).toBe(404)
    expect(hitsOf(harness.sim)).toEqual([])
  })

  test.each(API_FAULTS)('%j: a reset during the call leaves no trace', async spec => {
    const harness = await setUp()
    const chat = await harness.sim.chat()
    harness.sim.faults.add({ ...spec, latency: '10s' })
    const answering = raw(harness, 'start', chat.id).catch(() => null)
    await appliedOnce(harness.sim)
    harness.sim.reset()
    expect((await answering)?.status ?? 500).toBe(500)
    expect(harness.sim.chats()).toEqual([])
    expect(harness.sim.journal.query()).toEqual([])
    expect(harness.sim.faults.list()).toEqual([])
  })

  test('a reset ends a slow body', async () => {
    const harness = await setUp()
    const chat = await harness.sim.chat()
    harness.sim.faults.add({ on: 'api', slow_body: '10s' })
    const answer = await raw(harness, 'start', chat.id)
    const reading = answer.text()
    harness.sim.reset()
    await expect(reading).rejects.toThrow('terminated')
  })

  test('a cleared fault no longer applies', async () => {
    const harness = await setUp()
    const chat = await harness.sim.chat()
    for (const spec of API_FAULTS) harness.sim.faults.add(spec)
    harness.sim.faults.clear()
    const answer = await harness.api.start({ chat_id: chat.id })
    expect([answer.status, answer.headers.get(FAULT_HEADER)]).toEqual([200, null])
  })
})
