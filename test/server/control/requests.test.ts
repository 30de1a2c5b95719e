import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { createControlClient } from '../../support/control-client.ts'

describe('the problem is named', () => {
  test.each([
    ['POST', '/chats', { langauge: 'nb' }, 'langauge is not a known key; did you mean language?'],
    ['POST', '/chats', { user: { frist_name: 'Ada' } }, 'user.frist_name is not a known key; did you mean first_name?'],
    ['POST', '/chats', { history: [{ usr: 'Hi' }] }, 'history[0] must be one of { user }, { bot, buttons? }'],
    ['POST', '/chats', { language: 5 }, 'language must be a string, got the number 5'],
    ['POST', '/chats', { transcript: 'nb-shpo' }, 'did you mean nb-shop?'],
    ['POST', '/chats', { bot_id: 1 }, 'bot_id 1 is not a bot of this simulator'],
    ['PUT', '/availability', { availability: 'SHUT' }, 'availability must be OPEN or CLOSED'],
    ['PUT', '/availability', { availability: 'OPEN', queue: 'VIP' }, 'queue must be "DEFAULT"'],
    ['POST', '/clock/advance', { by: 5 }, 'by must be a string'],
    ['POST', '/clock/advance', { by: '5' }, 'by must be a duration such as 500ms'],
    ['POST', '/clock/advance', {}, 'by is required'],
    ['POST', '/reset', { all: true }, 'all is not a known key'],
    ['POST', '/trigger', {}, 'event is required'],
    ['POST', '/trigger', { event: '' }, 'event must be a string that is not empty'],
    ['POST', '/trigger', { event: 'X', chatid: 'c' }, 'chatid is not a known key; did you mean chat_id?'],
    ['POST', '/trigger', { event: 'X', sign: 'wrong' }, 'sign must be valid, none, wrong-key, tampered'],
    ['POST', '/trigger', { event: 'X', body: [] }, 'body must be an object'],
    ['POST', '/deliveries/d/resend?resigned=true', undefined, 'resigned is not a known key; did you mean resign?'],
    ['POST', '/deliveries/d/resend?resign=yes', undefined, 'resign must be true or false'],
    ['PATCH', '/config', [], 'The body must be an object'],
    ['GET', '/wait?cal=start', undefined, 'cal is not a known key; did you mean call?'],
    ['GET', '/wait?call=strat', undefined, 'call must be transcript, '],
    ['GET', '/wait', undefined, 'The query must say what to wait for: call, event, note or kind, such as ?call=start'],
    ['GET', '/wait?call=start&timeout=5', undefined, 'timeout must be a duration'],
    ['GET', '/journal?after=x', undefined, 'after must be an integer, got the string "x"'],
    ['GET', '/journal?kind=apis', undefined, 'kind must be api, '],
    ['GET', '/journal?limit=0', undefined, 'limit must be greater than 0'],
    ['GET', '/config?x=1', undefined, 'x is not known here'],
  ])('%s %s %j', async (method, path, body, message) => {
    await using server = await startSimulator({ port: 0, clock: 'virtual' })
    const reply = await createControlClient(server)(method, path, body === undefined ? {} : { body })
    expect(reply.status).toBe(422)
    expect(reply.body.error.message).toContain(message)
  })

  test('an attachment needs either a size or bytes', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    const { chat_id } = (await ask('POST', '/chats')).body
    for (const more of [
      {},
      { size_kb: 1, base64: 'aGk=' },
      { base64: '%%%' },
      { size_kb: -1 },
      { type: 'a\r\nb', size_kb: 1 },
    ]) {
      const attachments = [{ name: 'a', type: 'text/plain', ...more }]
      const reply = await ask('POST', `/chats/${chat_id}/messages`, { body: { text: 'x', attachments } })
      expect(reply.status, JSON.stringify(more)).toBe(422)
    }
    expect((await ask('POST', `/chats/${chat_id}/messages`, { body: {} })).body.error.code).toBe('invalid_message')
  })

  test('answers 400 for a body that is not JSON, and 415 for a form where the route takes none', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    expect((await ask('POST', '/chats', { text: '{"language":' })).status).toBe(400)
    expect((await ask('POST', '/chats', { form: new FormData() })).status).toBe(415)
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const { chat_id } = (await ask('POST', '/chats')).body
    expect((await ask('POST', `/chats/${chat_id}/messages`, { text: 'no form', headers })).status).toBe(400)
  })
})

describe('routes', () => {
  test('answers 404 for an unknown route, and names the one that was meant or lists all', async () => {
    await using server = await startSimulator({ port: 0 })
    const { status, body } = await createControlClient(server)('GET', '/jornal')
    expect([status, body.error.code]).toEqual([404, 'route_not_found'])
    expect(body.error.message).toBe('There is no /_sim/jornal; did you mean /_sim/journal?')
    const other = await createControlClient(server)('GET', '/something/else/entirely')
    expect(other.body.error.message).toContain('POST /_sim/chats/:id/press')
  })

  test('answers 405 with Allow for another method', async () => {
    await using server = await startSimulator({ port: 0 })
    const { status, headers } = await createControlClient(server)('DELETE', '/chats')
    expect([status, headers.get('allow')]).toEqual([405, 'POST, GET'])
    const preflight = await fetch(`${server.url}/_sim/chats`, { method: 'OPTIONS' })
    expect(preflight.status).toBe(405)
    expect([...preflight.headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
  })

  test('lists the routes at the top; ignores a final slash; treats HEAD as GET', async () => {
    await using server = await startSimulator({ port: 0 })
    for (const path of ['', '/']) {
      const answer = await fetch(`${server.url}/_sim${path}`)
      expect(((await answer.json()) as { routes: string[] }).routes).toContain('GET /_sim/readyz')
    }
    expect((await fetch(`${server.url}/_sim/state/`, { method: 'HEAD' })).status).toBe(200)
  })

  test('does not replace the global Request and Response', async () => {
    const before = [globalThis.Request, globalThis.Response]
    await using server = await startSimulator({ port: 0 })
    await createControlClient(server)('GET', '/state')
    expect(globalThis.Request).toBe(before[0])
    expect(globalThis.Response).toBe(before[1])
  })

  test('journals neither requests of the control API nor their errors', async () => {
    await using server = await startSimulator({ port: 0 })
    await createControlClient(server)('GET', '/nothing-here')
    expect(server.journal.query()).toEqual([])
  })
})

describe('config', () => {
  test('applies a change at once and answers with the whole config', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    const patch = { 'typing.webhook': 'off', 'webhook.url': 'http://127.0.0.1:9/hook', 'webhook.retry': ['1s', '5s'] }
    const { status, body } = await ask('PATCH', '/config', { body: patch })
    expect(status).toBe(200)
    expect(body).toMatchObject(patch)
    expect((await ask('GET', '/state')).body.config).toEqual(body)
    expect((await ask('GET', '/config')).body).toEqual(body)
  })

  test('answers 422 for unknown knobs and values with the allowed ones, and changes nothing', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    const body = { 'typing.webhok': 'off', 'webhook.json': 'yaml', 'webhook.url': 'nowhere', 'bot.delay': '1s' }
    const reply = await ask('PATCH', '/config', { body })
    expect([reply.status, reply.body.error.code]).toEqual([422, 'invalid_setting'])
    const issues = reply.body.error.issues as { field: string; message: string; allowed?: unknown }[]
    expect(issues.map(({ field }) => field).sort()).toEqual(['typing.webhok', 'webhook.json', 'webhook.url'])
    const [knob, value] = ['typing.webhok', 'webhook.json'].map(name => issues.find(({ field }) => field === name)!)
    expect(knob).toMatchObject({ message: expect.stringContaining('did you mean typing.webhook?') })
    expect(knob!.allowed).toContain('webhook.url')
    expect(value!.allowed).toContain('compact | spaced')
    expect((await ask('GET', '/config')).body['bot.delay']).toBe('0s')
  })

  test.each(['constructor', 'toString', '__proto__'])('%s is no setting', async name => {
    await using server = await startSimulator({ port: 0 })
    const reply = await createControlClient(server)('PATCH', '/config', { text: `{"${name}":"x"}` })
    // JSON puts __proto__ on the object as any other name, schemas may leave it out: it must change nothing.
    expect([200, 422]).toContain(reply.status)
    expect(Object.hasOwn((await createControlClient(server)('GET', '/config')).body, name)).toBe(false)
  })

  test('never shows keys', async () => {
    await using server = await startSimulator({ port: 0, knobs: { 'keys.handover': 'very-secret-key' } })
    const { body } = await createControlClient(server)('GET', '/state')
    expect(body.config['keys.handover']).toBe('***')
    expect(JSON.stringify(body)).not.toContain('very-secret-key')
  })

  test('sets the availability as in the workspace', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    expect((await ask('GET', '/state')).body.availability).toMatchObject([
      { bot_id: 1042, queue: 'DEFAULT', availability: 'OPEN', updated_at: null, open: true },
    ])
    const { body } = await ask('PUT', '/availability', { body: { availability: 'CLOSED', reason: 'BUSINESS_HOURS' } })
    expect(body).toMatchObject({ availability: 'CLOSED', reason: 'BUSINESS_HOURS', open: false })
    expect((await ask('GET', '/state')).body.availability).toEqual([body])
  })

  test('lists assumptions with their effective values', async () => {
    await using server = await startSimulator({ port: 0, knobs: { 'webhook.retry': ['1s'] } })
    const { assumptions } = (await createControlClient(server)('GET', '/assumptions')).body
    const retry = assumptions.find(({ name }: { name: string }) => name === 'webhook.retry')
    expect(retry).toMatchObject({ rule: 'WH1', knobs: [{ name: 'webhook.retry', value: ['1s'] }] })
  })
})
