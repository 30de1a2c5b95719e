/** Verbs that are calls: what is sent, what counts as done, and what is said when it is not. */
import { createServer } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addressOf } from '../../src/running/agent-driver/http-call.ts'
import { freePort } from '../support/port.ts'
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
    expect(desk.asked.map(({ headers }) => headers['content-type'])).toEqual([
      undefined,
      'application/json',
      'application/json',
      undefined,
      'application/json',
      undefined,
    ])
    expect(desk.asked[0]!.headers['content-length']).toBe('0')
  })

  it('has the headers of the file, which those of the verb override', async () => {
    const desk = await openDesk()
    const text = `http: ${desk.url}
headers: { authorization: "Bearer $(env.DESK_TOKEN)", x-who: all }
accept: { POST: /a, headers: { x-who: "$(chat.name)" } }
leave: { POST: /b, json: {}, headers: { content-type: application/vnd.desk+json } }`
    const { driver } = await drive(text, { env: { DESK_TOKEN: 's3cret' } })
    await driver.call('accept', context(), never)
    await driver.call('leave', context(), never)
    expect(desk.asked[0]!.headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-who': 'Ada' })
    expect(desk.asked[1]!.headers).toMatchObject({ 'x-who': 'all', 'content-type': 'application/vnd.desk+json' })
  })

  it('goes to a full address, with or without `http`', async () => {
    const [desk, other] = [await openDesk(), await openDesk()]
    const text = `http: "http://$(env.DESK)"
accept: { POST: /a }
leave: { POST: "${other.url}/b?q=$(chat.id)" }
type: { POST: "$(env.OTHER)/c" }`
    const { driver } = await drive(text, { env: { DESK: `127.0.0.1:${desk.port}`, OTHER: other.url } })
    for (const verb of ['accept', 'leave', 'type']) {
      expect(await driver.call(verb, context(), never)).toMatchObject({ outcome: 'ok' })
    }
    expect(desk.asked.map(({ url }) => url)).toEqual(['/a'])
    expect(other.asked.map(({ url }) => url)).toEqual(['/b?q=c%201%2F%C3%A4', '/c'])
  })

  it('goes to the path of the driver for every id', async () => {
    const scope = (id: string) => ({ chat: { id } })
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), id => {
        fc.pre(id !== '.' && id !== '..')
        const url = new URL(
          addressOf({ base: 'http://a.example.test', path: '/desk/$(chat.id)/x?y=$(chat.id)' }, scope(id)),
        )
        expect(url.origin).toBe('http://a.example.test')
        const [, desk, segment, x] = url.pathname.split('/')
        expect([desk, x, decodeURIComponent(segment!), url.hash]).toEqual(['desk', 'x', id.toWellFormed(), ''])
        expect(url.searchParams.get('y')).toBe(id.toWellFormed())
      }),
    )
  })

  it.each(['.', '..'])('refuses a segment of dots in the path: %s', async id => {
    const desk = await openDesk()
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    const done = await driver.call('accept', context({ chat: { ...CHAT, id } }), never)
    expect(done).toMatchObject({
      outcome: 'failed',
      error: `$(chat.id) is ${JSON.stringify(id)}, which cannot stand in an address`,
    })
    expect(desk.asked).toEqual([])
  })
})

describe('the outcome of an HTTP call', () => {
  it('is ok for 2xx', async () => {
    const desk = await openDesk()
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    const done = await driver.call('accept', context(), never)
    expect(done).toEqual({
      verb: 'accept',
      outcome: 'ok',
      how: `POST ${desk.url}/desk/c%201%2F%C3%A4/accept`,
      status: 202,
      duration_ms: expect.any(Number),
      answer: '{"queued":true}',
      chat_id: CHAT.id,
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

  it.each([
    [409, 'wrong\n  state', 'answered 409: wrong state'],
    [500, '<!DOCTYPE html><html><pre>Error: no desk<br> &nbsp; at a.js:1</pre></html>', 'answered 500: Error: no desk'],
    [500, '', 'answered 500'],
    [503, 'x'.repeat(1000), `answered 503: ${'x'.repeat(299)}…`],
  ])('%d is not', async (status, body, error) => {
    const desk = await openDesk((_, response) => void response.writeHead(status).end(body))
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'failed', status, error })
    expect(desk.asked).toHaveLength(1)
  })

  it('is a failure for a redirect, which is not followed', async () => {
    const desk = await openDesk((_, response) => void response.writeHead(302, { location: '/login' }).end())
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    const error = 'answered 302 (a redirect to /login, which is not followed)'
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'failed', status: 302, error })
    expect(desk.asked).toHaveLength(1)
  })

  it('is a failure when the answer begins or ends too late', async () => {
    const desk = await openDesk(({ url }, response) => {
      if (url.endsWith('accept')) return
      response.writeHead(200).write('[')
    })
    const { driver } = await drive(`http: ${desk.url}\ntimeout: 40ms${VERBS}`)
    const timeout = { outcome: 'failed', error: 'timeout: no answer within 40ms' }
    expect(await driver.call('accept', context(), never)).toMatchObject(timeout)
    expect(await driver.call('inbox', context(), never)).toMatchObject(timeout)
  })

  it('depends on the timeout of the verb', async () => {
    const desk = await openDesk(() => {})
    const { driver } = await drive(`http: ${desk.url}\naccept: { POST: /a, timeout: 20ms }`)
    expect(await driver.call('accept', context(), never)).toMatchObject({ error: 'timeout: no answer within 20ms' })
  })

  it('is unreachable when the connection is refused', async () => {
    const port = await freePort()
    const { driver } = await drive(`http: http://127.0.0.1:${port}${VERBS}`)
    expect(await driver.call('accept', context(), never)).toMatchObject({
      outcome: 'unreachable',
      error: `nothing listens at 127.0.0.1:${port} (ECONNREFUSED)`,
    })
  })

  it('is a failure when the connection closes, or the answer is not HTTP', async () => {
    const speak = (port: number, with_: (socket: import('node:net').Socket) => void) =>
      new Promise<number>(resolve => {
        const server = createServer(socket => void socket.on('error', () => {}).once('data', () => with_(socket)))
        server.listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
        onTestFinished(() => void server.close())
      })
    const breaks = await speak(0, socket => socket.destroy())
    const speaks = await speak(0, socket => socket.end('HELO\r\n\r\n'))
    const text = `accept: { POST: "http://127.0.0.1:${breaks}/" }\nleave: { POST: "http://127.0.0.1:${speaks}/" }`
    const { driver } = await drive(text)
    const broken = await driver.call('accept', context(), never)
    expect(broken).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringMatching(/^connection (reset|closed) by/),
    })
    const other = await driver.call('leave', context(), never)
    expect(other).toMatchObject({ outcome: 'failed', error: expect.stringMatching(/^not HTTP: /) })
  })

  it('is a failure for an invalid address', async () => {
    const { driver } = await drive('http: "$(env.DESK)"\naccept: { POST: /a }', { env: { DESK: '127.0.0.1:99' } })
    const error = '"127.0.0.1:99/a" is not an http address'
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'failed', error })
  })

  it('is a failure for an invalid header', async () => {
    const desk = await openDesk()
    const { driver } = await drive(`http: ${desk.url}\nsays: { POST: /a, headers: { x-text: $(text) } }`)
    const done = await driver.call('says', context({ text: 'a\nb' }), never)
    expect(done).toMatchObject({ outcome: 'failed', error: 'cannot be sent: invalid x-text header' })
    expect(desk.asked).toEqual([])
  })

  it('is a failure for a missing parameter', async () => {
    const desk = await openDesk()
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    expect(await driver.call('does.transfer', context({ with: { taem: 'x', tags: 1 } }), never)).toMatchObject({
      outcome: 'failed',
      error: '$(team) is not known here; did you mean taem?',
    })
    expect(desk.asked).toEqual([])
  })

  it('is a failure for an unknown verb', async () => {
    const { driver } = await drive('http: http://127.0.0.1:1\naccept: { POST: /a }')
    expect(driver.verbs).toEqual(['accept'])
    for (const verb of ['says', 'toString', 'does.accept']) {
      expect(await driver.call(verb, context(), never)).toMatchObject({
        outcome: 'failed',
        error: `driver.yaml has no verb ${verb}`,
      })
    }
    expect(await driver.call('inbox', context(), never)).toMatchObject({ error: 'driver.yaml has no verb inbox' })
  })
})

describe('an aborted signal', () => {
  it.each(['before', 'during'])('ends the call: %s it', async when => {
    const run = new AbortController()
    const desk = await openDesk(() => run.abort())
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    if (when === 'before') run.abort()
    const done = await driver.call('accept', context(), run.signal)
    expect(done).toMatchObject({ outcome: 'failed', error: 'interrupted, because the run is over' })
    expect(desk.asked).toHaveLength(when === 'before' ? 0 : 1)
  })

  it('closing the driver ends pending calls', async () => {
    let close = () => {}
    const desk = await openDesk(() => close())
    const { driver } = await drive(`http: ${desk.url}${VERBS}`)
    close = () => void driver.close()
    expect(await driver.call('accept', context(), never)).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('interrupted'),
    })
  })
})

it('hundreds of concurrent calls receive their own answers', async () => {
  const desk = await openDesk(({ url }, response) => void response.end(JSON.stringify([{ text: url }])))
  const { driver } = await drive(`http: ${desk.url}${VERBS}`)
  const ids = Array.from({ length: 300 }, (_, index) => `c${index}`)
  const reads = await Promise.all(ids.map(id => driver.call('inbox', context({ chat: { ...CHAT, id } }), never)))
  expect(reads.map(({ items }) => items![0]!.text)).toEqual(ids.map(id => `/desk/${id}/inbox?for=Ada`))
})
