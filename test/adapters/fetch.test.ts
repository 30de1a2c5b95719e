/** Tests `sim.fetch` as a replacement of `fetch`. */
import { afterEach, describe, expect, it } from 'vitest'
import { createSimulator, type Simulator } from '../../src/testing/simulator.ts'

const sim = createSimulator({ baseUrl: 'https://bot.example.test/base' })
afterEach(() => sim.reset())

const START = 'https://bot.example.test/base/api/v2/handover/start'

const start = async (fetch: typeof globalThis.fetch, { apiKey, botId }: Simulator, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const { id } = await sim.chat()
  return fetch(START, { method: 'POST', headers, body: JSON.stringify({ bot_id: botId, chat_id: id }), ...init })
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

const streamed = (...pieces: unknown[]): RequestInit => {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  const init = { body, duplex: 'half' }
  return init
}

describe('sim.fetch', () => {
  it('accepts an address and options', async () => {
    const answer = await start(sim.fetch, sim)
    expect(await answer.json()).toMatchObject({ event: 'TAKEOVER STARTED' })
  })

  it('accepts a URL, and a Request with options that override it', async () => {
    expect((await sim.fetch(new URL(START))).status).toBe(405)
    const headers = { authorization: 'Bearer nobody' }
    expect((await sim.fetch(new Request(START, { headers }), { method: 'POST' })).status).toBe(401)
  })

  it('rejects an address without a host as fetch does', async () => {
    await expect(sim.fetch('/api/v2/handover/start')).rejects.toThrow(/Failed to parse URL|Invalid URL/)
  })

  it('reads a body that arrives in pieces', async () => {
    const { id } = await sim.chat()
    const [first, second] = [`{"bot_id":${sim.botId},`, `"chat_id":"${id}"}`]
    const answer = await start(sim.fetch, sim, streamed(bytesOf(first), bytesOf(second)))
    expect(await answer.json()).toMatchObject({ event: 'TAKEOVER STARTED', chat_id: id })
  })

  it('rejects a body that was read before, and one that is not bytes', async () => {
    const request = new Request(START, { method: 'POST', body: '{}' })
    const reader = request.body?.getReader()
    await reader?.read()
    reader?.releaseLock()
    await expect(sim.fetch(request)).rejects.toThrow(TypeError)
    await expect(start(sim.fetch, sim, streamed('{}'))).rejects.toThrow(TypeError)
    expect(sim.journal.query({ kind: 'api' })).toEqual([])
  })

  it('routes by the path, and ignores the origin and the fragment', async () => {
    for (const address of [`${START}?a=1#top`, 'https://other.example.test/base/api/v2/handover/start?a=1#top']) {
      await sim.fetch(address)
      expect(sim.journal.query({ kind: 'api' }).at(-1)?.path).toBe('/api/v2/handover/start?a=1')
    }
    await sim.fetch('https://other.example.test/api/v2/handover/start')
    expect(sim.journal.query({ kind: 'api' }).at(-1)?.path).toBe('/api/v2/handover/start')
  })

  it('aborts as fetch does: before the call, during it, and while the body arrives', async () => {
    await expect(start(sim.fetch, sim, { signal: AbortSignal.abort() })).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    )
    expect(sim.journal.query({ kind: 'api' })).toEqual([])

    sim.faults.add({ name: 'late', on: { api: 'start' }, latency: '10s' })
    await expect(start(sim.fetch, sim, { signal: AbortSignal.timeout(5) })).rejects.toThrow(
      expect.objectContaining({ name: 'TimeoutError' }),
    )

    sim.faults.clear('late')
    sim.faults.add({ on: { api: 'start' }, slow_body: '10s' })
    const controller = new AbortController()
    const answer = await start(sim.fetch, sim, { signal: controller.signal })
    const reading = answer.text()
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
  })
})
