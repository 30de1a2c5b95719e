/** What the control API serves beside chats, journal and events: routes, health, config, availability, keys, description. */
import type { AnySchema } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { defaultKnobs, formatKnob, KNOB_NAMES } from '../../../src/platform/contract/knobs.ts'
import { strictAjv } from '../../support/json-schema.ts'
import { startTestServer } from '../../support/test-server.ts'

test('lists the routes at the top, ignores a final slash, treats HEAD as GET, and journals nothing', async () => {
  const { server, control } = await startTestServer()
  const globals = [globalThis.Request, globalThis.Response]
  for (const path of ['', '/'])
    expect(await (await fetch(`${server.url}/_sim${path}`)).json()).toMatchObject({
      routes: expect.arrayContaining(['GET /_sim/readyz']),
    })
  expect((await fetch(`${server.url}/_sim/state/`, { method: 'HEAD' })).status).toBe(200)
  const { status, headers } = await control('DELETE', '/chats')
  expect([status, headers.get('allow')]).toEqual([405, 'POST, GET'])
  expect(server.journal.query()).toEqual([])
  expect([globalThis.Request, globalThis.Response]).toEqual(globals)
})

test('reports health, and serves both OpenAPI documents', async () => {
  const { server, control } = await startTestServer({ baseUrl: 'https://bot.example.test/here' })
  expect((await control('GET', '/livez')).body).toMatchObject({ status: 'live' })
  expect((await control('GET', '/readyz')).body).toMatchObject({ status: 'ready', version: expect.any(String) })
  expect((await control('GET', '/openapi.json')).body.servers).toEqual([{ url: server.url }])
  const platform = (await control('GET', '/platform-openapi.json')).body
  expect(platform.servers).toEqual([{ url: 'https://bot.example.test/here' }])
})

test('a change of the config applies at once, and is answered with the whole config', async () => {
  const { control } = await startTestServer()
  const patch = { 'typing.webhook': 'off', 'webhook.url': 'http://127.0.0.1:9/hook', 'webhook.retry': ['1s', '5s'] }
  const { status, body } = await control('PATCH', '/config', { body: patch })
  expect([status, body]).toMatchObject([200, patch])
  expect((await control('GET', '/state')).body.config).toEqual(body)
  expect((await control('GET', '/config')).body).toEqual(body)
  const { assumptions } = (await control('GET', '/assumptions')).body
  expect(assumptions.find(({ name }: { name: string }) => name === 'webhook.retry')).toMatchObject({
    ...{ rule: 'WH1', knobs: [{ name: 'webhook.retry', value: ['1s', '5s'] }] },
  })
})

test('sets the availability as in the workspace', async () => {
  const { control } = await startTestServer()
  expect((await control('GET', '/state')).body.availability).toMatchObject([
    { bot_id: 1042, queue: 'DEFAULT', availability: 'OPEN', updated_at: null, open: true },
  ])
  const closed = { availability: 'CLOSED', reason: 'BUSINESS_HOURS' }
  const { body } = await control('PUT', '/availability', { body: closed })
  expect(body).toMatchObject({ ...closed, open: false })
  expect((await control('GET', '/state')).body.availability).toEqual([body])
})

test('keys are shown as they are by their route, and by no other', async () => {
  const knobs = { 'keys.handover': 'first-secret', 'keys.bot': 'second-secret', 'keys.more': ['third:secret:7'] }
  const webhook = { url: 'http://me:hidden@127.0.0.1:9/hook' }
  const { server, control } = await startTestServer({ knobs, webhook, bot: { id: 5 } })
  expect((await control('GET', '/keys')).body).toEqual({
    ...{ api_key: 'first-secret', bot_api_key: 'second-secret', webhook_secret: 'first-secret', bot_id: 5 },
    more: [{ api_key: 'third:secret', bot_id: 7 }],
    url: server.url,
    webhook_url: 'http://***@127.0.0.1:9/hook',
  })
  for (const path of ['/description', '/state', '/config', '/journal'])
    expect(JSON.stringify((await control('GET', path)).body)).not.toMatch(/secret"|third|hidden/)
})

describe('the description', () => {
  const ajv = strictAjv()
  const accepts = (schema: AnySchema, value: unknown) => ajv.validate(schema, value)

  test('lists every knob with its form, default, value and assumption, and only values that are accepted', async () => {
    const { control } = await startTestServer({ knobs: { 'bot.delay': '2s', 'keys.bot': 'mine' } })
    const { knobs, assumptions } = (await control('GET', '/description')).body
    expect(knobs.map(({ name }: { name: string }) => name)).toEqual(KNOB_NAMES)
    expect(Object.fromEntries(knobs.map((knob: { name: string }) => [knob.name, knob]))).toMatchObject({
      'bot.delay': { type: 'duration', default: '0s', value: '2s', changed: true },
      'keys.bot': { type: 'text', value: '***', changed: true },
      'webhook.order': {
        type: 'choice',
        allowed: 'chat | none | shuffle',
        changed: false,
        assumption: 'webhook.order',
      },
      'typing.clearOn': { type: 'list', values: ['end', 'message'], can_be_off: true },
      'webhook.algorithm': { assumption: 'webhook.signature' },
    })
    const defaults = defaultKnobs()
    for (const { name, type, values = [], can_be_off, assumption, ...knob } of knobs) {
      expect(assumptions).toContainEqual(expect.objectContaining({ name: assumption }))
      expect(knob.default).toEqual(formatKnob(name, defaults[name as 'bot.delay']))
      const offered = type === 'list' ? values.map((value: string) => [value]) : values
      for (const value of [...offered, ...(can_be_off ? ['off'] : [])]) {
        const { status, body } = await control('PATCH', '/config', { body: { [name]: value } })
        expect([status, body[name]], name).toEqual([200, value])
      }
    }
  })

  test('has examples that fit their schemas, and the schema of the faults that the route takes', async () => {
    const { control } = await startTestServer()
    const { endpoints, events, fault: schema, fault_effects } = (await control('GET', '/description')).body
    for (const { id, body, example } of endpoints) expect(body === null || accepts(body, example), id).toBe(true)
    for (const { name, body, example } of events) expect(accepts(body, example), name).toBe(true)
    for (const [api, status] of [
      ['start', 201],
      ['begin', 422],
    ] as const) {
      const fault = { on: { api }, respond: { status: 503 }, times: 2 }
      expect(accepts(schema, fault)).toBe(status === 201)
      expect((await control('POST', '/faults', { body: fault })).status).toBe(status)
    }
    const { on, name, chat_id, times, skip, every, while_new, gap, ...effects } = schema.$defs.Fault.properties
    expect([on, name, chat_id, times, skip, every, while_new, gap]).not.toContain(undefined)
    expect([...fault_effects.api, ...fault_effects.webhook].sort()).toEqual(Object.keys(effects).sort())
  })

  test('lists transcripts and languages with which a chat can begin', async () => {
    const { control } = await startTestServer()
    const { transcripts, languages } = (await control('GET', '/description')).body
    const shown = async (body: object, text?: string) => {
      const { chat_id } = (await control('POST', '/chats', { body })).body
      if (text !== undefined) await control('POST', `/chats/${chat_id}/messages`, { body: { text } })
      return (await control('GET', `/chats/${chat_id}`)).body
    }
    for (const { name, language } of transcripts) expect((await shown({ transcript: name })).language).toBe(language)
    for (const { code, texts } of languages)
      expect((await shown({ language: code }, '?')).messages.at(-1).text).toBe(texts.unsure)
  })
})
