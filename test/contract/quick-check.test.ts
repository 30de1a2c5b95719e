import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { ENDPOINTS } from '../../src/contract/endpoints.ts'
import { quickCheckOf } from '../../src/contract/quick-check.ts'

const bodies = Object.values(ENDPOINTS).flatMap(({ id, body, response }) => [
  ...(body === null ? [] : [{ name: `the body of ${id}`, schema: body as z.ZodMiniType }]),
  { name: `the response of ${id}`, schema: response as z.ZodMiniType },
])

const NAMES = ['bot_id', 'chat_id', 'message', 'sender', 'name', 'avatar', 'language_codes', 'buttons', 'label', 'url']
const MORE_NAMES = ['handover', 'timeout', 'event', 'chatmessage_id', 'availability', 'queue', 'reason', 'extra']

/** JSON whose fields are mostly those of the contract. */
const json = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -1, 1042, 1.5, 2 ** 60, '', 'c1', 'OPEN', 'TAKEOVER STARTED'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, ...MORE_NAMES, '__proto__'), tie('value'), { maxKeys: 5 }),
  ),
})).value

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png', language_codes: ['en'] }
const VALID = [
  { bot_id: 1042, chat_id: 'c1' },
  { bot_id: 1042, chat_id: 'c1', sender },
  { bot_id: 1042, chat_id: 'c1', message: 'Hi', sender, buttons: [{ label: 'Yes', more: 1 }] },
  { bot_id: 1042, chat_id: 'c1', timeout: 500 },
  { event: 'MESSAGE SENT TO USER', chat_id: 'c1', chatmessage_id: 'm1' },
]

/** One of the valid values, with one field replaced or added. */
const altered = fc
  .tuple(fc.constantFrom(...VALID), fc.constantFrom(...NAMES, ...MORE_NAMES), json, fc.boolean())
  .map(([valid, name, value, isChanged]): unknown => (isChanged ? { ...valid, [name]: value } : valid))

describe('the quick check of a schema', () => {
  it.each(bodies)('accepts only what a parse returns unchanged: $name', ({ schema }) => {
    const check = quickCheckOf(schema)
    fc.assert(
      fc.property(fc.oneof(json, altered), value => {
        const received: unknown = JSON.parse(JSON.stringify(value))
        if (check(received)) expect(schema.parse(received)).toStrictEqual(received)
      }),
      { numRuns: 300 },
    )
  })

  it('accepts the usual calls, so that they need no parse', () => {
    const { message, start, typing_start: typing } = ENDPOINTS
    expect(VALID.map(value => quickCheckOf(message.body)(value))).toEqual([false, false, true, false, false])
    expect(VALID.map(value => quickCheckOf(start.body)(value))).toEqual([true, true, false, false, false])
    expect(VALID.map(value => quickCheckOf(typing.body)(value))).toEqual([true, false, false, true, false])
    expect(VALID.map(value => quickCheckOf(message.response)(value))).toEqual([false, false, false, false, true])
  })

  it.each([
    ['a pattern', z.string().check(z.regex(/^a/)), 'a'],
    ['a longest length', z.string().check(z.maxLength(3)), 'a'],
    ['a number that is no integer', z.number(), 1],
    ['a record with other keys', z.record(z.string().check(z.minLength(2)), z.string()), { aa: 'a' }],
    ['a union that is transformed', z.union([z.pipe(z.string(), z.transform(Number))]), 'a'],
    ['an object with bounds', z.object({}).check(z.refine(() => false)), {}],
  ])('leaves %s to the parse', (_, schema, value) => {
    expect(quickCheckOf(schema)(value)).toBe(false)
  })
})
