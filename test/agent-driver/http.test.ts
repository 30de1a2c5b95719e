/** Verbs that are calls: what is sent, what counts as done, and what is said when it is not. */
import { type AddressInfo, createServer } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillAddress } from '../../src/running/agent-driver/http-call.ts'
import { freePort } from '../support/port.ts'
import { unicodeText } from '../support/unicode-text.ts'
import { CHAT, context, drive, never, openDesk } from './desk.ts'

const VERBS = `
accept: { POST: "/desk/$(chat.id)/accept" }
says:   { POST: "/desk/$(chat.id)/messages", json: { text: $(text), from: "bot $(sim.bot_id)", bot: $(sim.bot_id) } }
away:   { PUT: /desk/availability, json: { open: false } }
inbox:  { GET: "/desk/$(chat.id)/inbox?for=$(chat.name)" }
does:
  transfer: { PATCH: "/desk/$(chat.id)", json: { team: $(team), tags: $(tags) } }
  drop: { DELETE: "/desk/$(chat.id)" }
`

describe('an HTTP call', () => {
  it('contains the interpolated values', async () => {
    const desk = await openDesk((_, response) => void response.end('[]'))
    const { driver } = await drive(`http: ${desk.url}/api/\n${VERBS}`)
    await driver.call('accept', context(), never)
    await driver.call('says', context({ text: 'Hei "du" $(text) 😢' }), never)
    await driver.call('away', context({ chat: null }), never)
    await driver.call('inbox', context(), never)
    await driver.call('does.transfer', context({ with: { team: 'billing', tags: [1, 'b'] } }), never)
    await driver.call('does.drop', context(), never)
    expect(desk.asked.map(({ method, url, body }) => [method, url, body === '' ? null : JSON.parse(body)])).toEqual([
      ['POST', '/api/desk/c%201%2F%C3%A4/accept', null],
      ['POST', '/api/desk/c%201%2F%C3%A4/messages', { text: 'Hei "du" $(text) 😢', from: 'bot 7', bot: 7 }],
      ['PUT', '/api/desk/availability', { open: false }],
      ['GET', '/api/desk/c%201%2F%C3%A4/inbox?for=Ada', null],
      ['PATCH', '/api/desk/c%201%2F%C3%A4', { team: 'billing', tags: [1, 'b'] }],
      ['DELETE', '/api/desk/c%201%2F%C3%A4', null],
    ])
    const types = desk.asked.map(({ body, headers }) => (body === '' ? 'none' : headers['content-type']))
    expect(new Set(types)).toEqual(new Set(['none', 'application/json']))
  })

  it('goes to the address and has the headers of the file, which those of the verb override', async () => {
    const desk = await openDesk()
    const text = `http: "http://$(env.DESK)"
headers: { authorization: "Bearer $(env.DESK_TOKEN)", x-who: all }
accept: { POST: /a, headers: { x-who: "$(chat.name)" } }
leave: { POST: "$(env.URL)/b?q=$(chat.id)", json: {}, headers: { content-type: application/vnd.desk+json } }`
    const env = { DESK_TOKEN: 's3cret', DESK: `127.0.0.1:${desk.port}`, URL: desk.url }
    const { driver } = await drive(text, { env })
    await driver.call('accept', context(), never)
    await driver.call('leave', context(), never)
    expect(desk.asked[0]!.headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-who': 'Ada' })
    expect(desk.asked[1]!.headers).toMatchObject({ 'x-who': 'all', 'content-type': 'application/vnd.desk+json' })
    expect(desk.asked[1]!.url).toBe('/b?q=c%201%2F%C3%A4')
  })

  it('goes to the path of the driver for every id', async () => {
    const to = { base: 'http://a.example.test', path: '/desk/$(chat.id)/x?y=$(chat.id)' }
    fc.assert(
      fc.property(unicodeText(), id => {
        fc.pre(id !== '.' && id !== '..')
        const url = new URL(fillAddress(to, { chat: { id } }))
        expect(url.origin).toBe('http://a.example.test')
        const [, desk, segment, x] = url.pathname.split('/')
        expect([desk, x, decodeURIComponent(segment!), url.hash]).toEqual(['desk', 'x', id.toWellFormed(), ''])
        expect(url.searchParams.get('y')).toBe(id.toWellFormed())
      }),
      { numRuns: 40 },
    )
  })
})

/** Answers every connection with this text, or closes it. */
async function openSocket(answer: string | null): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => {}).once('data', () => (answer === null ? socket.destroy() : socket.end(answer)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the outcome of an HTTP call', () => {
  it('is ok for 2xx', async () => {
    const desk = await openDesk()
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    expect(await driver.call('accept', context(), never)).toEqual({
      ...{ verb: 'accept', outcome: 'ok', status: 202, answer: '{"queued":true}', chat_id: CHAT.id },
      ...{ how: `POST ${desk.url}/desk/c%201%2F%C3%A4/accept`, duration_ms: expect.any(Number) },
    })
    expect(await driver.call('away', context({ chat: null }), never)).not.toHaveProperty('chat_id')
  })

  it('contains no secret', async () => {
    const desk = await openDesk()
    const text = `http: ${desk.url}\naccept: { POST: "/a?t=$(env.DESK_TOKEN)&k=$(sim.api_key)&n=$(env.TEAM)" }`
    const { driver } = await drive(text, { env: { DESK_TOKEN: 's3cret', TEAM: 'b' } })
    const done = await driver.call('accept', context(), never)
    expect(desk.asked[0]!.url).toBe('/a?t=s3cret&k=key-1&n=b')
    expect(decodeURIComponent(done.how)).toBe(`POST ${desk.url}/a?t=$(env.DESK_TOKEN)&k=$(sim.api_key)&n=b`)
  })

  it.each<[number, string, string, Record<string, string>?]>([
    [409, 'wrong\n  state', 'answered 409: wrong state'],
    [500, '<!DOCTYPE html><html><pre>Error: no desk<br> &nbsp; at a.js:1</pre></html>', 'answered 500: Error: no desk'],
    [500, '', 'answered 500'],
    [503, 'x'.repeat(1000), `answered 503: ${'x'.repeat(299)}…`],
    [302, '', 'answered 302 (a redirect to /login, which is not followed)', { location: '/login' }],
  ])('is a failure for %d', async (status, body, error, headers = {}) => {
    const desk = await openDesk((_, response) => void response.writeHead(status, headers).end(body))
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'failed', status, error })
    expect(desk.asked).toHaveLength(1)
  })

  it('is a failure when the answer begins or ends too late; a verb may have its own timeout', async () => {
    const desk = await openDesk(({ url }, response) => {
      if (url.endsWith('inbox')) response.writeHead(200).write('[')
    })
    const { driver } = await drive(`http: ${desk.url}\ntimeout: 40ms${VERBS}\nleave: { POST: /x, timeout: 20ms }`)
    for (const [verb, ms] of Object.entries({ accept: 40, inbox: 40, leave: 20 })) {
      const error = `timeout: no answer within ${ms}ms`
      expect(await driver.call(verb, context(), never)).toMatchObject({ outcome: 'failed', error })
    }
  })

  it('is unreachable when the connection is refused or closes, and a failure when the answer is not HTTP', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const rows: [string, string, RegExp][] = [
      [`http://${address}`, 'unreachable', new RegExp(`^nothing listens at ${address} \\(ECONNREFUSED\\)$`)],
      [await openSocket(null), 'unreachable', /^connection (reset|closed) by/],
      [await openSocket('HELO\r\n\r\n'), 'failed', /^not HTTP: /],
    ]
    for (const [http, outcome, error] of rows) {
      const { driver } = await drive(`http: ${http}${VERBS}`)
      const done = await driver.call('accept', context(), never)
      expect(done).toMatchObject({ outcome, error: expect.stringMatching(error) })
    }
  })

  it('is a failure, and sends nothing, for what cannot be sent', async () => {
    const desk = await openDesk()
    const text = `http: ${desk.url}${VERBS}\nleave: { POST: "$(env.DESK)/a" }\ntype: { POST: /a, headers: { x: $(chat.name) } }`
    const { driver } = await drive(text, { env: { DESK: '127.0.0.1:99' } })
    const rows: [string, Parameters<typeof context>[0], string][] = [
      ['leave', {}, '"127.0.0.1:99/a" is not an http address'],
      ['type', { chat: { ...CHAT, name: 'a\nb' } }, 'cannot be sent: invalid x header'],
      ['does.transfer', { with: { taem: 'x', tags: 1 } }, '$(team) is not known here; did you mean taem?'],
      ['accept', { chat: { ...CHAT, id: '..' } }, '$(chat.id) is "..", which cannot stand in an address'],
      ['accept', { chat: { ...CHAT, id: '.' } }, '$(chat.id) is ".", which cannot stand in an address'],
      ['stop', {}, 'driver.yaml has no verb stop'],
      ['toString', {}, 'driver.yaml has no verb toString'],
    ]
    for (const [verb, more, error] of rows)
      expect(await driver.call(verb, context(more), never)).toMatchObject({ outcome: 'failed', error })
    expect(desk.asked).toEqual([])
  })
})

describe('a pending call', () => {
  it.each(['a signal before it', 'a signal during it', 'closing the driver'])('ends: %s', async when => {
    const run = new AbortController()
    const desk = await openDesk(() => (when === 'closing the driver' ? void driver.close() : run.abort()))
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    if (when === 'a signal before it') run.abort()
    const done = await driver.call('accept', context(), run.signal)
    expect(done).toMatchObject({ outcome: 'failed', error: 'interrupted, because the run is over' })
    expect(desk.asked).toHaveLength(when === 'a signal before it' ? 0 : 1)
  })
})
