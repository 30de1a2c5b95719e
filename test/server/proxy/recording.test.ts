/** Checks what a proxy says about the traffic: signatures, attempts, links, silence; and what its control API refuses. */

import { createHmac } from 'node:crypto'
import { get } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { factOf } from '../../../src/pages/web/model/entry-facts.ts'
import { sign } from '../../../src/platform/signature/index.ts'
import { coreOf } from '../../../src/platform/simulator/simulator.ts'
import { createProxy } from '../../../src/server/proxy/proxy.ts'
import { startServer } from '../../../src/server/start.ts'
import { bodyOf, call, deliver, KEY, PATH, serverWith, startProxy } from './setup.ts'

const event = (message: string, self = 'https://bot.example.test/api/v1/chats/c-1') =>
  JSON.stringify({
    event: 'MESSAGE FROM USER',
    bot: { id: 1042, name: 'Nora' },
    chat: { _links: { self }, id: 'c-1', language: 'nb', source: 'web' },
    user: { id: '5f3a' },
    message,
  })

/** Answers with these statuses, and then with 200. */
const answering = (...statuses: number[]) =>
  serverWith((request, response) => {
    const headers = { 'content-type': 'application/json' }
    request.resume().on('end', () => response.writeHead(statuses.shift() ?? 200, headers).end('{}'))
  })

describe('signatures', () => {
  it('are checked with the given key, and only the verdict is recorded', async () => {
    const webhook = await answering()
    const proxy = await startProxy(webhook.url, webhook.url)
    const body = event('hei')
    const good = await sign(body, KEY)
    const other = { 'X-Check': `sha512=${createHmac('sha512', KEY).update(body).digest('hex')}` }
    for (const headers of [{ 'Kindly-HMAC': good }, { 'Kindly-HMAC': await sign(body, 'another key') }, {}, other])
      await deliver(proxy.deliveryUrl, body, headers as Record<string, string>)
    const deliveries = await proxy.waitFor('delivery', 4)
    const recorded = deliveries.map(({ request }) => request.headers['kindly-hmac'] ?? request.headers['x-check'])
    expect(recorded).toEqual(['*** (valid)', '*** (invalid)', undefined, '*** (valid)'])
    const facts = deliveries.map(factOf)
    expect(facts).toMatchObject([{ outcome: 'pass' }, { outcome: 'fail' }, { outcome: 'warn' }, {}])
    expect(proxy.file()).not.toContain(good)
    await proxy.stop()
    expect(proxy.io.stderr.text.match(/signature +invalid with the given key/g)).toHaveLength(1)
  })

  it('are not checked without a key', async () => {
    const webhook = await answering()
    const proxy = await startProxy(webhook.url, webhook.url, [])
    await deliver(proxy.deliveryUrl, event('hei'), { 'Kindly-HMAC': await sign(event('hei'), 'sim-handover-key') })
    expect((await proxy.waitFor('delivery'))[0]?.request.headers['kindly-hmac']).toBe('*** (not checked)')
  })
})

describe('entries', () => {
  it('of a refused event number its attempts; the same words after an accepted one are another event', async () => {
    const webhook = await answering(500, 503)
    const proxy = await startProxy(webhook.url, webhook.url)
    for (let count = 0; count < 4; count++) await deliver(proxy.deliveryUrl, event('ok'))
    const deliveries = await proxy.waitFor('delivery', 4)
    const [first, second, ...more] = await proxy.waitFor('event', 2)
    expect(deliveries).toMatchObject([
      { attempt: 1, outcome: 'failed', cause: first?.seq, status: 500 },
      { attempt: 2, outcome: 'failed', cause: first?.seq, status: 503 },
      { attempt: 3, outcome: 'delivered', cause: first?.seq, status: 200 },
      { attempt: 1, outcome: 'delivered', cause: second?.seq, status: 200 },
    ])
    expect(more).toEqual([])
  })

  it('of calls say what the platform thought of the key, and which typing call an event echoes', async () => {
    const platform = await answering(401, 401, 403, 409, 200)
    const proxy = await startProxy(platform.url, platform.url)
    for (const authorization of ['', 'Basic YWJj', `Bearer ${KEY}`, `Bearer ${KEY}`])
      await call(proxy.url, 'typing_start', {}, { authorization })
    await call(proxy.url, 'typing_start', { timeout: 5000 })
    const calls = await proxy.waitFor('api', 5)
    expect(calls.map(({ auth }) => auth)).toEqual(['missing', 'malformed', 'wrong_scope', 'not_checked', 'valid'])
    await deliver(proxy.deliveryUrl, '{"event":"AGENT TYPING START","chat_id":"c-1"}')
    expect((await proxy.waitFor('event'))[0]).toMatchObject({ cause: calls[4]?.seq, chat_id: 'c-1' })
  })

  it('of what is not known are there: another event, no JSON, another path', async () => {
    const other = await answering()
    const proxy = await startProxy(other.url, other.url)
    await deliver(proxy.deliveryUrl, '{"event":"SOMETHING NEW","chat_id":"c-9"}')
    await deliver(proxy.deliveryUrl, 'hello')
    await fetch(`${proxy.url}/files/f-1/invoice.pdf`)
    expect(await proxy.waitFor('delivery', 2)).toMatchObject([
      { event: 'SOMETHING NEW', chat_id: 'c-9', cause: null, outcome: 'delivered' },
      { event: '', request: { body: 'hello' }, cause: null },
    ])
    expect((await proxy.waitFor('api'))[0]).toMatchObject({ endpoint: null, path: '/files/f-1/invoice.pdf' })
    expect((await proxy.entries()).filter(({ kind }) => kind === 'event')).toEqual([])
  })
})

describe('links', () => {
  it('past the proxy are noted once for each host', async () => {
    const webhook = await answering()
    const proxy = await startProxy('http://127.0.0.1:1', webhook.url)
    const body = JSON.stringify({
      ...JSON.parse(event('see', 'http://127.0.0.1:1/api/v1/chats/c-1')),
      attachments: [{ name: 'a.png', url: 'https://cdn.example.net/a.png', type: 'image/png', size_kb: 1 }],
    })
    for (let count = 0; count < 3; count++) await deliver(proxy.deliveryUrl, body)
    await proxy.waitFor('delivery', 3)
    const message = expect.stringContaining('--rewrite-links')
    const links = [{ link: 'http://127.0.0.1:1', message }, { link: 'https://cdn.example.net' }]
    expect(await proxy.notes('proxy_link_leaves')).toMatchObject(links)
    await proxy.stop()
    expect(proxy.io.stderr.text).toMatch(/Links\s+lead\s+to\s+https:\/\/cdn\.example\.net:/)
  })

  it('lead through the proxy with --rewrite-links: the event is signed again, and what changed is marked', async () => {
    const answerOf = (url: string) => `{"self":"${url.replaceAll('/', '\\/')}\\/api","same":"http://other.example/"}`
    const platform = await serverWith((request, response) => {
      const body = answerOf(`http://${request.resume().headers.host}`)
      const headers = { 'content-type': 'application/json', 'X-Kept': '1', 'content-length': body.length }
      response.writeHead(200, headers).end(body)
    })
    const received: { body: string; headers: NodeJS.Dict<string | string[]> }[] = []
    const webhook = await serverWith(async (request, response) => {
      received.push({ body: String(await bodyOf(request)), headers: request.headers })
      response.end()
    })
    const proxy = await startProxy(platform.url, webhook.url, ['--api-key', KEY, '--rewrite-links'])
    const body = event('hei', `${platform.url}/api/v1/chats/c-1`)
    await deliver(proxy.deliveryUrl, body, { 'Kindly-HMAC': await sign(body, KEY) })
    const rewritten = event('hei', `${proxy.url}/api/v1/chats/c-1`)
    const marked = { 'x-handover-sim-rewritten-links': '1' }
    const headers = { 'kindly-hmac': await sign(rewritten, KEY), ...marked }
    expect(received).toMatchObject([{ body: rewritten, headers }])
    const answer = await call(proxy.url, 'transcript', {})
    expect(Object.fromEntries(answer.headers)).toMatchObject({ 'x-kept': '1', ...marked })
    expect(await answer.text()).toBe(answerOf(proxy.url))
    // A forged event is not made a valid one.
    await deliver(proxy.deliveryUrl, body, { 'Kindly-HMAC': await sign(body, 'another key') })
    expect(received[1]?.body).toBe(body)
    const [delivery] = await proxy.waitFor('delivery', 2)
    expect(delivery?.request).toMatchObject({ body, headers: { 'kindly-hmac': '*** (valid)' } })
    expect(await proxy.notes('proxy_links_rewritten')).toMatchObject([{ links: 1, cause: delivery?.seq }, { links: 1 }])
  })
})

it('says once when one side is silent, and again after traffic', async () => {
  const other = await answering()
  const url = new URL(other.url)
  const proxy = createProxy({
    ...{
      upstream: url,
      webhookUrl: url,
      deliveryPath: PATH,
      keys: [],
      anonymise: false,
      rewriteLinks: false,
      file: '',
    },
    silentAfterMs: 20,
  })
  const server = await startServer({ port: 0 }, undefined, undefined, { proxy })
  onTestFinished(async () => {
    proxy.close()
    await server.close()
  })
  const silence = (side: string, after = 0) =>
    server.journal.waitFor(one => one.kind === 'note' && one.note === 'proxy_silent' && one.side === side, { after })
  expect(await silence('deliveries')).toMatchObject({ message: expect.stringContaining('No delivery for 20ms.') })
  const { seq } = await silence('calls')
  await call(server.url, 'start', {})
  await silence('calls', seq)
  await coreOf(server).work.activity.idle()
  const notes = server.journal.query({ kind: 'note' }).filter(({ note }) => note === 'proxy_silent')
  expect(notes.map(({ side }) => side).sort()).toEqual(['calls', 'calls', 'deliveries'])
})

describe('the control API', () => {
  it('refuses acts on a simulated platform, and reads as usual', async () => {
    const other = await answering()
    const proxy = await startProxy(other.url, other.url)
    const posts = '/chats /trigger /faults /clock/advance /reset /workspaces /plays'.split(' ')
    for (const route of [...posts.map(path => `POST ${path}`), 'PATCH /config', 'PUT /availability']) {
      const [method = '', path] = route.split(' ')
      const response = await fetch(`${proxy.url}/_sim${path}`, { method, body: '{}' })
      expect([response.status, await response.json()], path).toMatchObject([409, { error: { code: 'is_proxy' } }])
    }
    const reads = '/state /chats /config /faults /keys /snapshot /assumptions /calibration /readiness /deliveries'
    for (const path of reads.split(' ')) expect((await proxy.client('GET', path)).status, path).toBe(200)
    expect((await proxy.client('POST', '/settle')).status).toBe(200)
    expect((await proxy.client('POST', '/stop', { body: {} })).status).toBe(200)
    expect(await proxy.code).toBe(0)
  })

  it('and the platform are not reached through the tunnel, which leads to the delivery path only', async () => {
    const other = await answering()
    const proxy = await startProxy(other.url, other.url)
    const { port } = new URL(proxy.url)
    const ask = (path: string, headers: Record<string, string>) =>
      new Promise<number | undefined>(resolve =>
        get({ port, path, headers }, answer => resolve(answer.resume().statusCode)),
      )
    const forwarded = { 'x-forwarded-for': '203.0.113.7' }
    const named = { host: 'a1b2.tunnel.example' }
    for (const headers of [forwarded, named, { ...forwarded, ...named }]) {
      expect(await ask('/_sim/journal', headers)).toBe(403)
      expect(await ask('/api/v1/chats/c-1', headers)).toBe(403)
      expect(await ask(`${PATH}x`, headers)).toBe(403)
      expect(await ask(PATH, headers)).toBe(200)
    }
    expect(await ask('/api/v1/chats/c-1', {})).toBe(200)
    expect(await proxy.waitFor('delivery', 3)).toHaveLength(3)
    expect(await proxy.waitFor('api')).toHaveLength(1)
  })
})
