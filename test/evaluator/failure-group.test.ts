/** Which failures a report shows together, by their codes and data. */
import { expect, it } from 'vitest'
import { groupOf } from '../../src/evaluation/evaluator/causes.ts'
import { createOrphan } from '../../src/evaluation/finding.ts'

const CALL = { seq: 4, endpoint: 'message', method: 'POST', path: '/message/' }
const REFUSED = { call: CALL, status: 400, error: 'invalid_parameter', field: 'message', message: null }

/** The group of a refused call. */
const group = (more: object, conversation: string | null = null) =>
  groupOf(
    createOrphan('contract', {
      ...{ code: 'refused_call', expected: 'message', happened: JSON.stringify(more) },
      ...{ details: { ...REFUSED, ...more }, conversation },
    }),
  )

it.each([
  ['text', { message: 'message is 5001 long' }],
  ['entry', { call: { ...CALL, seq: 9 } }],
])('another %s gives the same group, also in another conversation', (_, more) => {
  expect(group(more, 'bo')).toBe(group({}))
})

it.each([
  ['field', { field: 'sender.name' }],
  ['status', { status: 404 }],
  ['error', { error: 'chat_not_found' }],
])('a different %s gives another group', (_, more) => expect(group(more)).not.toBe(group({})))
