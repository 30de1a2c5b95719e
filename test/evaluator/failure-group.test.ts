/** Which failures a report shows together, by their codes and data. */
import { expect, it } from 'vitest'
import type { Failure } from '../../src/evaluation/evaluator/failure.ts'
import { describeFailure } from '../../src/evaluation/evaluator/wording/report.ts'

const CALL = { seq: 4, endpoint: 'message', method: 'POST', path: '/message/' }
const REFUSED = { code: 'refused_call', call: CALL, status: 400, error: 'invalid_parameter', seqs: [4] }

/** The group of a refused call. */
function groupOf(more: object, conversation: string | null = null) {
  const happened = { ...REFUSED, field: 'message', message: null, ...more }
  const failure = { kind: 'contract', expected: { code: 'accepted_call', endpoint: 'message' }, happened, conversation }
  return describeFailure({ ...failure, step: null, rules: [], nearest: [], entrySeqs: [], soft: false } as Failure)
    .group
}

it.each([
  ['text', { message: 'message is 5001 long' }],
  ['entry', { call: { ...CALL, seq: 9 }, seqs: [9, 12] }],
])('another %s gives the same group, also in another conversation', (_, more) => {
  expect(groupOf(more, 'bo')).toBe(groupOf({}))
})

it.each([
  ['field', { field: 'sender.name' }],
  ['status', { status: 404 }],
  ['error', { error: 'chat_not_found' }],
])('a different %s gives another group', (_, more) => expect(groupOf(more)).not.toBe(groupOf({})))
