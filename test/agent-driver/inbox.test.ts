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
    ['null', `${WANTED}, received null`],
    ['', `${WANTED}, as JSON; received nothing`],
    ['<html>\n<p>Log in', `${WANTED}, as JSON; received Log in`],
    ['[{"text":"a"},"b"]', `${WANTED}; item 2: must be an object, received the string "b"`],
    ['[[]]', `${WANTED}; item 1: must be an object, received an array of 0`],
    ['[{"request":1}]', `${WANTED}; item 1: request must be true, false or left out, received the number 1`],
    ['[{"text":null}]', `${WANTED}; item 1: text must be a string or left out, received null`],
    [
      '[{"attachments":{}}]',
      `${WANTED}; item 1: attachments must be a list of objects or left out, received an object: {}`,
    ],
    ['[{"attachments":["a.pdf"]}]', 'attachments must be a list of objects or left out, received an array of 1'],
  ])('%s', async (text, error) => {
    const desk = await openDesk((_, response) => void response.end(text))
    const { driver } = await drive(`http: ${desk.url}\ninbox: { GET: /inbox }`)
    const read = await driver.call('inbox', context(), never)
    expect(read).toMatchObject({ outcome: 'failed', status: 200 })
    expect(read.error).toContain(error)
    expect(read).not.toHaveProperty('items')
  })

  it('of an unknown chat fails with the 404 of the help desk', async () => {
    const desk = await openDesk((_, response) => void response.writeHead(404).end())
    const { driver } = await drive(`http: ${desk.url}\ninbox: { GET: /inbox }`)
    const read = await driver.call('inbox', context(), never)
    expect(read).toMatchObject({ outcome: 'failed', status: 404, error: 'answered 404' })
  })

  it('is a failure when it is too long', async () => {
    const desk = await openDesk((_, response) => void response.end(JSON.stringify([{ text: 'x'.repeat(1_100_000) }])))
    const { driver } = await drive(`http: ${desk.url}\ninbox: { GET: /inbox }`)
    expect(await driver.call('inbox', context(), never)).toMatchObject({
      outcome: 'failed',
      error: 'answered 200 with more than 1 MiB',
    })
  })

  it('of any valid items is returned unchanged, with unknown fields', () => {
    const item = fc.record(
      {
        request: fc.boolean(),
        text: fc.string({ unit: 'binary' }),
        attachments: fc.array(fc.record({ name: fc.string(), url: fc.webUrl() }, { requiredKeys: [] })),
        note: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(item, { maxLength: 5 }), items => {
        const text = JSON.stringify(items)
        expect(parseInbox({ outcome: 'ok', text })).toEqual({ outcome: 'ok', text, items: JSON.parse(text) })
      }),
    )
  })

  it('of another value does not throw, and reports the value', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 2 }), value => {
        const { outcome, items, error } = withError(parseInbox({ outcome: 'ok', value }))
        // As JSON has it, which knows no -0.
        const wanted = outcome === 'ok' ? JSON.parse(JSON.stringify(value)) : expect.stringContaining(WANTED)
        expect(outcome === 'ok' ? items : error).toEqual(wanted)
      }),
    )
  })
})
