import { expect, it } from 'vitest'
import { HANDOVER_IDS, HISTORY, post, validBody } from '../support/raw-requests.ts'
import { setUpChat } from '../support/test-simulator.ts'

it.each([
  ['Bearer KEY', 200],
  ['bearer KEY', 200],
  ['BEARER KEY', 200],
  ['Bearer   KEY', 200],
  ['Bearer KEYx', 401],
  ['Bearer key', 401],
  ['Bearer K EY', 401],
  ['Bearer KEY KEY', 401],
  ['Bearer', 401],
  ['BearerKEY', 401],
  ['KEY', 401],
  ['Basic KEY', 401],
  ['Token KEY', 401],
  ['Bearer "KEY"', 401],
  ['Bearer kéy', 401],
  ['Bearer __proto__', 401],
])('A1 E0.3 %j answers %i', async (header, status) => {
  const { sim, api, chat } = await setUpChat()
  const headers = { authorization: header.replace(/KEY/g, sim.apiKey) }
  const answer = await api.start({ chat_id: chat.id }, { key: null, headers })
  expect(answer.status).toBe(status)
  if (status === 401) {
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(answer.body.error).toMatchObject({ code: 'unauthorized', field: 'Authorization' })
    expect(chat.status).toBe('bot')
  }
})

it.each([
  [null, 'missing'],
  ['', 'missing'],
  ['Basic abc', 'malformed'],
  ['Bearer nobody', 'unknown'],
  ['Bearer sim-bot-key', 'wrong_scope'],
  ['Bearer sim-handover-key', 'valid'],
])('A1 A3 the journal judges %j as %s', async (header, auth) => {
  const { sim, api, chat } = await setUpChat()
  await api.start({ chat_id: chat.id }, { key: null, headers: header === null ? {} : { authorization: header } })
  expect(sim.journal.query({ kind: 'api' }).at(-1)).toMatchObject({ auth })
})

it('A1 ER1 the key is checked before the body, so a wrong key reveals no ids', async () => {
  const { api } = await setUpChat()
  expect((await api.start({ chat_id: 'nowhere' }, { key: 'wrong' })).status).toBe(401)
  expect((await api.start({ chat_id: 7 }, { key: 'wrong' })).status).toBe(401)
})

it.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset=UTF-8', true],
  ['Application/JSON ; charset="utf-8"', true],
  ['text/plain', false],
  ['text/json', false],
  ['application/jsonp', false],
  ['application/x-www-form-urlencoded', false],
  ['multipart/form-data', false],
  [null, false],
])('E0.2 %j: as documented is %s, accepted either way', async (type, documented) => {
  const setup = await setUpChat({ chat: { history: HISTORY } })
  const { sim, chat } = setup
  for (const id of HANDOVER_IDS) {
    const body = JSON.stringify(validBody(id, sim.botId, chat.id))
    const { status, headers } = await post(setup, id, body, type === null ? {} : { 'content-type': type })
    expect(status).toBe(200)
    const assumed = (headers.get('x-handover-sim-unspecified') ?? '').split(', ')
    expect(assumed.includes('api.contentType')).toBe(!documented)
    const call = sim.journal.query({ kind: 'api' }).at(-1)!
    expect(call.findings.some(({ rule }) => rule === 'E0.2')).toBe(!documented)
  }
})

it('E9.1 reading a chat needs no Content-Type', async () => {
  const { sim, api, chat } = await setUpChat()
  await api.chat(chat.id)
  expect(sim.journal.query({ kind: 'api' })).toMatchObject([{ findings: [] }])
})
