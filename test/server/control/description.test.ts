import type { AnySchema } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { defaultKnobs, formatKnob, KNOB_NAMES } from '../../../src/platform/contract/knobs.ts'
import { createControlClient } from '../../support/control-client.ts'
import { strictAjv } from '../../support/json-schema.ts'

const ajv = strictAjv()
const accepts = (schema: AnySchema, value: unknown) => ajv.validate(schema, value)

test('keys are shown as they are; only their route and a request for them show them', async () => {
  const knobs = { 'keys.handover': 'first-secret', 'keys.bot': 'second-secret', 'keys.more': ['third:secret:7'] }
  const webhook = { url: 'http://me:hidden@127.0.0.1:9/hook' }
  await using server = await startSimulator({ port: 0, knobs, webhook, bot: { id: 5 } })
  const ask = createControlClient(server)
  expect((await ask('GET', '/keys')).body).toEqual({
    api_key: 'first-secret',
    bot_api_key: 'second-secret',
    webhook_secret: 'first-secret',
    bot_id: 5,
    more: [{ api_key: 'third:secret', bot_id: 7 }],
    url: server.url,
    webhook_url: 'http://***@127.0.0.1:9/hook',
  })
  for (const path of ['/description', '/state', '/config', '/journal'])
    expect(JSON.stringify((await ask('GET', path)).body)).not.toMatch(/secret"|third|hidden/)
})

test('a workspace shows its own keys, after a change the new ones', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const made = (await ask('POST', '/workspaces', { body: { name: 'checkout' } })).body
  const path = '/workspaces/checkout/keys'
  expect((await ask('GET', path)).body).toMatchObject({ api_key: made.api_key, bot_id: made.bot_id, webhook_url: null })
  await ask('PATCH', '/workspaces/checkout/config', { body: { 'keys.handover': 'changed' } })
  expect((await ask('GET', path)).body).toMatchObject({ api_key: 'changed', webhook_secret: 'changed' })
})

test('keys are for callers that pass the access check', async () => {
  await using server = await startSimulator({ port: 0, controlToken: 'open-sesame' })
  const ask = createControlClient(server)
  expect((await ask('GET', '/keys')).status).toBe(401)
  const headers = { authorization: 'Bearer open-sesame' }
  expect((await ask('GET', '/keys', { headers })).status).toBe(200)
  const foreign = { ...headers, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  expect((await ask('GET', '/keys', { headers: foreign })).status).toBe(403)
})

test('the description lists every knob with its form, default, value and assumption', async () => {
  await using server = await startSimulator({ port: 0, knobs: { 'bot.delay': '2s', 'keys.bot': 'mine' } })
  const { body } = await createControlClient(server)('GET', '/description')
  const knobs = new Map<string, Record<string, unknown>>(body.knobs.map((knob: { name: string }) => [knob.name, knob]))
  expect([...knobs.keys()]).toEqual(KNOB_NAMES)
  expect(knobs.get('bot.delay')).toMatchObject({ type: 'duration', default: '0s', value: '2s', changed: true })
  expect(knobs.get('keys.bot')).toMatchObject({ type: 'text', value: '***', changed: true })
  expect(knobs.get('webhook.order')).toEqual({
    name: 'webhook.order',
    type: 'choice',
    values: ['chat', 'none', 'shuffle'],
    allowed: 'chat | none | shuffle',
    default: 'chat',
    value: 'chat',
    changed: false,
    assumption: 'webhook.order',
  })
  expect(knobs.get('typing.clearOn')).toMatchObject({ type: 'list', values: ['end', 'message'], can_be_off: true })
  expect(knobs.get('chat.idleTimeout')).toMatchObject({ type: 'duration', can_be_off: true, default: 'off' })
  expect(knobs.get('limits.attachmentKb')).toMatchObject({ type: 'count', can_be_off: true })
  expect(knobs.get('webhook.algorithm')).toMatchObject({ assumption: 'webhook.signature' })
  const assumptions = new Set(body.assumptions.map(({ name }: { name: string }) => name))
  for (const { assumption } of body.knobs) expect(assumptions).toContain(assumption)
})

test('every value that the description offers for a choice is accepted', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const { body } = await ask('GET', '/description')
  for (const { name, type, values = [], can_be_off } of body.knobs) {
    const offered = type === 'list' ? values.map((value: string) => [value]) : values
    for (const value of [...offered, ...(can_be_off ? ['off'] : [])]) {
      const { status, body: config } = await ask('PATCH', '/config', { body: { [name]: value } })
      expect([status, config[name]], name).toEqual([200, value])
    }
  }
  const defaults = defaultKnobs()
  for (const { name, default: initial } of body.knobs)
    expect(initial).toEqual(formatKnob(name, defaults[name as 'bot.delay']))
})

test('examples fit their schemas, and the schema of a fault says what the route takes', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const { body } = await ask('GET', '/description')
  for (const { id, body: schema, example } of body.endpoints)
    expect(schema === null || accepts(schema, example), id).toBe(true)
  for (const { name, body: schema, example } of body.events) expect(accepts(schema, example), name).toBe(true)
  const fault = { on: { api: 'start' }, respond: { status: 503 }, times: 2 }
  expect(accepts(body.fault, fault)).toBe(true)
  expect((await ask('POST', '/faults', { body: fault })).status).toBe(201)
  const { on, name, chat_id, times, skip, every, gap, ...effects } = body.fault.$defs.Fault.properties
  expect([on, name, chat_id, times, skip, every, gap]).not.toContain(undefined)
  expect([...body.fault_effects.api, ...body.fault_effects.webhook].sort()).toEqual(Object.keys(effects).sort())
  const wrong = { on: { api: 'begin' }, respond: { status: 503 } }
  expect(accepts(body.fault, wrong)).toBe(false)
  expect((await ask('POST', '/faults', { body: wrong })).status).toBe(422)
})

test('a chat can begin with every transcript and in every language of the description', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const { body } = await ask('GET', '/description')
  for (const { name, language } of body.transcripts) {
    const { chat_id } = (await ask('POST', '/chats', { body: { transcript: name } })).body
    expect((await ask('GET', `/chats/${chat_id}`)).body.language).toBe(language)
  }
  for (const { code, texts } of body.languages) {
    const { chat_id } = (await ask('POST', '/chats', { body: { language: code } })).body
    await ask('POST', `/chats/${chat_id}/messages`, { body: { text: '?' } })
    expect((await ask('GET', `/chats/${chat_id}`)).body.messages.at(-1).text).toBe(texts.unsure)
  }
})
