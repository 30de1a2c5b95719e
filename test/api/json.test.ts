import { expect, it } from 'vitest'
import { encode } from '../support/api.ts'
import { AGENT, lastMessage } from '../support/chats.ts'
import { CHAT_BODY_IDS, HANDOVER_IDS, HISTORY, post, stateOf, validBody } from '../support/raw-requests.ts'
import { setUp, setUpChat } from '../support/test-simulator.ts'

const BROKEN: [string, string | Uint8Array<ArrayBuffer>][] = [
  ['nothing', ''],
  ['blanks', ' \n\t '],
  ['a truncated object', '{"bot_id":1042,"chat_id":"x'],
  ['a trailing comma', '{"bot_id":1042,}'],
  ['single quotes', "{'bot_id':1042}"],
  ['a comment', '{"bot_id":1042}//'],
  ['two values', '{}{}'],
  ['a form', 'bot_id=1042&chat_id=x'],
  ['NaN', '{"bot_id":NaN}'],
  ['a raw line break in a string', '{"chat_id":"a\nb"}'],
  ['a lone continuation byte', Uint8Array.from([0x22, 0x80, 0x22])],
  ['an overlong sequence', Uint8Array.from([0x22, 0xc0, 0xaf, 0x22])],
  ['a UTF-8 surrogate', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['a text cut inside a character', encode('"é"').slice(0, 2)],
  ['UTF-16', Uint8Array.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0])],
  ['zeros', new Uint8Array(16)],
]

const NO_OBJECTS = ['null', 'true', '0', '"text"', '[]', '[{"bot_id":1042,"chat_id":"x"}]']

it.each(BROKEN)('E0.2 ER1 %s is not JSON: the answer is 400 and the call has no effect', async (_, body) => {
  const harness = await setUpChat({ chat: { history: HISTORY } })
  const { chat } = harness
  const before = stateOf(harness, chat)
  for (const id of HANDOVER_IDS) {
    const answer = await post(harness, id, body)
    expect([answer.status, answer.body.error?.code, answer.body.error?.field]).toEqual([400, 'invalid_json', null])
    expect(answer.headers.get('x-handover-sim-unspecified')).toBe('errors.body')
  }
  expect(stateOf(harness, chat)).toEqual(before)
})

it.each(NO_OBJECTS)('E0.2 ER1 the body %s is not an object: the answer is 400', async text => {
  const harness = await setUp()
  for (const id of HANDOVER_IDS) {
    const { status, body } = await post(harness, id, text)
    expect([status, body.error?.code]).toEqual([400, 'invalid_parameter'])
    expect(body.error?.message).toContain('must be a JSON object')
  }
})

it.each(HANDOVER_IDS)('ER1 %s ignores unknown fields with a finding and a mark', async id => {
  const harness = await setUpChat({ chat: { history: HISTORY } })
  const { chat } = harness
  const good = validBody(id, harness.sim.botId, chat.id)
  const { status, headers } = await post(harness, id, JSON.stringify({ ...good, extra: { deep: [1] }, Chat_ID: 'y' }))
  expect(status).toBe(200)
  expect(headers.get('x-handover-sim-unspecified')?.split(', ')).toContain('api.unknownFields')
  const calls = harness.sim.journal.query({ kind: 'api' })
  const ignored = ['extra', 'Chat_ID'].map(field => `${field} is not a known field; it was ignored.`)
  expect(calls.at(-1)?.findings.map(finding => finding.message)).toEqual(expect.arrayContaining(ignored))
})

it('ER1 unknown fields inside sender are found, those of a button pass through', async () => {
  const { sim, api, chat } = await setUpChat()
  const body = {
    chat_id: chat.id,
    message: 'hi',
    sender: { ...AGENT, role: 'x' },
    buttons: [{ label: 'a', b: { c: 1 } }],
  }
  await api.message(body)
  expect(sim.journal.query({ kind: 'api' }).at(-1)).toMatchObject({
    findings: [{ message: 'sender.role is not a known field; it was ignored.' }],
  })
  expect(lastMessage(chat).buttons).toEqual([{ label: 'a', b: { c: 1 } }])
})

it('ER1 api.unknownFields=400 refuses unknown fields', async () => {
  const { api, chat } = await setUpChat({ knobs: { 'api.unknownFields': '400' } })
  const refused = await api.start({ chat_id: chat.id, sender: { role: 'x' } })
  expect([refused.status, refused.body.error?.field, chat.status]).toEqual([400, 'sender.role', 'bot'])
})

it.each(HANDOVER_IDS)('ER1 %s uses the last value of a key that is given twice', async id => {
  const harness = await setUpChat({ chat: { history: HISTORY } })
  const { chat } = harness
  const good = JSON.stringify(validBody(id, harness.sim.botId, chat.id)).slice(1)
  const first = id === 'availability' ? '"availability":"nonsense"' : '"chat_id":"nowhere"'
  expect((await post(harness, id, `{${first},${good}`)).status).toBe(200)
})

it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
  'ER1 the key %s is an unknown field like any other, in the body, a sender and a button',
  async key => {
    const harness = await setUpChat()
    const { chat } = harness
    const evil = `"${key}":{"polluted":true,"label":"evil","handover":true,"name":"evil"}`
    const ids = `"bot_id":${harness.sim.botId},"chat_id":"${chat.id}"`
    const sender = `{"name":"Kari","avatar":"x",${evil}}`
    const answer = await post(
      harness,
      'message',
      `{${ids},"message":"hi","sender":${sender},"buttons":[{${evil}}],${evil}}`,
    )
    expect(answer.status).toBe(200)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect([lastMessage(chat).name, lastMessage(chat).buttons[0]?.label]).toEqual(['Kari', undefined])
    await expect(chat.press('evil')).rejects.toThrow('no button')
    expect((await harness.api.chat(chat.id)).status).toBe(200)
  },
)

it('ER1 whole numbers may be written as 1042.0 or 1.042e3, a byte order mark may come first', async () => {
  const harness = await setUpChat()
  const { chat } = harness
  for (const number of ['1042.0', '1.042e3']) {
    expect((await post(harness, 'start', `\ufeff {"bot_id":${number},"chat_id":"${chat.id}"}\r\n`)).status).toBe(200)
  }
})

it.each(CHAT_BODY_IDS)('ER1 ER4 %s: refuses a body nested 100,000 deep, and answers the next call', async id => {
  const harness = await setUpChat({ chat: { history: HISTORY } })
  const { chat } = harness
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const good = JSON.stringify(validBody(id, harness.sim.botId, chat.id)).slice(0, -1)
  const before = stateOf(harness, chat)
  for (const field of [`"extra":${deep}`, `"buttons":[{"label":"x","deep":${deep}}]`]) {
    expect((await post(harness, id, `${good},${field}}`)).status).toBe(400)
  }
  expect(() => JSON.stringify(harness.sim.journal.query())).not.toThrow()
  expect(stateOf(harness, chat)).toEqual(before)
})

it('ER4 accepts 200 levels, and does not count brackets in texts', async () => {
  const harness = await setUpChat()
  const { chat } = harness
  const good = JSON.stringify(validBody('message', harness.sim.botId, chat.id)).slice(0, -1)
  const nested = (levels: number) => `${good},"extra":${'['.repeat(levels)}"\\"[[["${']'.repeat(levels)}}`
  expect((await post(harness, 'message', nested(199))).status).toBe(200)
  expect((await post(harness, 'message', nested(200))).status).toBe(400)
  const brackets = '[{"'.repeat(500)
  expect((await harness.api.message({ chat_id: chat.id, message: brackets })).status).toBe(200)
  expect(lastMessage(chat).text).toBe(brackets)
})

it('ER4 refuses a body over limits.body with 413, and accepts one of exactly that size', async () => {
  const harness = await setUpChat({ knobs: { 'limits.body': 1000 } })
  const { chat } = harness
  const good = JSON.stringify(validBody('start', harness.sim.botId, chat.id))
  const large = await post(harness, 'start', good.padEnd(1001))
  expect([large.status, large.body.error?.code]).toEqual([413, 'payload_too_large'])
  expect(large.headers.get('x-handover-sim-unspecified')).toBe('errors.body, limits.body')
  expect(chat.status).toBe('bot')
  expect((await post(harness, 'start', good.padEnd(1000))).status).toBe(200)
})
