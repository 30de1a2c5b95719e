/** Tests which call an `expect` claims, by when, and what it captures. */
import { describe, expect, it } from 'vitest'
import { Evaluator } from '../../src/evaluation/evaluator/evaluator.ts'
import { journalOf, planOf } from '../scenario/journal-builder.ts'
import { answeredAfter, begin, call, end, pass, step, stimulus, testVerdicts } from './verdicts.ts'

const PRESS = { press: 'handover' }
const PRESS_START = { steps: [PRESS, { expect: 'start' }] }
const TWO = { steps: [PRESS, { expect: 'start' }, { expect: 'message' }] }
const MESSAGE_FROM_USER = stimulus(3, 'MESSAGE FROM USER')
const ANNA = { sender: { name: 'Anna' } }

describe('the turn', () => {
  testVerdicts({
    'has the calls before the answer of the webhook': [
      PRESS_START,
      [answeredAfter(1, call('start')), step(2)],
      'pass',
      { claimed: [[], [5]] },
    ],
    'has the calls during the step': [PRESS_START, [stimulus(1), step(2, call('start'))], 'pass'],
    'has no call of the previous turn': [
      { steps: [PRESS, { expect: 'start' }, { user: 'Hi' }, { expect: 'message' }] },
      [stimulus(1), step(2, call('start')), call('message'), MESSAGE_FROM_USER, step(4, pass(5000))],
      [
        {
          kind: 'expect',
          conversation: 'main',
          step: { number: 4, of: 4 },
          why: /^before the turn: 10 ms before step 3 began/,
        },
      ],
    ],
    'has all calls since the start without an earlier stimulus': [
      { steps: [{ expect: 'start' }] },
      [call('start'), step(1)],
      'pass',
    ],
  })
})

const SINCE = {
  steps: [
    { ...PRESS, id: 'pressed' },
    { expect: 'start' },
    { user: 'Hi' },
    { expect: { message: {}, since: 'pressed' } },
    { expect: 'typing_start' },
  ],
}
const AWAY = { expect: { availability: { availability: 'CLOSED' } } }
const CLOSED = call('availability', { availability: 'CLOSED' })

describe('order', () => {
  testVerdicts({
    'the next step claims a later call': [
      TWO,
      [stimulus(1), call('message'), step(2, call('start')), step(3, pass(5000))],
      [{ why: 'earlier than #10, the call of step 2', hint: /all:/ }],
      { steps: ['pass', 'pass', 'fail'] },
    ],
    'calls are ordered by the time they were read, not answered': [
      TWO,
      [stimulus(1), step(2, pass(3000), call('message'), call('start', {}, { took: 2000 })), step(3)],
      'pass',
    ],
    '`since` considers earlier calls in any order': [
      SINCE,
      [
        ...[stimulus(1), step(2, call('start')), MESSAGE_FROM_USER],
        ...[call('typing_start'), call('message'), step(4), step(5)],
      ],
      'pass',
      { claimed: [[], [9], [], [17], [16]] },
    ],
    '`since` considers calls of an earlier turn': [
      SINCE,
      [
        ...[stimulus(1), call('message'), step(2, call('start')), MESSAGE_FROM_USER],
        ...[step(4), step(5, call('typing_start'))],
      ],
      'pass',
      { claimed: [[], [10], [], [8], [20]] },
    ],
    'availability calls have an order of their own': [
      { steps: [{ agent: 'away' }, { expect: 'start' }, AWAY] },
      [step(1), CLOSED, call('start'), step(2), step(3)],
      'pass',
    ],
    'a step that waits for availability claims an availability call': [
      { steps: [{ agent: 'away' }, AWAY] },
      [step(1), step(2, CLOSED)],
      'pass',
    ],
  })
})

describe('groups', () => {
  const SEQ = { steps: [PRESS, { expect: { seq: ['start', 'message'] } }] }
  testVerdicts({
    'all accepts any order, and leaves a call to the more specific part': [
      { steps: [PRESS, { expect: { all: ['message', { message: { message: 'a' } }, 'typing_stop'] } }] },
      [stimulus(1), step(2, call('typing_stop'), call('message', { message: 'a' }), call('message', { message: 'b' }))],
      'pass',
      { claimed: [[], [9, 10, 11]] },
    ],
    'seq rejects another order': [
      SEQ,
      [stimulus(1), step(2, call('message'), call('start'), pass(5000))],
      [{ happened: /^no call of message matches; nearest: #9 message/ }],
    ],
    'seq accepts the order': [SEQ, [stimulus(1), step(2, call('start'), call('message'))], 'pass'],
    'oneOf accepts any one of its calls': [
      { steps: [PRESS, { expect: { oneOf: ['end', 'start'] } }] },
      [stimulus(1), step(2, call('start'))],
      'pass',
      { claimed: [[], [9]] },
    ],
  })
})

describe('several chats', () => {
  const steps = [
    { parallel: [[{ ...PRESS, chat: 'ada' }], [{ ...PRESS, chat: 'bo' }]] },
    { expect: 'start', chat: 'ada' },
    { expect: 'start', chat: 'bo' },
  ]
  testVerdicts({
    'after parallel, a check considers calls since the earliest stimulus of all branches': [
      { chats: { ada: {}, bo: {} }, steps },
      [
        ...[begin(2), call('start', {}, { conversation: 'bo' })],
        ...[begin(1), call('start', {}, { conversation: 'ada' })],
        ...[end(1), end(2), step(3), step(4)],
      ],
      'pass',
    ],
  })
})

describe('how often', () => {
  const times = (wanted: unknown, more: object = {}) => ({
    steps: [PRESS, { expect: { message: {}, times: wanted, ...more } }],
  })
  const later = (message: string) => [
    ...[stimulus(1), step(2, call('message', { message: 'Hello' })), MESSAGE_FROM_USER],
    ...[step(4, call('typing_start')), call('message', { message })],
  ]
  const TWO_TURNS = { steps: [PRESS, { expect: 'message' }, { user: 'Hi' }, { expect: 'typing_start' }] }
  testVerdicts({
    'too few calls are reported with their number': [
      times(3),
      [stimulus(1), step(2, call('message'), call('message'), pass(5000))],
      [{ kind: 'expect', happened: 'message was called only twice within 5s (#9, #10), expected exactly 3 times' }],
    ],
    'later calls within the bounds are claimed': [
      times({ min: 1, max: 2 }),
      [stimulus(1), step(2, call('message')), call('message')],
      'pass',
    ],
    'too many calls give one failure with all of them': [
      times({ min: 1, max: 2 }),
      [stimulus(1), step(2, call('message')), call('message'), call('message'), call('message')],
      [
        {
          kind: 'times',
          expected: 'message 1 to 2 times',
          step: { number: 2 },
          entrySeqs: [12, 13],
          happened:
            /^message was called 4 times, expected 1 to 2 times: #9, #11, #12, #13; the first one too many is #12, 10 ms/,
        },
      ],
    ],
    'apart reports calls that are too close': [
      times(2, { apart: '1s' }),
      [stimulus(1), step(2, call('message'), pass(500), call('message'))],
      [
        {
          kind: 'times',
          happened: 'message was called again too soon: #9 and #10 are 0.5 s apart, expected at least 1s',
        },
      ],
    ],
    'apart includes calls beyond the minimum': [
      times({ min: 1, max: 3 }, { apart: '1s' }),
      [stimulus(1), step(2, call('message')), pass(2000), call('message'), call('message')],
      [
        {
          kind: 'times',
          step: { number: 2 },
          happened: 'message was called again too soon: #11 and #12 are 10 ms apart, expected at least 1s',
        },
      ],
    ],
    'a second call in the turn is reported as surplus': [
      PRESS_START,
      [stimulus(1), step(2, call('start')), pass(3000), call('start')],
      [
        {
          kind: 'times',
          expected: 'start exactly once',
          happened: 'start was called twice, expected exactly once: #9, and #11 3.0 s later',
        },
      ],
    ],
    'much later, a call with the same text is surplus': [TWO_TURNS, later('Hello'), [{ kind: 'times' }]],
    'much later, a call with another text is unexpected': [TWO_TURNS, later('Bye'), [{ kind: 'unexpected' }]],
  })
})

describe('within', () => {
  const BOUNDED = {
    steps: [PRESS, { expect: { start: {}, within: '2s' } }, { expect: { message: {}, within: '1s' } }],
  }
  testVerdicts({
    'counts from the stimulus, and from the last claimed call when that is later': [
      BOUNDED,
      [stimulus(1), step(2, pass(1800), call('start')), step(3, pass(900), call('message'))],
      'pass',
    ],
    'reports how late a late call is': [
      BOUNDED,
      [stimulus(1), step(2, call('start')), step(3, pass(1690), call('message'))],
      [
        {
          expected: 'expect message within 1s of #9',
          happened: /^no call of message matches; nearest: #12 message \+1\.\d\d s: 0\.7 s late$/,
          hint: /timeouts/,
        },
      ],
    ],
    'accepts a call that is read in time and answered late': [
      BOUNDED,
      [stimulus(1), step(2, pass(1900), call('start', {}, { took: 500 })), step(3, call('message'))],
      'pass',
    ],
    'reports a call after the end of the step': [
      PRESS_START,
      [stimulus(1), step(2, pass(5000)), pass(690), call('start')],
      [{ why: '0.7 s late' }],
    ],
    'reports a call that was read in time and answered after the end of the step': [
      PRESS_START,
      [stimulus(1), step(2, pass(5000)), pass(1990), call('start', {}, { took: 4000, faults: ['slow'] })],
      [{ why: 'read in time, but answered 2.0 s after the step ended' }],
    ],
    'counts its default from the start of the step': [
      PRESS_START,
      [answeredAfter(1, pass(8000)), step(2, pass(4900), call('start'))],
      'pass',
    ],
  })
})

describe('captures', () => {
  const CAPTURING = {
    steps: [
      PRESS,
      { expect: { start: {}, times: 2, capture: { who: 'body.sender.name', answer: 'response.chatmessage_id' } } },
      { expect: { message: { sender: { name: '$(who)' } } } },
    ],
  }
  testVerdicts({
    'come from the last matching call': [
      CAPTURING,
      [
        stimulus(1),
        step(
          2,
          call('start', {}, { status: 503, faults: ['flaky'], response: null }),
          call('start', ANNA, { response: { chatmessage_id: 'm7' } }),
        ),
        step(3, call('message', ANNA)),
      ],
      'pass',
      { captures: { who: 'Anna', answer: 'm7' } },
    ],
    'of a missing field fail their step': [
      CAPTURING,
      [stimulus(1), step(2, call('start'), call('start'))],
      [
        {
          kind: 'expect',
          step: { number: 2 },
          happened: '#10 start has no body.sender.name to capture as who',
        },
      ],
    ],
  })

  it('are separate in each chat', async () => {
    const capture = { expect: { start: {}, capture: { who: 'body.sender.name' } } }
    const plan = await planOf({
      steps: [{ parallel: { users: 2, steps: [PRESS, capture, { user: 'Hi $(who)' }] } }],
    })
    const journal = journalOf(plan)
    const evaluator = new Evaluator(plan)
    for (const number of [1, 4]) journal.stimulus(number)
    for (const number of [2, 5]) journal.begin(number)
    journal.call('start', { sender: { name: 'A' } }, { conversation: 'user 1' })
    journal.call('start', { sender: { name: 'B' } }, { conversation: 'user 2' })
    for (const number of [2, 5]) journal.end(number)
    for (const entry of journal.entries) evaluator.add(entry)
    expect(['user 1', 'user 2'].map(name => evaluator.variables.scopeOf(name).who)).toEqual(['A', 'B'])
  })
})
