/** How refusals look, and what is refused only when asked for. */
import { expect, test } from 'vitest'
import { AGENT, assumedBy, call, post, sends, takenOver, world } from './support.ts'

test('errors.body: writes the same refusal as JSON, empty, html or text', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const wrongKey = () => post(sim, 'end', chat, {}, { key: 'nobody' })
  const json = await wrongKey()
  expect(json.json).toEqual({ error: { code: 'unauthorized', message: expect.any(String), field: 'Authorization' } })

  const forms = [
    ['empty', /^$/, null],
    ['html', /^<!doctype html>.*401/, 'text/html; charset=utf-8'],
    ['text', /^unauthorized$/, 'text/plain; charset=utf-8'],
  ] as const
  for (const [form, body, type] of forms) {
    await sim.configure({ 'errors.body': form })
    const reply = await wrongKey()
    expect(reply.status).toBe(401)
    expect(reply.text).toMatch(body)
    expect(reply.headers.get('content-type')).toBe(type)
    expect(assumedBy(reply)).toEqual(['errors.body'])
  }
})

const BAD_REQUESTS: [what: string, endpoint: string, body: object][] = [
  ['a wrong type', 'typing_start', { timeout: 'soon' }],
  ['a body field that is missing', 'message', {}],
  ['an empty message', 'message', { message: '', sender: AGENT }],
  ['a queue that is not there', 'availability', { availability: 'OPEN', queue: 'VIP' }],
]

test.each(BAD_REQUESTS)('errors.validation: answers 400 or 422 for %s', async (_what, endpoint, body) => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const before = await post(sim, endpoint, chat, body)
  expect([before.status, before.json.error.code]).toEqual([400, 'invalid_parameter'])
  await sim.configure({ 'errors.validation': '422' })
  const after = await post(sim, endpoint, chat, body)
  expect(after.status).toBe(422)
  expect(after.json).toEqual(before.json)
})

test('errors.validation: does not change the status 400 of invalid JSON', async () => {
  const { sim } = world({ knobs: { 'errors.validation': '422' } })
  const reply = await call(sim, '/api/v2/handover/end', { body: '{"bot_id":' })
  expect([reply.status, reply.json.error.code]).toEqual([400, 'invalid_json'])
})

test('errors.idMismatch: answers 404, 400 or 403 for a chat of another bot', async () => {
  const { sim } = world({ knobs: { 'keys.more': ['other-key:2002'] } })
  const chat = await sim.chat({ botId: 2002 })
  const wrongPair = () => post(sim, 'start', chat, { bot_id: sim.botId })
  const wrongKey = () => call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey })
  const statuses = async () => [(await wrongPair()).status, (await wrongKey()).status]
  expect(await statuses()).toEqual([404, 404])
  await sim.configure({ 'errors.idMismatch': '400' })
  expect(await statuses()).toEqual([400, 400])
  await sim.configure({ 'errors.idMismatch': 403 })
  expect(await statuses()).toEqual([403, 403])
  expect(assumedBy(await wrongPair())).toEqual(['errors.body', 'errors.idMismatch'])
})

test.each([
  ['sender', undefined],
  ['sender.name', { avatar: AGENT.avatar }],
  ['sender.avatar', { name: AGENT.name }],
])('strict.sender: without %s a finding, by knob a refusal', async (field, sender) => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const lenient = await post(sim, 'message', chat, { message: 'Hi', sender })
  expect(lenient.status).toBe(200)
  const [entry] = sim.journal.query({ kind: 'api' }).slice(-1)
  expect(entry).toMatchObject({ findings: [{ rule: 'R-SENDER.4', message: expect.stringContaining(field) }] })
  await sim.configure({ 'strict.sender': 'on' })
  const strict = await post(sim, 'message', chat, { message: 'Hi', sender })
  expect([strict.status, strict.json.error.field]).toEqual([400, field])
})

test('buttons.schema: accepts any object, or only one with a label', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const buttons = [{ label: 'Open', url: 'https://www.example.test' }, { weight: 3 }]
  expect((await sends(sim, chat, 'Look', { buttons })).status).toBe(200)
  expect(chat.transcript.at(-1)!.buttons).toEqual(buttons)
  await sim.configure({ 'buttons.schema': 'strict' })
  const strict = await sends(sim, chat, 'Look', { buttons })
  expect([strict.status, strict.json.error.field]).toEqual([400, 'buttons[1].label'])
  expect((await sends(sim, chat, 'Look', { buttons: buttons.slice(0, 1) })).status).toBe(200)
})

test('message.allowEmpty: refuses an empty message, or sends it', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  expect((await sends(sim, chat, '')).status).toBe(400)
  await sim.configure({ 'message.allowEmpty': 'on' })
  expect((await sends(sim, chat, '')).json.event).toBe('MESSAGE SENT TO USER')
})

test('limits.body: accepts 1 MiB and answers one byte more with 413; the knob changes the limit', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const sized = (bytes: number) => {
    const empty = JSON.stringify({ bot_id: chat.botId, chat_id: chat.id, message: '', sender: AGENT })
    return call(sim, '/api/v2/handover/message/', {
      body: empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`),
    })
  }
  expect((await sized(1_048_576)).status).toBe(200)
  expect((await sized(1_048_577)).json.error.code).toBe('payload_too_large')
  await sim.configure({ 'limits.body': 2000 })
  expect((await sized(2000)).status).toBe(200)
  expect((await sized(2001)).status).toBe(413)
})
