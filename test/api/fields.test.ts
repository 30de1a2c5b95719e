import { expect, it } from 'vitest'
import type { EndpointId } from '../../src/platform/contract/endpoint-routes.ts'
import { CHAT_BODY_IDS, HISTORY, post, stateOf, validBody } from '../support/raw-requests.ts'
import { setUpChat } from '../support/test-simulator.ts'

/** How a field is put wrong; `MISSING` leaves it out. */
const MISSING = Symbol('missing')
type Row = readonly [ids: readonly EndpointId[], field: string, expected: string, wrong: readonly unknown[]]

const NOT_TEXT = [null, 7, true, [], {}, ['x']]
const NOT_OBJECT = [null, 7, 'x', true, [], [{}]]
const SENDERS: readonly EndpointId[] = ['start', 'end', 'message']

const TABLE: readonly Row[] = [
  [CHAT_BODY_IDS, 'bot_id', 'an integer', [MISSING, null, '1042', 1.5, true, [], {}, [1042], Number.POSITIVE_INFINITY]],
  [CHAT_BODY_IDS, 'bot_id', 'at most 9007199254740991', [9007199254740992, 1e300]],
  [CHAT_BODY_IDS, 'chat_id', 'a string', [MISSING, ...NOT_TEXT]],
  [CHAT_BODY_IDS, 'chat_id', 'a string that is not empty', ['']],
  [['message'], 'message', 'a string', [MISSING, ...NOT_TEXT]],
  [SENDERS, 'sender', 'an object', NOT_OBJECT],
  [SENDERS, 'sender.name', 'a string', NOT_TEXT],
  [SENDERS, 'sender.avatar', 'a string', NOT_TEXT],
  [SENDERS, 'sender.language_codes', 'an array', [null, 'en', 7, { 0: 'en' }]],
  [SENDERS, 'sender.language_codes[1]', 'a string', NOT_TEXT],
  [['start'], 'supports_attachment', 'true or false', [null, 'true', 1, 0, [], {}]],
  [['message'], 'buttons', 'an array', [null, {}, 'x', 7]],
  [['message'], 'buttons[1]', 'an object', NOT_OBJECT],
  [['message'], 'buttons[1].label', 'a string', NOT_TEXT],
  [['message'], 'buttons[1].url', 'a string', NOT_TEXT],
  [['message'], 'buttons[1].handover', 'true or false', [null, 'yes', 1]],
  [['typing_start'], 'timeout', 'an integer', [null, '500', 1.5, true, [], {}]],
  [['typing_start'], 'timeout', 'greater than 0', [0, -1, -5000]],
  [['availability'], 'availability', 'OPEN or CLOSED', [MISSING, null, 'open', '', 'CLOSE', 1, true, [], {}]],
  [['availability'], 'queue', 'a string', NOT_TEXT],
  [['availability'], 'reason', 'AGENT_AVAILABILITY, BUSINESS_HOURS or OTHER', [null, 'other', '', 3, []]],
]

/** The rule that describes the body of each endpoint. */
const RULES: Partial<Record<EndpointId, string>> = {
  transcript: 'E1.2',
  summarize: 'E2.2',
  availability: 'E3.2',
  start: 'E4.2',
  end: 'E5.2',
  message: 'E6.2',
  typing_start: 'E7.2',
  typing_stop: 'E8.2',
}

const CASES = TABLE.flatMap(([ids, field, expected, wrong]) =>
  ids.map(id => ({ id, field, expected, wrong, title: `${RULES[id]} ${id}: ${field} must be ${expected}` })),
)

/** The platform does not say what a null in another field means. */
const REQUIRED = ['bot_id', 'chat_id', 'message', 'availability', 'buttons[1]', 'sender.language_codes[1]']

/** A good body with one field put wrong; what surrounds it is made good. */
function withWrong(good: Record<string, unknown>, field: string, wrong: unknown): unknown {
  const [top = '', ...rest] = field.split(/[.[\]]+/).filter(part => part !== '')
  if (rest.length === 0) {
    if (wrong !== MISSING) return { ...good, [top]: wrong }
    const { [top]: _, ...others } = good
    return others
  }
  return { ...good, [top]: around(top, rest, wrong) }
}

function around(top: string, [first, second]: string[], wrong: unknown): unknown {
  if (top === 'buttons') return [{ label: 'fine' }, second === undefined ? wrong : { label: 'x', [second]: wrong }]
  const fine = { name: 'Kari', avatar: 'https://a.example.test/k.png' }
  return { ...fine, [first!]: second === undefined ? wrong : ['en', wrong] }
}

it.each(CASES)('ER1 ER4 $title', async ({ id, field, expected, wrong }) => {
  const setup = await setUpChat({ knobs: { 'api.nulls': '400' }, chat: { history: HISTORY } })
  const { sim, chat } = setup
  const before = stateOf(setup, chat)
  for (const value of wrong) {
    // JSON has no infinity, but a number that is too large.
    const written = value === Number.POSITIVE_INFINITY ? 'INFINITY' : value
    const json = JSON.stringify(withWrong(validBody(id, sim.botId, chat.id), field, written))
    const text = json.replace('"INFINITY"', '1e400')
    const { status, body } = await post(setup, id, text)
    expect([status, body.error?.code, body.error?.field], text).toEqual([400, 'invalid_parameter', field])
    expect(body.error?.message).toContain(field)
    const isLeftOut = value === null && !REQUIRED.includes(field)
    expect(body.error?.message).toContain(isLeftOut ? `${field} is null: leave it out` : expected)
    expect(body).not.toHaveProperty('event')
  }
  expect(stateOf(setup, chat)).toEqual(before)
})

it.each(CHAT_BODY_IDS)('A5 ER1 %s answers an unknown id with 404 and names the field', async id => {
  const setup = await setUpChat({ chat: { history: HISTORY } })
  const { sim, chat } = setup
  const before = stateOf(setup, chat)
  const good = validBody(id, sim.botId, chat.id)
  const wrong = [
    ['bot_id', [0, -1, sim.botId + 1, Number.MAX_SAFE_INTEGER]],
    ['chat_id', ['x', ` ${chat.id}`, chat.id.toUpperCase(), '__proto__', 'constructor', '../', 'é'.repeat(5000)]],
  ] as const
  for (const [field, values] of wrong) {
    for (const value of values) {
      const { status, body } = await post(setup, id, JSON.stringify({ ...good, [field]: value }))
      expect([status, body.error?.field], String(value)).toEqual([404, field])
    }
  }
  expect(stateOf(setup, chat)).toEqual(before)
})

it('ER4 a refusal names every wrong field in its message, the first one in `field`, and the known name', async () => {
  const setup = await setUpChat()
  const { body } = await post(setup, 'message', '{"botId":1042,"chatId":"c1","message":7}')
  expect(body.error?.field).toBe('bot_id')
  const expected = ['write bot_id instead of botId', 'write chat_id instead of chatId', 'message must be']
  for (const part of expected) expect(body.error?.message).toContain(part)
})

it('E7.2 a timeout of many years is accepted', async () => {
  const { sim, api, chat } = await setUpChat()
  const timeout = Number.MAX_SAFE_INTEGER
  expect((await api.typingStart({ chat_id: chat.id, timeout })).status).toBe(200)
  await sim.clock.advance('100000h')
  expect(chat.typing).toBe(true)
})
