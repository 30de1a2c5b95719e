/** Tests which call an `expect` claims, by when, and what it captures. */
import { describe } from 'vitest'
import { answeredAfter, begin, call, during, end, pass, step, stimulus, testVerdicts } from './verdicts.ts'

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
    'has no call of the previous turn': [
      { steps: [PRESS, { expect: 'start' }, { user: 'Hi' }, { expect: 'message' }] },
      [...during(call('start')), call('message'), MESSAGE_FROM_USER, step(4, pass(5000))],
      { conversation: 'main', step: { number: 4, of: 4 }, why: /^before the turn: 10 ms before step 3/ },
    ],
    'has all calls without an earlier stimulus': [{ steps: [{ expect: 'start' }] }, [call('start'), step(1)]],
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
const TWO_CHATS = [
  { parallel: [[{ ...PRESS, chat: 'ada' }], [{ ...PRESS, chat: 'bo' }]] },
  { expect: 'start', chat: 'ada' },
  { expect: 'start', chat: 'bo' },
]

describe('order', () => {
  testVerdicts({
    'the next step claims a later call': [
      TWO,
      [stimulus(1), call('message'), step(2, call('start')), step(3, pass(5000))],
      { why: 'earlier than #10, the call of step 2', hint: /all:/ },
      { steps: ['pass', 'pass', 'fail'] },
    ],
    'calls are ordered by the time they were read, not answered': [
      TWO,
      [...during(pass(3000), call('message'), call('start', {}, { took: 2000 })), step(3)],
    ],
    '`since` considers earlier calls in any order': [
      SINCE,
      [...[...during(call('start')), MESSAGE_FROM_USER], ...[call('typing_start'), call('message'), step(4), step(5)]],
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
    ],
    'after parallel, a check considers calls since the earliest stimulus of all branches': [
      { chats: { ada: {}, bo: {} }, steps: TWO_CHATS },
      [
        ...[begin(2), call('start', {}, { conversation: 'bo' })],
        ...[begin(1), call('start', {}, { conversation: 'ada' })],
        ...[end(1), end(2), step(3), step(4)],
      ],
    ],
  })
})

describe('groups', () => {
  const SEQ = { steps: [PRESS, { expect: { seq: ['start', 'message'] } }] }
  testVerdicts({
    'all accepts any order, and leaves a call to the more specific part': [
      { steps: [PRESS, { expect: { all: ['message', { message: { message: 'a' } }, 'typing_stop'] } }] },
      during(call('typing_stop'), call('message', { message: 'a' }), call('message', { message: 'b' })),
      'pass',
      { claimed: [[], [9, 10, 11]] },
    ],
    'seq rejects another order': [
      SEQ,
      during(call('message'), call('start'), pass(5000)),
      /^no call of message matches; nearest: #9 message/,
    ],
    'seq accepts the order': [SEQ, during(call('start'), call('message'))],
    'oneOf accepts any one of its calls': [
      { steps: [PRESS, { expect: { oneOf: ['end', 'start'] } }] },
      during(call('start')),
      'pass',
      { claimed: [[], [9]] },
    ],
  })
})

describe('how often', () => {
  const times = (wanted: unknown, more: object = {}) => ({
    steps: [PRESS, { expect: { message: {}, times: wanted, ...more } }],
  })
  const later = (message: string) => [
    ...[...during(call('message', { message: 'Hello' })), MESSAGE_FROM_USER],
    ...[step(4, call('typing_start')), call('message', { message })],
  ]
  const TWO_TURNS = { steps: [PRESS, { expect: 'message' }, { user: 'Hi' }, { expect: 'typing_start' }] }
  const ONE = [...during(call('message')), call('message')]
  testVerdicts({
    'too few calls are reported with their number': [
      times(3),
      during(call('message'), call('message'), pass(5000)),
      /^message was called only twice within 5s \(#9, #10\), expected exactly 3 times$/,
    ],
    'later calls within the bounds are claimed': [times({ min: 1, max: 2 }), ONE],
    'too many calls give one failure with all of them': [
      times({ min: 1, max: 2 }),
      [...ONE, call('message'), call('message')],
      {
        ...{ kind: 'times', expected: 'message 1 to 2 times', step: { number: 2 }, entrySeqs: [12, 13] },
        happened:
          /^message was called 4 times, expected 1 to 2 times: #9, #11, #12, #13; the first one too many is #12/,
      },
    ],
    'apart reports calls that are too close': [
      times(2, { apart: '1s' }),
      during(call('message'), pass(500), call('message')),
      { kind: 'times', happened: /called again too soon: #9 and #10 are 0\.5 s apart, expected at least 1s$/ },
    ],
    'apart includes calls beyond the minimum': [
      times({ min: 1, max: 3 }, { apart: '1s' }),
      [...during(call('message')), pass(2000), call('message'), call('message')],
      { kind: 'times', step: { number: 2 }, happened: /: #11 and #12 are 10 ms apart, expected at least 1s$/ },
    ],
    'a second call in the turn is reported as surplus': [
      PRESS_START,
      [...during(call('start')), pass(3000), call('start')],
      { kind: 'times', happened: 'start was called twice, expected exactly once: #9, and #11 3.0 s later' },
    ],
    'much later, a call with the same text is surplus': [TWO_TURNS, later('Hello'), { kind: 'times' }],
    'much later, a call with another text is unexpected': [TWO_TURNS, later('Bye'), { kind: 'unexpected' }],
  })
})

describe('within', () => {
  const BOUNDED = {
    steps: [PRESS, { expect: { start: {}, within: '2s' } }, { expect: { message: {}, within: '1s' } }],
  }
  testVerdicts({
    'counts from the stimulus, and from the last claimed call when that is later': [
      BOUNDED,
      [...during(pass(1800), call('start')), step(3, pass(900), call('message'))],
    ],
    'reports how late a late call is': [
      BOUNDED,
      [...during(call('start')), step(3, pass(1690), call('message'))],
      {
        expected: 'expect message within 1s of #9',
        happened: /^no call of message matches; nearest: #12 message \+1\.\d\d s: 0\.7 s late$/,
        hint: /timeouts/,
      },
    ],
    'accepts a call that is read in time and answered late': [
      BOUNDED,
      [...during(pass(1900), call('start', {}, { took: 500 })), step(3, call('message'))],
    ],
    'reports a call after the end of the step': [
      PRESS_START,
      [...during(pass(5000)), pass(690), call('start')],
      { why: '0.7 s late' },
    ],
    'reports a call that was read in time and answered after the end of the step': [
      PRESS_START,
      [...during(pass(5000)), pass(1990), call('start', {}, { took: 4000, faults: ['slow'] })],
      { why: 'read in time, but answered 2.0 s after the step ended' },
    ],
    'counts from the start of its step': [
      PRESS_START,
      [answeredAfter(1, pass(8000)), step(2, pass(4900), call('start'))],
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
  const FAULTY = call('start', {}, { status: 503, faults: ['flaky'], response: null })
  testVerdicts({
    'come from the last matching call': [
      CAPTURING,
      [...during(FAULTY, call('start', ANNA, { response: { chatmessage_id: 'm7' } })), step(3, call('message', ANNA))],
      'pass',
      { captures: { who: 'Anna', answer: 'm7' } },
    ],
    'of a missing field fail their step': [
      CAPTURING,
      during(call('start'), call('start')),
      { kind: 'expect', step: { number: 2 }, happened: '#10 start has no body.sender.name to capture as who' },
    ],
  })
})
