/** Tests what the agent sees: inbox items that are new in the turn, each claimed once. */
import { describe } from 'vitest'
import type { InboxItem } from '../../src/evaluation/scenario/run-events.ts'
import { begin, driven, end, inbox, pass, reading, stimulus, testVerdicts, type VerdictCase } from './verdicts.ts'

type Items = readonly (InboxItem | string)[]

const said = (number = 1) => stimulus(number, 'MESSAGE FROM USER')
const sees = (item: unknown, more: object = {}) => ({ steps: [{ user: 'Hello' }, { agent: { sees: item, ...more } }] })
const HELLO = sees('Hello')

/** What the agent sees before the turn, at each look in the step, and whether that fails. */
const looks = (scenario: object, before: Items, after: readonly Items[], failure?: object): VerdictCase => [
  scenario,
  [inbox(...before), said(), reading(2, after, failure === undefined ? 500 : 5000)],
  failure ?? 'pass',
]
/** Two texts of the user, and a step for each. */
const twoSteps = (first: string, second: string, third: string, fourth: string) => ({
  steps: [{ user: first }, { user: second }, { agent: { sees: third } }, { agent: { sees: fourth } }],
})
const twoReadings = (items: Items) => [inbox(), said(), said(2), reading(3, [items]), reading(4, [items], 5000)]

const FILE = { text: 'Hello', attachments: [{ name: 'a.pdf' }] }
const STATUS = { code: 'status', status: 500, body: 'boom' }
const UNREADABLE = { outcome: 'failed', status: 500, failure: STATUS, answer: 'boom' }

describe('sees', () => {
  testVerdicts({
    'passes when the item arrives': looks(HELLO, [], [[], ['Hello']]),
    'ignores an item from before the turn': looks(HELLO, ['Hello'], [['Hello']], {
      kind: 'sees',
      expected: 'agent sees "Hello" exactly once within 5s',
      happened: 'the agent did not see "Hello" within 5s: the inbox has no new item',
      nearest: [{ what: 'inbox item 1 "Hello"', why: 'in the inbox before the turn' }],
    }),
    'shows the most similar new item': looks(
      HELLO,
      [],
      [['hello', 'Bye']],
      /: nearest: inbox item 1: text: expected "Hello", received "hello" \(only upper and lower case differ\)$/,
    ),
    'matches files': looks(sees(FILE), [], [[{ text: 'Hello', attachments: [{ name: 'a.pdf', url: 'x' }] }]]),
    'reports an item that is before the item of an earlier step': [
      twoSteps('A', 'B', 'B', 'A'),
      twoReadings(['A', 'B']),
      /: inbox item 1 "A" is in the inbox, but before inbox item 2 "B" of step 3$/,
    ],
    'takes two items with two steps': [twoSteps('ok', 'ok', 'ok', 'ok'), twoReadings(['ok', 'ok'])],
    'takes no item twice': [
      twoSteps('ok', 'ok', 'ok', 'ok'),
      twoReadings(['ok']),
      { step: { number: 4 }, happened: /has only inbox item 1 "ok", which is already claimed by step 3$/ },
    ],
    'knows the items that the conversation before the handover came above': [
      { steps: [{ user: 'a' }, { agent: { sees: 'a' } }, { user: 'a' }, { agent: { sees: 'a' } }] },
      [inbox(), said(), reading(2, [['a']]), said(3), reading(4, [['before', 'a', 'a']], 500)],
      'pass',
    ],
    'does not take an earlier item with a later step': [
      { steps: [{ user: 'a' }, { agent: { sees: 'b' } }, { agent: { sees: 'a' } }] },
      [inbox(), said(), reading(2, [['a', 'b']]), reading(3, [['a', 'b']], 5000)],
      { step: { number: 3 } },
    ],
    'starts again when an inbox became shorter': looks(HELLO, ['a', 'b', 'Hello'], [['Hello']]),
    'ignores an observation that started too late': [
      sees('Hello', { within: '1s' }),
      [
        ...[inbox(), said(), begin(2), pass(1500)],
        journal => journal.inbox(['Hello'], journal.entries.at(-1)!.seq),
        end(2),
      ],
      { kind: 'sees' },
    ],
    'ignores tokens in the text': looks({ tokens: true, ...HELLO }, [], [['Hello ⟦k3f9x2⟧']]),
    'reports an unreadable inbox with the error of the driver': [
      HELLO,
      [said(), driven(2, 'inbox', UNREADABLE, 5000)],
      { kind: 'driver', happened: /^agent sees .* failed: POST http:\/\/desk\/x: answered 500: boom$/ },
    ],
    'is inconclusive without an inbox': [
      HELLO,
      [said(), begin(2), end(2, { missing: 'inbox' })],
      'pass',
      { outcome: 'inconclusive', reason: /^step 2 \(agent sees "Hello"\) needs inbox, and the agent driver has only/ },
    ],
  })
})

describe('the number of items', () => {
  const TWICE = ['Hello', 'Hello']
  const once = sees('Hello', { times: 1, for: '500ms' })
  const atMostOne = sees('Hello', { times: { min: 0, max: 1 }, for: '500ms' })
  const several = sees('Hello', { times: { min: 2, max: 3 } })
  testVerdicts({
    'must be one, in the last observation before the end': [
      HELLO,
      [inbox(), said(), reading(2, [['Hello']]), inbox(...TWICE)],
      { step: { number: 2 }, happened: /^the agent saw "Hello" twice, expected exactly once: inbox item 1 .* item 2/ },
    ],
    'may be higher when the user repeated the text': [
      { steps: [...HELLO.steps, { user: 'Hello' }] },
      [inbox(), said(), reading(2, [['Hello']]), said(3), inbox(...TWICE)],
    ],
    'may be at least a number': looks(several, [], [['Hello'], TWICE]),
    'may be too small': looks(several, [], [['Hello']], /^the agent saw "Hello" only once within 5s/),
    'stays during `for`': looks(once, [], [['Hello']]),
    'must not grow during `for`': looks(once, [], [['Hello'], TWICE], {
      happened: /^the agent saw "Hello" twice/,
      expected: 'agent sees "Hello" exactly once for 500ms',
    }),
    'may be zero during `for`': looks(atMostOne, [], [[]]),
    'may be one during `for`': looks(atMostOne, [], [['Hello']]),
    'may not be two during `for`': looks(atMostOne, [], [TWICE], {}),
  })
})
