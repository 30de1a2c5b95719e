/** Checks workspaces behind one port: identity, routing by API key, isolation, and their control API. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSimulator, startSimulator } from '../../../src/index.ts'
import type { PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import type { PlatformWorkspace, PlatformWorkspaceOptions } from '../../../src/platform/simulator/workspaces.ts'
import { createControlClient } from '../../support/control-client.ts'
import { startWebhook } from '../../support/network.ts'
import { AGENT } from '../../support/test-simulator.ts'

const SERVER = { port: 0, clock: 'virtual' } as const

/** Calls the platform like an app: with the address of the server and the key of the workspace. */
async function send(url: string, key: string | null, path: string, body?: object) {
  const headers = { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(url + path, init)
  return { status: response.status, text: await response.text() }
}

const start = (url: string, { apiKey, botId }: Pick<PlatformSimulator, 'apiKey' | 'botId'>, chatId: string) =>
  send(url, apiKey, '/api/v2/handover/start', { bot_id: botId, chat_id: chatId, sender: AGENT })

describe('identity', () => {
  test('a name determines keys, bot and seed, independent of other workspaces', async () => {
    const facts = async (...names: (string | undefined)[]) => {
      await using server = await startSimulator(SERVER)
      const made: PlatformWorkspace[] = []
      for (const name of names) made.push(await server.workspace(name === undefined ? {} : { name }))
      const of = ({ id, apiKey, botApiKey, botId, config }: PlatformWorkspace) => [
        id,
        apiKey,
        botApiKey,
        botId,
        config().seed,
      ]
      return Object.fromEntries(made.map(one => [one.id, of(one)]))
    }
    const one = await facts('cart', undefined, 'pay', undefined)
    const other = await facts(undefined, 'pay', undefined, 'cart')
    expect(other).toEqual(one)
    expect(Object.keys(one).sort()).toEqual(['cart', 'pay', 'ws-1', 'ws-2'])
    expect(new Set(Object.values(one).flat()).size).toBe(20)
  })

  test('a closed workspace frees its name, and a new one of that name gets the same keys', async () => {
    await using server = await startSimulator(SERVER)
    const first = await server.workspace({ name: 'cart' })
    await expect(server.workspace({ name: 'cart' })).rejects.toThrow(/Workspace "cart" already exists/)
    await first.close()
    const again = await server.workspace({ name: 'cart' })
    expect(again.apiKey).toBe(first.apiKey)
    expect((await start(server.url, again, (await again.chat()).id)).status).toBe(200)
  })

  test('an invalid name and a key of another workspace are rejected', async () => {
    await using server = await startSimulator(SERVER)
    const own = await server.workspace()
    for (const name of ['', 'a b', 'x/y', 'a~b', '.hidden', 'x'.repeat(65)])
      await expect(server.workspace({ name })).rejects.toThrow(/name must be/)
    for (const key of [server.apiKey, server.botApiKey, own.botApiKey])
      await expect(server.workspace({ knobs: { 'keys.handover': key } })).rejects.toThrow(/already belongs to/)
  })

  test('a workspace inherits the settings of the server, but neither keys nor webhook', async () => {
    const knobs = { 'typing.webhook': 'off', 'keys.more': 'third:77' } as const
    await using server = await startSimulator({ ...SERVER, knobs, webhook: { url: 'http://127.0.0.1:9/' }, seed: 4 })
    await server.configure({ 'messages.open': 'Patched later' })
    const own = await server.workspace({ knobs: { 'bot.delay': '1s' }, seed: 9, bot: { name: 'Ola' } })
    expect(own.config()).toMatchObject({
      'typing.webhook': 'off',
      'bot.delay': '1s',
      'bot.name': 'Ola',
      'webhook.url': null,
      'keys.more': 'off',
      seed: 9,
      clock: 'virtual',
    })
    expect(own.config()['messages.open']).not.toBe('Patched later')
  })
})

describe('a call', () => {
  test('reaches the workspace of its key, whichever of its keys it carries', async () => {
    await using server = await startSimulator(SERVER)
    const own = await server.workspace({ knobs: { 'keys.more': 'third-key:77' } })
    const ada = await own.chat({ id: 'ada' })
    expect((await start(server.url, own, ada.id)).status).toBe(200)
    expect((await send(server.url, own.botApiKey, '/api/v1/chats/ada')).status).toBe(200)
    expect((await send(server.url, 'third-key', '/api/v1/chats/ada')).status).toBe(404)
    expect((await send(server.url, server.botApiKey, '/api/v1/chats/ada')).status).toBe(404)
    const kinds = (sim: PlatformSimulator) =>
      sim.journal.query({ kind: 'api' }).map(entry => 'status' in entry && entry.status)
    expect([kinds(own), kinds(server)]).toEqual([[200, 200, 404], [404]])
  })

  test('reaches its workspace with a changed key, and with the old key while that still works', async () => {
    await using server = await startSimulator(SERVER)
    const own = await server.workspace()
    const old = { apiKey: own.apiKey, botId: own.botId }
    const ada = await own.chat()
    expect((await start(server.url, own, ada.id)).status).toBe(200)
    await own.configure({ 'keys.graceful': '1m', 'keys.handover': 'brand-new' })
    for (const who of [old, own]) expect((await start(server.url, who, ada.id)).status).toBe(200)
    await own.clock.advance('2m')
    expect((await start(server.url, old, ada.id)).status).toBe(401)
    expect(own.journal.query({ kind: 'api' })).toHaveLength(4)
  })

  test('with the key of a closed workspace gets an error that names it', async () => {
    await using server = await startSimulator(SERVER)
    const own = await server.workspace({ name: 'cart' })
    await own.close()
    const { status, text } = await start(server.url, own, 'x')
    expect([status, text]).toEqual([401, expect.stringMatching(/belonged to the workspace .*cart.*, which is closed/)])
    for (const key of ['nobody', null]) expect((await send(server.url, key, '/api/v1/chats/x')).status).toBe(401)
    expect(server.journal.query({ kind: 'api' })).toHaveLength(3)
  })

  test('for an attachment reaches its workspace, even if another one has a file of the same id', async () => {
    await using server = await startSimulator(SERVER)
    const urls = []
    for (const text of ['one', 'two']) {
      const own = await server.workspace({ seed: 1 })
      const ada = await own.chat()
      await ada.says('', { attach: [{ name: 'a.txt', type: 'text/plain', bytes: new TextEncoder().encode(text) }] })
      urls.push(ada.transcript.find(({ attachments }) => attachments.length > 0)!.attachments[0]!.url)
    }
    expect(await Promise.all(urls.map(async url => (await fetch(url)).text()))).toEqual(['one', 'two'])
    const [first = ''] = urls
    expect((await fetch(first.replace('ws-1~', ''))).status).toBe(404)
    expect((await fetch(first.replace('ws-1~', 'ws-9~'))).status).toBe(404)
  })

  test('is limited by the body limit of its workspace', async () => {
    await using server = await startSimulator({ ...SERVER, knobs: { 'limits.body': 200 } })
    const wide = await server.workspace({ knobs: { 'limits.body': 10_000 } })
    const body = { bot_id: wide.botId, chat_id: (await wide.chat()).id, message: 'x'.repeat(1000), sender: AGENT }
    const path = '/api/v2/handover/message/'
    expect((await send(server.url, wide.apiKey, path, body)).status).toBe(200)
    expect((await send(server.url, server.apiKey, path, body)).status).toBe(413)
  })
})

test('closing a workspace aborts its deliveries and does not affect others', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  await using hook = await startWebhook((_, response) => void response.on('close', resolve))
  await using server = await startSimulator(SERVER)
  const own = await server.workspace({ webhook: { url: hook.url } })
  const other = await server.workspace()
  const said = (await own.chat()).press('handover').catch((error: Error) => error.message)
  await expect.poll(() => hook.bodies.length).toBe(1)
  await own.close()
  expect(await said).toContain('reset')
  await closed
  expect((await start(server.url, other, (await other.chat()).id)).status).toBe(200)
})

type Step = readonly [of: number, what: 'chat' | 'says' | 'press' | 'start' | 'typing' | 'advance' | 'fault']

const steps = fc.array(
  fc.tuple(
    fc.nat(2),
    fc.constantFrom('chat', 'says', 'press', 'start', 'typing', 'advance', 'fault'),
  ) as fc.Arbitrary<Step>,
  { minLength: 5, maxLength: 25, size: 'max' },
)

/** Calls the shared port, so that the routing is tested too. */
async function act(sim: PlatformSimulator, url: string | null, [, what]: Step): Promise<void> {
  const chat = sim.chats()[0]
  if (what === 'chat') await sim.chat()
  else if (what === 'advance') await sim.clock.advance('1s')
  else if (what === 'fault') sim.faults.add({ on: 'webhook', duplicate: 2, times: 1 })
  else if (chat === undefined) return
  else if (what === 'says') await sim.findChat(chat.chatId)!.says('Hi')
  else if (what === 'press') await sim.findChat(chat.chatId)!.press('handover')
  else {
    const path = `/api/v2/handover/${what === 'typing' ? 'typing_start' : 'start'}`
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const init = {
      method: 'POST',
      headers,
      body: JSON.stringify({ bot_id: sim.botId, chat_id: chat.chatId, timeout: 1000 }),
    }
    await (url === null ? sim.fetch(new Request(sim.baseUrl + path, init)) : fetch(url + path, init))
  }
  await sim.settled()
}

/** Removes socket headers and wall-clock times from entries. */
const shape = (sim: PlatformSimulator) =>
  sim.journal.query().map(entry => {
    const { at_ms: _, ...rest } = entry
    if (rest.kind !== 'api') return 'duration_ms' in rest ? { ...rest, duration_ms: 0 } : rest
    const {
      duration_ms: __,
      request,
      ...call
    } = rest as typeof rest & { duration_ms: number; request: { body: unknown } }
    return { ...call, body: request.body }
  })

test('a workspace has the same journal with and without other workspaces', async () => {
  const fetch = async () => new Response()
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (story, sameSeed) => {
      await using server = await startSimulator({ ...SERVER, baseUrl: 'https://bot.example.test' })
      const options = (at: number): PlatformWorkspaceOptions => ({
        seed: sameSeed ? 1 : at,
        webhook: { fetch },
        knobs: { 'webhook.retry': ['1s'] },
      })
      const together = [
        await server.workspace(options(0)),
        await server.workspace(options(1)),
        await server.workspace(options(2)),
      ]
      const turns = together.map(() => Promise.resolve())
      for (const step of story) turns[step[0]] = turns[step[0]]!.then(() => act(together[step[0]]!, server.url, step))
      await Promise.all(turns)
      for (const [at, own] of together.entries()) {
        const keys = { 'keys.handover': own.apiKey, 'keys.bot': own.botApiKey }
        const { knobs, ...rest } = options(at)
        const alone = createSimulator({ ...rest, bot: { id: own.botId }, knobs: { ...knobs, ...keys } })
        for (const step of story) if (step[0] === at) await act(alone, null, step)
        expect(shape(own)).toEqual(shape(alone))
      }
      expect(server.journal.query()).toEqual([])
    }),
    { numRuns: 10 },
  )
})

describe('/_sim/workspaces', () => {
  test('creates, shows, lists and closes workspaces', async () => {
    await using server = await startSimulator(SERVER)
    const ask = createControlClient(server)
    const body = {
      name: 'cart',
      clock: 'real',
      webhook_url: 'http://127.0.0.1:9/',
      bot: { name: 'Ola' },
      knobs: { 'bot.delay': '1s' },
    }
    const made = await ask('POST', '/workspaces', { body })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ id: 'cart', name: 'cart', url: server.url, webhook_url: 'http://127.0.0.1:9/' })
    expect(made.body.webhook_secret).toBe(made.body.api_key)
    expect(made.body.control).toBe(`${server.url}/_sim/workspaces/cart`)
    expect((await ask('GET', '/workspaces/cart/config')).body).toMatchObject({ clock: 'real', 'bot.name': 'Ola' })
    const shown = (await ask('GET', '/workspaces')).body.workspaces
    expect(shown).toEqual([{ ...made.body, api_key: '***', bot_api_key: '***', webhook_secret: '***' }])
    expect((await ask('GET', '/workspaces/cart')).body).toEqual(shown[0])
    expect((await ask('GET', '/workspaces/cart?keys=true')).body).toEqual(made.body)
    expect((await ask('DELETE', '/workspaces/cart')).body).toEqual({ closed: true, id: 'cart' })
    expect((await ask('GET', '/workspaces/cart')).status).toBe(404)
  })

  test('every route of a simulator also exists for a workspace', async () => {
    await using server = await startSimulator(SERVER)
    const ask = createControlClient(server)
    const { control: at, api_key, bot_id } = (await ask('POST', '/workspaces', { body: {} })).body
    const { chat_id, url } = (await ask('POST', '/workspaces/ws-1/chats', { body: { id: 'ada' } })).body
    expect(url).toBe(`${at}/chats/ada`)
    await ask('POST', '/workspaces/ws-1/chats/ada/press', { body: { button: 'handover' } })
    await start(server.url, { apiKey: api_key, botId: bot_id }, chat_id)
    expect((await ask('GET', '/workspaces/ws-1/wait?call=start')).body).toMatchObject({ chat_id, status: 200 })
    expect((await ask('POST', '/workspaces/ws-1/clock/advance', { body: { by: '1h' } })).body.now).toMatch(/T10:00/)
    await ask('POST', '/workspaces/ws-1/faults', { body: { on: 'api', drop: 'before' } })
    expect((await ask('GET', '/workspaces/ws-1/state')).body.chats).toHaveLength(1)
    const snapshot = (await ask('GET', '/workspaces/ws-1/snapshot')).body
    await ask('POST', '/workspaces/ws-1/reset')
    expect((await ask('GET', '/workspaces/ws-1/chats')).body.chats).toEqual([])
    await ask('PUT', '/workspaces/ws-1/snapshot', { body: snapshot })
    expect((await ask('GET', '/workspaces/ws-1/chats')).body.chats).toHaveLength(1)
    expect((await ask('GET', '/state')).body).toMatchObject({
      chats: [],
      clock: { now: '2024-01-01T09:00:00.000000Z' },
    })
    expect((await ask('GET', '/faults')).body.faults).toEqual([])
  })

  test('an invalid request is rejected with the name of the field', async () => {
    await using server = await startSimulator(SERVER)
    const ask = createControlClient(server)
    await ask('POST', '/workspaces', { body: { name: 'cart' } })
    const refused: [body: object, expected: RegExp][] = [
      [{ name: 'cart' }, /^409 workspace_taken .*"cart"/],
      [{ nmae: 'x' }, /^422 invalid_body .*did you mean name/],
      [{ webhook_url: 'ftp://x' }, /^422 invalid_body .*http or https URL/],
      [{ knobs: { 'typing.webhok': 1 } }, /^422 invalid_setting .*did you mean typing\.webhook/],
      [{ clock: { mode: 'virtual', start: 'soon' } }, /^422 invalid_setting .*clock\.start/],
    ]
    for (const [body, expected] of refused) {
      const { status, body: answer } = await ask('POST', '/workspaces', { body })
      expect(`${status} ${answer.error.code} ${answer.error.message}`).toMatch(expected)
    }
    const { status, body } = await ask('GET', '/workspaces/crt/chats')
    expect([status, body.error.message]).toEqual([404, 'There is no workspace "crt": there are cart.'])
    expect((await ask('GET', '/workspaces')).body.workspaces).toHaveLength(1)
  })

  test('closing a workspace ends its waits and streams', async () => {
    await using server = await startSimulator(SERVER)
    const ask = createControlClient(server)
    await ask('POST', '/workspaces', { body: { name: 'cart' } })
    const stream = await fetch(`${server.url}/_sim/workspaces/cart/events`)
    const waiting = ask('GET', '/workspaces/cart/wait?call=start&timeout=30s')
    await ask('DELETE', '/workspaces/cart')
    expect((await waiting).status).toBe(503)
    expect(await stream.text()).toContain('handover-sim')
  })
})
