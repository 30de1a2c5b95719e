/** Which failures a report shows together, by their codes and data. */
import { expect, it } from 'vitest'
import type { Failure, Happened } from '../../src/evaluation/evaluator/failure.ts'
import { describeFailure } from '../../src/evaluation/evaluator/wording/report.ts'

const groupOf = (happened: Happened, more: Partial<Failure> = {}) =>
  describeFailure({
    kind: 'contract',
    step: null,
    conversation: null,
    expected: { code: 'accepted_call', endpoint: 'message' },
    happened,
    rules: [],
    nearest: [],
    entrySeqs: [],
    soft: false,
    ...more,
  }).group

const CALL = { seq: 4, endpoint: 'message', method: 'POST', path: '/message/' } as const
const REFUSED = { code: 'refused_call', call: CALL, status: 400, error: 'invalid_parameter', seqs: [4] } as const
const about = (field: string, message: string) => groupOf({ ...REFUSED, field, message })

it('failures with different texts, entries and conversations are in one group', () => {
  expect(about('message', 'message is 5001 long')).toBe(about('message', 'message must not be empty'))
  const later = { ...REFUSED, call: { ...CALL, seq: 9 }, seqs: [9, 12], field: null, message: null }
  expect(groupOf(later, { conversation: 'bo' })).toBe(groupOf({ ...later, call: CALL, seqs: [4] }))
})

it.each([
  ['field', { field: 'sender.name' }],
  ['status', { status: 404 }],
  ['error', { error: 'chat_not_found' }],
])('a different %s gives another group', (_, more) => {
  const refused = { ...REFUSED, field: 'message', message: null }
  expect(groupOf({ ...refused, ...more })).not.toBe(groupOf(refused))
})
