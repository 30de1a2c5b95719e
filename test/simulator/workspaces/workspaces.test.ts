/** Checks workspaces behind one port: identity, routing by API key, isolation, and their control API. */

import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import type { PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import type { PlatformWorkspaceOptions } from '../../../src/platform/simulator/workspaces.ts'
import type { PlatformServerOptions } from '../../../src/server/start.ts'
import { createControlClient } from '../../support/control-client.ts'
import { AGENT } from '../../support/test-simulator.ts'
import { receiver } from '../../webhooks/receiver.ts'
import { firstSteps, player, stateOf } from '../snapshot/random-steps.ts'

/** Starts a server with the workspace `cart`. */
async function setUp(options: PlatformServerOptions = {}, workspace: PlatformWorkspaceOptions = {}) {
  const server = await startSimulator({ port: 0, clock: 'virtual', ...options })
  onTestFinished(() => server.close())
  return { server, ask: createControlClient(server), cart: await server.workspace({ name: 'cart', ...workspace }) }
}

/** Calls the platform like an app: with the address of the server and the key of the workspace. */
async function send(url: string, key: string | null, path: string, body?: object) {
  const headers = { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(url + path, init)
  return { status: response.status, text: await response.text() }
}

const start = (url: string, { apiKey, botId }: Pick<PlatformSimulator, 'apiKey' | 'botId'>, chatId: string) =>
  send(url, apiKey, '/api/v2/handover/start', { bot_id: botId, chat_id: chatId, sender: AGENT })

test('a name determines keys, bot and seed, independent of other workspaces', async () => {
  const identities = async (...names: (string | undefined)[]) => {
    const { server } = await setUp()
    const made: Record<string, unknown[]> = {}
    for (const name of names) {
      const { id, apiKey, botApiKey, botId, config } = await server.workspace(name === undefined ? {} : { name })
      made[id] = [id, apiKey, botApiKey, botId, config().seed]
    }
    return made
  }
  const one = await identities('shop', undefined, 'pay', undefined)
  expect(await identities(undefined, 'pay', undefined, 'shop')).toEqual(one)
  expect(Object.keys(one).sort()).toEqual(['pay', 'shop', 'ws-1', 'ws-2'])
  expect(new Set(Object.values(one).flat()).size).toBe(20)
})

test('a closed workspace frees its name; until then, an error names it for its key', async () => {
  const { server, cart } = await setUp()
  await expect(server.workspace({ name: 'cart' })).rejects.toThrow(/Workspace "cart" already exists/)
  await cart.close()
  const { status, text } = await start(server.url, cart, 'x')
  expect([status, text]).toEqual([401, expect.stringMatching(/belonged to the workspace .*cart.*, which is closed/)])
  for (const key of ['nobody', null]) expect((await send(server.url, key, '/api/v1/chats/x')).status).toBe(401)
  expect(server.journal.query({ kind: 'api' })).toHaveLength(3)
  const again = await server.workspace({ name: 'cart' })
  expect(again.apiKey).toBe(cart.apiKey)
  expect((await start(server.url, again, (await again.chat()).id)).status).toBe(200)
})

test('an invalid name and a key of another workspace are rejected', async () => {
  const { server, cart } = await setUp()
  for (const name of ['', 'a b', 'x/y', 'a~b', '.hidden', 'x'.repeat(65)])
    await expect(server.workspace({ name })).rejects.toThrow(/name must be/)
  for (const key of [server.apiKey, server.botApiKey, cart.botApiKey])
    await expect(server.workspace({ knobs: { 'keys.handover': key } })).rejects.toThrow(/already belongs to/)
})

test('a workspace inherits the settings of the server, but neither keys nor webhook', async () => {
  const knobs = { 'typing.webhook': 'off', 'keys.more': 'third:77' } as const
  const { server } = await setUp({ knobs, webhook: { url: 'http://127.0.0.1:9/' }, seed: 4 })
  await server.configure({ 'messages.open': 'Patched later' })
  const own = await server.workspace({ knobs: { 'bot.delay': '1s' }, seed: 9, bot: { name: 'Ola' } })
  expect(own.config()).toMatchObject({ 'typing.webhook': 'off', 'bot.delay': '1s', 'bot.name': 'Ola', seed: 9 })
  expect(own.config()).toMatchObject({ 'webhook.url': null, 'keys.more': 'off', clock: 'virtual' })
  expect(own.config()['messages.open']).not.toBe('Patched later')
})

test('a call reaches the workspace of its key, whichever of its keys it carries', async () => {
  const { server, cart } = await setUp({}, { knobs: { 'keys.more': 'third-key:77' } })
  await cart.chat({ id: 'ada' })
  expect((await start(server.url, cart, 'ada')).status).toBe(200)
  const read = async (key: string) => (await send(server.url, key, '/api/v1/chats/ada')).status
  expect([await read(cart.botApiKey), await read('third-key'), await read(server.botApiKey)]).toEqual([200, 404, 404])
  const statuses = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' }).map(({ status }) => status)
  expect([statuses(cart), statuses(server)]).toEqual([[200, 200, 404], [404]])
})

test('a call reaches its workspace with a changed key, and with the old key while that still works', async () => {
  const { server, cart } = await setUp()
  const old = { apiKey: cart.apiKey, botId: cart.botId }
  const ada = await cart.chat()
  await cart.configure({ 'keys.graceful': '1m', 'keys.handover': 'brand-new' })
  for (const who of [old, cart]) expect((await start(server.url, who, ada.id)).status).toBe(200)
  await cart.clock.advance('2m')
  expect((await start(server.url, old, ada.id)).status).toBe(401)
  expect(cart.journal.query({ kind: 'api' })).toHaveLength(3)
})

test('a call for an attachment reaches its workspace, even if another one has a file of the same id', async () => {
  const { server } = await setUp()
  const urls: string[] = []
  for (const text of ['one', 'two']) {
    const ada = await (await server.workspace({ seed: 1 })).chat()
    await ada.says('', { attach: [{ name: 'a.txt', type: 'text/plain', bytes: new TextEncoder().encode(text) }] })
    urls.push(ada.transcript.find(({ attachments }) => attachments.length > 0)!.attachments[0]!.url)
  }
  expect(await Promise.all(urls.map(async url => (await fetch(url)).text()))).toEqual(['one', 'two'])
  for (const id of ['', 'ws-9~']) expect((await fetch(urls[0]!.replace('ws-1~', id))).status).toBe(404)
})

test('a call is limited by the body limit of its workspace', async () => {
  const { server, cart } = await setUp({ knobs: { 'limits.body': 200 } }, { knobs: { 'limits.body': 10_000 } })
  const body = { bot_id: cart.botId, chat_id: (await cart.chat()).id, message: 'x'.repeat(1000), sender: AGENT }
  const path = '/api/v2/handover/message/'
  expect((await send(server.url, cart.apiKey, path, body)).status).toBe(200)
  expect((await send(server.url, server.apiKey, path, body)).status).toBe(413)
})

test('closing a workspace aborts its deliveries, waits and streams, and does not affect others', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const hook = await receiver((_got, response) => void response.on('close', resolve))
  const { server, ask, cart } = await setUp({}, { webhook: { url: hook.url } })
  const other = await server.workspace()
  const said = (await cart.chat()).press('handover').catch((error: Error) => error.message)
  const stream = await fetch(`${server.url}/_sim/workspaces/cart/events`)
  const waiting = ask('GET', '/workspaces/cart/wait?call=start&timeout=30s')
  await hook.arrived(1)
  expect((await ask('DELETE', '/workspaces/cart')).body).toEqual({ closed: true, id: 'cart' })
  expect(await said).toContain('reset')
  await closed
  expect((await waiting).status).toBe(503)
  expect(await stream.text()).toContain('handover-sim')
  expect((await ask('GET', '/workspaces/cart')).status).toBe(404)
  expect((await start(server.url, other, (await other.chat()).id)).status).toBe(200)
})

/** Attachments are left out: the links to them name the workspace. */
const script = firstSteps.map(steps => steps.filter(([kind]) => !['describes', 'uploads'].includes(kind)))

test('a workspace has the same journal with and without other workspaces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(script, script, script), fc.boolean(), async (scripts, isSameSeed) => {
      const { server } = await setUp({ baseUrl: 'https://bot.example.test' })
      const seeds = isSameSeed ? [1, 1, 1] : [1, 2, 3]
      const together = await Promise.all(seeds.map(seed => player({ seed }, own => server.workspace(own))))
      await Promise.all(together.map(({ play }, at) => play(scripts[at]!)))
      for (const [at, { sim: own, observed }] of together.entries()) {
        const knobs = { 'keys.handover': own.apiKey, 'keys.bot': own.botApiKey }
        const { baseUrl, botId: id } = own
        const alone = await player({ seed: seeds[at]!, baseUrl, bot: { id }, knobs })
        await alone.play(scripts[at]!)
        expect(observed).toEqual(alone.observed)
        expect(stateOf(own).journal).toEqual(stateOf(alone.sim).journal)
      }
      expect(server.journal.query()).toEqual([])
    }),
    { numRuns: 10 },
  )
})

test('the control API creates, shows and lists workspaces', async () => {
  const { server, ask, cart } = await setUp()
  await cart.close()
  const body = { name: 'shop', clock: 'real', webhook_url: 'http://127.0.0.1:9/', bot: { name: 'Ola' } }
  const made = await ask('POST', '/workspaces', { body })
  const about = { id: 'shop', name: 'shop', url: server.url, webhook_url: 'http://127.0.0.1:9/' }
  expect(made).toMatchObject({ status: 201, body: { ...about, webhook_secret: made.body.api_key } })
  expect(made.body.control).toBe(`${server.url}/_sim/workspaces/shop`)
  expect((await ask('GET', '/workspaces/shop/config')).body).toMatchObject({ clock: 'real', 'bot.name': 'Ola' })
  const shown = (await ask('GET', '/workspaces')).body.workspaces
  expect(shown).toEqual([{ ...made.body, api_key: '***', bot_api_key: '***', webhook_secret: '***' }])
  expect((await ask('GET', '/workspaces/shop')).body).toEqual(shown[0])
  expect((await ask('GET', '/workspaces/shop?keys=true')).body).toEqual(made.body)
})

test('every route of the control API of a simulator also exists for a workspace', async () => {
  const { server, ask, cart } = await setUp()
  const { chat_id, url } = (await ask('POST', '/workspaces/cart/chats', { body: { id: 'ada' } })).body
  expect(url).toBe(`${cart.control}/chats/ada`)
  await ask('POST', '/workspaces/cart/chats/ada/press', { body: { button: 'handover' } })
  await start(server.url, cart, chat_id)
  expect((await ask('GET', '/workspaces/cart/wait?call=start')).body).toMatchObject({ chat_id, status: 200 })
  expect((await ask('POST', '/workspaces/cart/clock/advance', { body: { by: '1h' } })).body.now).toMatch(/T10:00/)
  await ask('POST', '/workspaces/cart/faults', { body: { on: 'api', drop: 'before' } })
  expect((await ask('GET', '/workspaces/cart/state')).body.chats).toHaveLength(1)
  await ask('POST', '/workspaces/cart/reset')
  expect((await ask('GET', '/workspaces/cart/chats')).body.chats).toEqual([])
  expect((await ask('GET', '/chats')).body.chats).toEqual([])
  expect((await ask('GET', '/state')).body.clock.now).toMatch(/T09:00/)
  expect((await ask('GET', '/faults')).body.faults).toEqual([])
})

test('a snapshot can be restored into another workspace, which keeps its keys', async () => {
  const { server, ask, cart: from } = await setUp()
  const to = await server.workspace({ name: 'to' })
  await from.chat({ id: 'ada', history: [{ user: 'Hi' }] })
  const { body } = await ask('GET', '/workspaces/cart/snapshot')
  expect((await ask('PUT', '/workspaces/to/snapshot', { body })).status).toBe(200)
  await start(server.url, { apiKey: to.apiKey, botId: from.botId }, 'ada')
  expect([to, from].map(sim => sim.findChat('ada')?.status)).toEqual(['agent', 'bot'])
  expect(to.findChat('ada')!.transcript[0]).toMatchObject({ from: 'user', text: 'Hi' })
})

test('an invalid request for a workspace is rejected with the name of the field', async () => {
  const { ask } = await setUp()
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
