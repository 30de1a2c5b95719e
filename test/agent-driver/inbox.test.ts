/** What an inbox may be, and what is said about one that is not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInbox } from '../../src/running/agent-driver/create-driver.ts'
import { context, drive, never, openDesk, withError } from './desk.ts'

const WANTED = 'the inbox must be a list of { request?, text?, attachments? }'

describe('an inbox', () => {
  it.each([
    ['{"error":"x"}', `${WANTED}, received an object: {"error":"x"}`],
    ['"a"', `${WANTED}, received the string "a"`],
    ['', `${WANTED}, as JSON; received nothing`],
    ['<html>\n<p>Log in', `${WANTED}, as JSON; received Log in`],
    ['[{"text":"a"},"b"]', `${WANTED}; item 2: must be an object, received the string "b"`],
    ['[[]]', `${WANTED}; item 1: must be an object, received an array of 0`],
    ['[{"request":1}]', `${WANTED}; item 1: request must be true, false or left out, received the number 1`],
    ['[{"text":1}]', `${WANTED}; item 1: text must be a string or left out, received the number 1`],
    ['[{"attachments":{}}]', 'attachments must be a list of objects or left out, received an object: {}'],
    ['[{"attachments":["a.pdf"]}]', 'attachments must be a list of objects or left out, received an array of 1'],
    [`[{"text":"${'x'.repeat(1_100_000)}"}]`, 'answered 200 with more than 1 MiB'],
  ])('is refused: %#', async (text, error) => {
    const desk = await openDesk((_, response) => void response.end(text))
    const { driver } = await drive(`http: ${desk.url}\ninbox: { GET: /inbox }`)
    const read = await driver.call('inbox', context(), never)
    expect(read).toMatchObject({ outcome: 'failed', status: 200, error: expect.stringContaining(error) })
    expect(read).not.toHaveProperty('items')
  })

  it.each([
    ['null', []],
    ['[{"text":null,"request":true,"note":null,"more":1}]', [{ request: true, note: null, more: 1 }]],
  ])('reads null as left out, and keeps unknown fields: %s', (text, items) => {
    expect(parseInbox({ outcome: 'ok', text })).toEqual({ outcome: 'ok', text, items })
  })

  it('of any value does not throw, and reports what is wrong', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 2 }), value => {
        const { outcome, items, error } = withError(parseInbox({ outcome: 'ok', value }))
        if (outcome !== 'ok') expect(error).toContain(WANTED)
        else expect(items).toHaveLength(value === null ? 0 : (value as unknown[]).length)
      }),
    )
  })
})
