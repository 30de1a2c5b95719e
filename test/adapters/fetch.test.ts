/** Tests `sim.fetch` as a replacement of `fetch`. */
import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/testing/simulator.ts'

const START = 'https://bot.example.test/base/api/v2/handover/start'

async function setUpFetch() {
  const sim = createSimulator({ baseUrl: 'https://bot.example.test/base' })
  onTestFinished(() => sim.close())
  const { id } = await sim.chat()
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ bot_id: sim.botId, chat_id: id })
  const start = (init: RequestInit = {}) => sim.fetch(START, { method: 'POST', headers, body, ...init })
  return { sim, body, start }
}

const streamed = (...pieces: unknown[]) =>
  ({ body: Readable.toWeb(Readable.from(pieces)), duplex: 'half' }) as unknown as RequestInit

it('accepts an address and options, a URL, and a Request with options that override it', async () => {
  const { sim, start } = await setUpFetch()
  expect(await (await start()).json()).toMatchObject({ event: 'TAKEOVER STARTED' })
  expect((await sim.fetch(new URL(START))).status).toBe(405)
  const headers = { authorization: 'Bearer nobody' }
  expect((await sim.fetch(new Request(START, { headers }), { method: 'POST' })).status).toBe(401)
  await expect(sim.fetch('/api/v2/handover/start')).rejects.toThrow(/Failed to parse URL|Invalid URL/)
})

it('reads a body that arrives in pieces, and rejects one that is not bytes or was read before', async () => {
  const { sim, body, start } = await setUpFetch()
  const bytes = new TextEncoder().encode(body)
  const answer = await start(streamed(bytes.slice(0, 15), bytes.slice(15)))
  expect(await answer.json()).toMatchObject({ event: 'TAKEOVER STARTED' })
  const request = new Request(START, { method: 'POST', body: '{}' })
  await request.text()
  await expect(sim.fetch(request)).rejects.toThrow(TypeError)
  await expect(start(streamed('{}'))).rejects.toThrow(TypeError)
  expect(sim.journal.query({ kind: 'api' })).toHaveLength(1)
})

it.each([
  [`${START}?a=1#top`, '/api/v2/handover/start?a=1'],
  ['https://other.example.test/base/api/v2/handover/start?a=1#top', '/api/v2/handover/start?a=1'],
  ['https://other.example.test/api/v2/handover/start', '/api/v2/handover/start'],
])('routes by the path, and ignores the origin and the fragment: %s', async (address, path) => {
  const { sim } = await setUpFetch()
  await sim.fetch(address)
  expect(sim.journal.query({ kind: 'api' }).at(-1)?.path).toBe(path)
})

it('aborts as fetch does: before the call, during it, and while the body arrives', async () => {
  const { sim, start } = await setUpFetch()
  await expect(start({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
  expect(sim.journal.query({ kind: 'api' })).toEqual([])
  sim.faults.add({ on: { api: 'start' }, latency: '10s', times: 1 })
  await expect(start({ signal: AbortSignal.timeout(5) })).rejects.toMatchObject({ name: 'TimeoutError' })
  sim.faults.add({ on: { api: 'start' }, slow_body: '10s' })
  const controller = new AbortController()
  const reading = (await start({ signal: controller.signal })).text()
  controller.abort(new Error('enough'))
  await expect(reading).rejects.toThrow('enough')
})
