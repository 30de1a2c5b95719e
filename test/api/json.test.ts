import { expect, it } from 'vitest'
import { encode } from '../support/api.ts'
import { lastMessage } from '../support/chats.ts'
import { CHAT_BODY_IDS, HANDOVER_IDS, HISTORY, post, stateOf, validBody } from '../support/raw-requests.ts'
import { setUpChat } from '../support/test-simulator.ts'

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

it.each([
  ...BROKEN.map(([name, body]) => [name, 'invalid_json', body] as const),
  ...NO_OBJECTS.map(body => [body, 'invalid_parameter', body] as const),
])('E0.2 ER1 a body that is %s is refused with 400 %s, and the call has no effect', async (_, code, body) => {
  const setup = await setUpChat({ chat: { history: HISTORY } })
  const before = stateOf(setup, setup.chat)
  for (const id of HANDOVER_IDS) {
    const answer = await post(setup, id, body)
    expect([answer.status, answer.body.error?.code, answer.body.error?.field]).toEqual([400, code, null])
    const marks = code === 'invalid_json' ? 'errors.body' : 'errors.body, errors.validation'
    expect(answer.headers.get('x-handover-sim-unspecified')).toBe(marks)
  }
  expect(stateOf(setup, setup.chat)).toEqual(before)
})

it.each(HANDOVER_IDS)('ER1 %s ignores unknown fields, and uses the last of equal keys', async id => {
  const setup = await setUpChat({ chat: { history: HISTORY } })
  const good = JSON.stringify(validBody(id, setup.sim.botId, setup.chat.id)).slice(1, -1)
  const overridden = id === 'availability' ? '"availability":"nonsense"' : '"chat_id":"nowhere"'
  const body = `{${overridden},${good},"extra":{"deep":[1]},"Chat_ID":"y"}`
  const { status, headers } = await post(setup, id, body)
  expect(status).toBe(200)
  expect(headers.get('x-handover-sim-unspecified')?.split(', ')).toContain('api.unknownFields')
  const ignored = ['extra', 'Chat_ID'].map(field => `${field} is not a known field; it was ignored.`)
  const { findings } = setup.sim.journal.query({ kind: 'api' }).at(-1)!
  expect(findings.map(({ message }) => message)).toEqual(expect.arrayContaining(ignored))
})

it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
  'ER1 the key %s is an unknown field like any other, in the body, a sender and a button',
  async key => {
    const setup = await setUpChat()
    const { sim, api, chat } = setup
    const evil = `"${key}":{"polluted":true,"label":"evil","handover":true,"name":"evil"}`
    const ids = `"bot_id":${sim.botId},"chat_id":"${chat.id}"`
    const sender = `{"name":"Kari","avatar":"x",${evil}}`
    const body = `{${ids},"message":"hi","sender":${sender},"buttons":[{${evil}}],${evil}}`
    expect((await post(setup, 'message', body)).status).toBe(200)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect([lastMessage(chat).name, lastMessage(chat).buttons[0]?.label]).toEqual(['Kari', undefined])
    await expect(chat.press('evil')).rejects.toThrow('no button')
    expect((await api.chat(chat.id)).status).toBe(200)
  },
)

it('ER1 whole numbers may be written as 1042.0 or 1.042e3, a byte order mark may come first', async () => {
  const setup = await setUpChat()
  const { chat } = setup
  for (const number of ['1042.0', '1.042e3']) {
    expect((await post(setup, 'start', `\ufeff {"bot_id":${number},"chat_id":"${chat.id}"}\r\n`)).status).toBe(200)
  }
})

it.each(CHAT_BODY_IDS)('ER1 ER4 %s: refuses a body nested 100,000 deep, and answers the next call', async id => {
  const setup = await setUpChat({ chat: { history: HISTORY } })
  const { sim, chat } = setup
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const good = JSON.stringify(validBody(id, sim.botId, chat.id)).slice(0, -1)
  const before = stateOf(setup, chat)
  for (const field of [`"extra":${deep}`, `"buttons":[{"label":"x","deep":${deep}}]`]) {
    expect((await post(setup, id, `${good},${field}}`)).status).toBe(400)
  }
  expect(() => JSON.stringify(sim.journal.query())).not.toThrow()
  expect(stateOf(setup, chat)).toEqual(before)
})

it('ER4 accepts 200 levels, and does not count brackets in texts', async () => {
  const setup = await setUpChat()
  const { sim, api, chat } = setup
  const good = JSON.stringify(validBody('message', sim.botId, chat.id)).slice(0, -1)
  const nested = (levels: number) => `${good},"extra":${'['.repeat(levels)}"\\"[[["${']'.repeat(levels)}}`
  expect((await post(setup, 'message', nested(199))).status).toBe(200)
  expect((await post(setup, 'message', nested(200))).status).toBe(400)
  const brackets = '[{"'.repeat(500)
  expect((await api.message({ chat_id: chat.id, message: brackets })).status).toBe(200)
  expect(lastMessage(chat).text).toBe(brackets)
})
