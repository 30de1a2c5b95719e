/** Tests the results of steps that act: the answer of the webhook, and what the agent driver did. */
import { describe, expect, it } from 'vitest'
import { Evaluator } from '../../src/evaluation/evaluator/evaluator.ts'
import { driverFailureText } from '../../src/platform/wording/failures.ts'
import { type Delivered, journalOf, planOf } from '../scenario/journal-builder.ts'
import {
  begin,
  call,
  driven,
  end,
  finish,
  type Happening,
  observe,
  step,
  stimulus,
  testVerdicts,
  type VerdictCase,
} from './verdicts.ts'

const REFUSED = { code: 'connection_refused', target: '127.0.0.1:3100', system_code: 'ECONNREFUSED' } as const
const TIMEOUT = { status: null, failure: { code: 'timeout', timeout_ms: 10_000 } } as const
const PRESS = { press: 'handover' }
const CHECK = { check: { status: 'bot' } }
const PRESSED = { steps: [PRESS, CHECK] }
const CHECKED = step(2, observe(2))

/** One event and its answers, in a scenario that expects nothing else. */
const answered = (
  answers: readonly Delivered[],
  failure: object | 'pass',
  written: object = PRESS,
  event = 'REQUESTING TAKEOVER',
): VerdictCase => [
  { steps: [written, CHECK] },
  [call('transcript'), stimulus(1, event, answers), CHECKED],
  failure === 'pass' ? 'pass' : [failure],
]

const FORGED = { deliver: { event: 'REQUESTING TAKEOVER', sign: 'wrong-key', ack: 'non-2xx' } }
const REPLAY = { steps: [{ ...PRESS, id: 's1' }, { deliver: { replay: 's1', ack: 'non-2xx' } }, CHECK] }
const ASYNC = { steps: [{ user: { text: 'Hi', async: true, ack: 200 } }, CHECK] }
const COPY = { attempt: 2, duplicate: true } as const

const sentOnly: Happening = journal => {
  journal.begin(1)
  journal.end(1, { delivery_id: journal.event('MESSAGE FROM USER') })
}

const replayed = (status: number): readonly Happening[] => [
  stimulus(1),
  journal => journal.step(2, () => journal.delivery('d1', { status, attempt: 2, resent: true }), { delivery_id: 'd1' }),
  step(3, observe(3)),
]

describe('the answer of the webhook', () => {
  testVerdicts({
    'is 200 to a named event': answered([{ status: 200 }], 'pass'),
    'is that of the last attempt': answered(
      [
        { status: 503, retry_in_ms: 10 },
        { status: 200, attempt: 2 },
      ],
      'pass',
    ),
    'may have any status': answered([{ status: 500 }], 'pass', { user: { text: 'Hi', ack: 'any' } }),
    'may be expected to have another status': answered([{ status: 202 }], 'pass', { user: { text: 'Hi', ack: 202 } }),
    'to a copy that a fault sent does not decide': answered([{ status: 200 }, { status: 409, ...COPY }], 'pass'),
    'to a copy must not be a server error': answered([{ status: 200 }, { status: 500, ...COPY }], {
      happened: 'the webhook answered 500 to REQUESTING TAKEOVER (sent a second time) after 5 ms, expected 200: ok',
    }),
    'with another status is shown with the start of the body': answered(
      [{ status: 500, body: 'TypeError: x is not a function', took: 31 }],
      {
        kind: 'stimulus',
        step: { number: 1 },
        expected: 'status 200 from the webhook to REQUESTING TAKEOVER within 10s',
        happened:
          'the webhook answered 500 to REQUESTING TAKEOVER after 31 ms, expected 200: TypeError: x is not a function',
        rules: ['WH2'],
        entrySeqs: [7],
      },
    ),
    'with 204 does not acknowledge': answered([{ status: 204, body: '' }], {
      happened: 'the webhook answered 204 to REQUESTING TAKEOVER after 5 ms, expected 200: an empty body',
      hint: 'Only 200 acknowledges this event.',
    }),
    'refuses a valid signature': answered([{ status: 401 }], { hint: /raw bytes/ }),
    'is missing with the failure of the transport': answered([TIMEOUT], {
      kind: 'stimulus',
      happened:
        /^no answer to REQUESTING TAKEOVER from http:\/\/127\.0\.0\.1:3000\/webhook: timeout: no complete answer/,
      hint: 'Answer the webhook first, and do the work after it.',
    }),
    'is missing when none arrives in time': answered([], {
      happened: 'the webhook did not answer REQUESTING TAKEOVER within 10s',
    }),
    'does not count after the step has failed': [
      PRESSED,
      [
        journal => {
          journal.begin(1)
          const delivery_id = journal.event('REQUESTING TAKEOVER')
          journal.end(1, { delivery_id })
          journal.delivery(delivery_id)
        },
      ],
      [{ happened: 'the webhook did not answer REQUESTING TAKEOVER within 10s' }],
      { steps: ['fail', 'not reached'] },
    ],
    'is too late when the platform waits less than the scenario': [
      { ...PRESSED, timeouts: { ack: '20s' } },
      [stimulus(1, 'REQUESTING TAKEOVER', [TIMEOUT])],
      [{ hint: /waits only 10s: config: \{ webhook\.timeout/ }],
    ],
    'is inconclusive when the run stopped before it was due': [
      { steps: [{ user: { text: 'Hi', async: true } }, CHECK] },
      [sentOnly, CHECKED, finish({ stopped: { code: 'interrupted', signal: 'SIGINT' } })],
      [
        {
          happened:
            'the webhook had not answered MESSAGE FROM USER when the scenario was stopped: interrupted by SIGINT',
        },
        { kind: 'stopped' },
      ],
      { outcome: 'inconclusive' },
    ],
    'fails when the last of several attempts failed': answered(
      [
        { status: 503, retry_in_ms: 10 },
        { status: 500, attempt: 2 },
      ],
      { happened: /^the webhook answered 500 to REQUESTING TAKEOVER \(attempt 2\)/ },
    ),
    'fails when it is too slow': answered([{ took: 11_000 }], {
      happened: /^the webhook answered 200 to REQUESTING TAKEOVER after 11 s, expected 200 within 10s/,
    }),
    'refuses a forged event': answered([{ status: 401, sign: 'wrong-key' }], 'pass', FORGED),
    'must refuse a forged event': answered(
      [{ status: 200, sign: 'wrong-key' }],
      {
        expected: 'a refusal (no 2xx) from the webhook to REQUESTING TAKEOVER within 10s',
        rules: ['A4'],
        hint: 'Does the intermediary verify the signature before it does anything else?',
      },
      FORGED,
    ),
    'may be any 2xx for typing events': answered(
      [{ status: 204, event: 'AGENT TYPING START' }],
      'pass',
      { deliver: { event: 'AGENT TYPING START' } },
      'AGENT TYPING START',
    ),
    'is not required without an event': [{ steps: [{ user: 'Hi' }, CHECK] }, [stimulus(1, null), CHECKED], 'pass'],
    'refuses a replay': [REPLAY, replayed(409), 'pass'],
    'of a replay is evaluated alone': [REPLAY, replayed(200), [{ step: { number: 2 } }]],
  })

  it.each([
    [200, 'pass'],
    [500, 'fail'],
  ])('of %s to an async step is evaluated at the end: %s', async (status, outcome) => {
    const plan = await planOf(ASYNC)
    const evaluator = new Evaluator(plan)
    const journal = journalOf(plan)
    const id = journal.event('MESSAGE FROM USER')
    journal.step(1, () => {}, { delivery_id: id })
    journal.step(2, () => journal.observe(2, {}))
    const before = journal.entries.length
    journal.delivery(id, { status, event: 'MESSAGE FROM USER' })
    journal.finish()
    for (const entry of journal.entries.slice(0, before)) evaluator.add(entry)
    expect(evaluator.failed(1)).toBe(false)
    for (const entry of journal.entries.slice(before)) evaluator.add(entry)
    expect(evaluator.finish().outcome).toBe(outcome)
  })
})

const INBOX_NOT_LIST = { code: 'inbox_not_list', received: 'an object: {"items":[{"request":true}]}' } as const
const CLOSED = { code: 'connection_closed', target: '127.0.0.1:3000', system_code: 'UND_ERR_SOCKET' }

describe('an agent step', () => {
  const ACCEPT = { steps: [PRESS, { agent: 'accept' }, CHECK] }
  const accepting = (answer: object, failure: object): VerdictCase => [
    ACCEPT,
    [stimulus(1), driven(2, 'accept', answer)],
    [failure],
  ]
  testVerdicts({
    'passes when the driver succeeded': [ACCEPT, [stimulus(1), driven(2, 'accept'), step(3, observe(3))], 'pass'],
    'fails with the refusal of the agent desk': accepting(
      { outcome: 'failed', status: 404, answer: 'no such chat' },
      {
        kind: 'driver',
        step: { number: 2 },
        expected: 'agent accept',
        happened: 'agent accept failed: POST http://desk/x: answered 404: no such chat',
      },
    ),
    'explains a chat of an earlier run': accepting(
      { outcome: 'failed', status: 409, answer: 'chat is open' },
      { hint: /earlier run.*--seed/ },
    ),
    'refers to the driver file for a missing command': accepting(
      { outcome: 'unreachable', failure: { code: 'program_not_found', program: './agent.sh' } },
      { hint: 'Commands run in the folder of the driver file, without a shell.' },
    ),
    'reports the answer of the desk once': accepting(
      { outcome: 'failed', status: 200, failure: INBOX_NOT_LIST, answer: '{"items": [{"request": true}]}' },
      { happened: `agent accept failed: POST http://desk/x: ${driverFailureText(INBOX_NOT_LIST)}` },
    ),
    'refers to the log of the desk after a broken connection': accepting(
      { outcome: 'unreachable', failure: CLOSED },
      { hint: /what does the log of the intermediary say\?/ },
    ),
    'fails when the desk is unreachable and the intermediary is not': accepting(
      { outcome: 'unreachable', failure: REFUSED },
      { kind: 'driver' },
    ),
    'is an error when desk and intermediary are unreachable': [
      { steps: [{ agent: 'accept' }, CHECK] },
      [driven(1, 'accept', { outcome: 'unreachable', failure: REFUSED })],
      [{ kind: 'environment' }],
      { outcome: 'error', reason: `agent accept failed: POST http://desk/x: ${driverFailureText(REFUSED)}` },
    ],
    'is inconclusive without the verb': [
      ACCEPT,
      [stimulus(1), begin(2), end(2, { missing: 'accept' })],
      'pass',
      { outcome: 'inconclusive', steps: ['pass', 'inconclusive', 'not reached'] },
    ],
  })
})
