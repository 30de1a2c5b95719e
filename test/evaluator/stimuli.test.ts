/** Tests the results of steps that act: the answer of the webhook, and what the agent driver did. */
import { describe } from 'vitest'
import { driverFailureText } from '../../src/platform/wording/failures.ts'
import type { Delivered } from '../scenario/journal-builder.ts'
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
  failure as object,
]

const FORGED = { deliver: { event: 'REQUESTING TAKEOVER', sign: 'wrong-key', ack: 'non-2xx' } }
const TYPING = { deliver: { event: 'AGENT TYPING START' } }
const REPLAY = { steps: [{ ...PRESS, id: 's1' }, { deliver: { replay: 's1', ack: 'non-2xx' } }, CHECK] }
const ASYNC = { steps: [{ user: { text: 'Hi', async: true, ack: 200 } }, CHECK] }
const COPY = { attempt: 2, duplicate: true } as const
const RETRIED = { status: 503, retry_in_ms: 10 } as const

/** The event of a step, whose answer comes after the step has ended or never. */
const answeredLate =
  (event: string, isAnswered: boolean): Happening =>
  journal => {
    journal.begin(1)
    const delivery_id = journal.event(event)
    journal.end(1, { delivery_id })
    if (isAnswered) journal.delivery(delivery_id)
  }

const replayed = (status: number): readonly Happening[] => [
  stimulus(1),
  journal => journal.step(2, () => journal.delivery('d1', { status, attempt: 2, resent: true }), { delivery_id: 'd1' }),
  step(3, observe(3)),
]

describe('the answer of the webhook', () => {
  testVerdicts({
    'is 200 to a named event': answered([{ status: 200 }], 'pass'),
    'is that of the last attempt': answered([RETRIED, { status: 200, attempt: 2 }], 'pass'),
    'may have any status': answered([{ status: 500 }], 'pass', { user: { text: 'Hi', ack: 'any' } }),
    'may be expected to have another status': answered([{ status: 202 }], 'pass', { user: { text: 'Hi', ack: 202 } }),
    'to a copy that a fault sent does not decide': answered([{ status: 200 }, { status: 409, ...COPY }], 'pass'),
    'to a copy must not be a server error': answered(
      [{ status: 200 }, { status: 500, ...COPY }],
      /^the webhook answered 500 to REQUESTING TAKEOVER \(sent a second time\) after 5 ms, expected 200: ok$/,
    ),
    'with another status is shown with the start of the body': answered(
      [{ status: 500, body: 'TypeError: x is not a function', took: 31 }],
      {
        ...{ kind: 'stimulus', step: { number: 1 }, rules: ['WH2'], entrySeqs: [7] },
        expected: 'status 200 from the webhook to REQUESTING TAKEOVER within 10s',
        happened: /^the webhook answered 500 .* after 31 ms, expected 200: TypeError: x is not a function$/,
      },
    ),
    'with 204 does not acknowledge': answered([{ status: 204, body: '' }], {
      happened: /answered 204 .*, expected 200: an empty body$/,
      hint: 'Only 200 acknowledges this event.',
    }),
    'refuses a valid signature': answered([{ status: 401 }], { hint: /raw bytes/ }),
    'is missing with the failure of the transport': answered([TIMEOUT], {
      kind: 'stimulus',
      happened: /^no answer to REQUESTING TAKEOVER from http:\/\/127\.0\.0\.1:3000\/webhook: timeout: /,
      hint: 'Answer the webhook first, and do the work after it.',
    }),
    'is missing when none arrives in time': answered([], /^the webhook did not answer .* within 10s$/),
    'does not count after the step has failed': [
      PRESSED,
      [answeredLate('REQUESTING TAKEOVER', true)],
      /^the webhook did not answer REQUESTING TAKEOVER within 10s$/,
      { steps: ['fail', 'not reached'] },
    ],
    'is too late when the platform waits less than the scenario': [
      { ...PRESSED, timeouts: { ack: '20s' } },
      [stimulus(1, 'REQUESTING TAKEOVER', [TIMEOUT])],
      { hint: /waits only 10s: config: \{ webhook\.timeout/ },
    ],
    'is inconclusive when the run stopped before it was due': [
      ASYNC,
      [
        answeredLate('MESSAGE FROM USER', false),
        ...[CHECKED, finish({ stopped: { code: 'interrupted', signal: 'SIGINT' } })],
      ],
      [/had not answered MESSAGE FROM USER when the scenario was stopped: interrupted by SIGINT$/, { kind: 'stopped' }],
      { outcome: 'inconclusive' },
    ],
    'fails when the last of several attempts failed': answered(
      [RETRIED, { status: 500, attempt: 2 }],
      /^the webhook answered 500 .* \(attempt 2\)/,
    ),
    'fails when it is too slow': answered([{ took: 11_000 }], /answered 200 .* after 11 s, expected 200 within 10s/),
    'refuses a forged event': answered([{ status: 401, sign: 'wrong-key' }], 'pass', FORGED),
    'must refuse a forged event': answered(
      [{ status: 200, sign: 'wrong-key' }],
      { expected: /^a refusal \(no 2xx\) from the webhook/, rules: ['A4'], hint: /verify the signature before/ },
      FORGED,
    ),
    'may be any 2xx for typing events': answered(
      [{ status: 204, event: 'AGENT TYPING START' }],
      'pass',
      TYPING,
      'AGENT TYPING START',
    ),
    'is not required without an event': [{ steps: [{ user: 'Hi' }, CHECK] }, [stimulus(1, null), CHECKED]],
    'refuses a replay': [REPLAY, replayed(409)],
    'of a replay is evaluated alone': [REPLAY, replayed(200), { step: { number: 2 } }],
  })
})

const REFUSED = { code: 'connection_refused', target: '127.0.0.1:3100', system_code: 'ECONNREFUSED' } as const
const BROKEN = { code: 'status', status: 500, body: 'no such table' } as const
const CLOSED = { code: 'connection_closed', target: '127.0.0.1:3000', system_code: 'UND_ERR_SOCKET' }

describe('an agent step', () => {
  const ACCEPT = { steps: [PRESS, { agent: 'accept' }, CHECK] }
  const accepting = (answer: object, failure: object): VerdictCase => [
    ACCEPT,
    [stimulus(1), driven(2, 'accept', answer)],
    failure,
  ]
  testVerdicts({
    'passes when the driver succeeded': [ACCEPT, [stimulus(1), driven(2, 'accept'), step(3, observe(3))]],
    'fails with the refusal of the agent desk': accepting(
      { outcome: 'failed', status: 404, answer: 'no such chat' },
      {
        ...{ kind: 'driver', step: { number: 2 }, expected: 'agent accept' },
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
      { outcome: 'failed', status: 500, failure: BROKEN, answer: 'no such table' },
      { happened: `agent accept failed: POST http://desk/x: ${driverFailureText(BROKEN)}` },
    ),
    'refers to the log of the desk after a broken connection': accepting(
      { outcome: 'unreachable', failure: CLOSED },
      { hint: /what does the log of the intermediary say\?/ },
    ),
    'is an error when desk and intermediary are unreachable': [
      { steps: [{ agent: 'accept' }, CHECK] },
      [driven(1, 'accept', { outcome: 'unreachable', failure: REFUSED })],
      { kind: 'environment' },
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
