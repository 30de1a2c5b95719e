/** Tests what must not happen: `none`, `never`, and unexpected, late and refused calls. */
import { describe } from 'vitest'
import {
  answeredAfter,
  call,
  during,
  finish,
  type Happening,
  observe,
  pass,
  step,
  stimulus,
  testVerdicts,
  type VerdictCase,
} from './verdicts.ts'

const PRESS = { press: 'handover' }
const CHATS = { ada: {}, bo: {} }
const PENDING = step(3, observe(3, { status: 'pending' }))
const START = { steps: [PRESS, { expect: 'start' }] }
/** A scenario of which nothing is left to expect. */
const STARTED = during(call('start'))

describe('none', () => {
  const QUIET = { steps: [PRESS, { none: { start: {}, for: '500ms' } }, { check: { status: 'pending' } }] }
  const UP_TO_TWO = { expect: { message: {}, times: { min: 1, max: 2 } } }
  testVerdicts({
    'passes after its time': [
      { ...QUIET, strict: { allow: ['typing_start'] } },
      [...during(call('typing_start'), pass(500)), PENDING],
    ],
    'fails when a call arrives, and reports it once': [
      QUIET,
      during(call('start')),
      {
        ...{ kind: 'none', expected: 'none start for 500ms', rules: ['E4'], entrySeqs: [9] },
        happened: '#9 start was called at +0.01 s, expected none for 500ms',
      },
      { steps: ['pass', 'fail', 'not reached'] },
    ],
    'includes calls of the turn before the step began': [
      QUIET,
      [answeredAfter(1, call('start')), step(2)],
      /^#5 start .* at -0\.03 s \(before this step/,
    ],
    'ignores calls that are claimed, or that another step can claim': [
      { steps: [PRESS, UP_TO_TWO, { none: { message: {}, for: '500ms' } }] },
      [...during(call('message')), step(3, call('message'), pass(500))],
    ],
    'ignores later calls and calls of other chats': [
      { chats: CHATS, steps: QUIET.steps.map(one => ({ ...one, chat: 'ada' })) },
      [
        ...during(call('start', {}, { conversation: 'bo' }), pass(500)),
        PENDING,
        call('start', {}, { conversation: 'ada' }),
      ],
      ['bo', 'ada'].map(conversation => ({ kind: 'unexpected', conversation })),
      { steps: ['pass', 'pass', 'pass'] },
    ],
  })
})

describe('never', () => {
  const NEVER = { never: ['start'], steps: [{ wait: '1s' }] }
  testVerdicts({
    'applies to the whole run, to claimed calls and to every chat': [
      { never: [{ message: { message: { $re: '/<script/i' } } }], steps: [PRESS, { expect: 'message' }] },
      during(call('message', { message: '<SCRIPT>' })),
      { kind: 'never', step: null, expected: 'never message { message: /<script/i }', entrySeqs: [9] },
    ],
    'is reported with its values': [
      { vars: { bad: 'Boo' }, never: [{ message: { message: '$(bad)' } }], steps: [{ wait: '1s' }] },
      [call('message', { message: 'Boo' }), step(1)],
      { expected: 'never message { message: "Boo" }' },
    ],
    'reports a call after the end as late': [NEVER, [step(1), finish(), call('start')], { kind: 'late' }],
    'reports an unclaimed call once': [
      NEVER,
      [step(1), call('start'), call('start')],
      { kind: 'never', happened: /^start must never be called, but #5 start .*, and 1 more \(#6\)$/ },
    ],
  })
})

describe('unexpected calls', () => {
  const twice = (endpoint: string) => [...STARTED, call(endpoint, { message: 'Hi' }), call(endpoint, { message: 'Ho' })]
  const strict = (settings: unknown) => ({ ...START, strict: settings })
  const STARTING = { expect: { start: { supports_attachment: true } }, chat: 'ada' }
  testVerdicts({
    ...Object.fromEntries(
      ['transcript', 'summarize', 'chat', 'availability'].map(endpoint => [
        `do not include ${endpoint}`,
        [START, twice(endpoint)],
      ]),
    ),
    'fail, with one line for each kind': [
      strict(true),
      twice('message'),
      {
        ...{ kind: 'unexpected', expected: 'a step for every call', rules: ['E6'], entrySeqs: [11, 12] },
        happened: 'no step expects #11 message { message: "Hi" } at +0.10 s, and 1 more (#12)',
      },
    ],
    'may include what the scenario allows': [strict({ allow: ['message'] }), twice('message')],
    'may include nothing else': [strict({ allow: ['message'] }), twice('transcript'), { kind: 'unexpected' }],
    'can be warnings': [strict({ unexpected: 'warn' }), twice('message'), 'pass', { warnings: ['unexpected-call'] }],
    'can be ignored': [strict({ unexpected: 'off' }), twice('message'), 'pass', { warnings: [] }],
    'include availability if the scenario mentions it': [
      { steps: [{ check: { availability: 'OPEN' } }] },
      [step(1, observe(1)), call('availability', { availability: 'OPEN' })],
      { kind: 'unexpected', conversation: null, rules: ['E3'] },
    ],
    'are not reported after a failure of their chat': [
      { chats: CHATS, steps: [{ ...PRESS, chat: 'ada' }, STARTING] },
      [
        ...during(call('start', {}, { conversation: 'ada' }), pass(5000)),
        ...[call('message', {}, { conversation: 'ada' }), call('message', {}, { conversation: 'bo' })],
      ],
      [
        { kind: 'expect', conversation: 'ada' },
        { kind: 'unexpected', conversation: 'bo' },
      ],
    ],
    'after the end are reported once per chat as late': [
      START,
      [...STARTED, finish(), pass(1190), call('typing_stop'), call('transcript'), call('end')],
      {
        ...{ kind: 'late', expected: 'no call after the end of the scenario', entrySeqs: [13, 15] },
        happened: '#13 typing_stop was called 1.2 s after the end of the scenario, and 1 more (#15)',
      },
    ],
    'read before the end and answered after it are not late': [
      START,
      [...STARTED, finish(), pass(1000), call('end', {}, { took: 1040 })],
      { kind: 'unexpected' },
    ],
  })
})

describe('refused calls', () => {
  const refused = (code: string, status: number, more: object = {}) => ({
    status,
    response: { error: { code, message: `${code} it is.`, field: null } },
    unspecified: { 'errors.body': 'json' } as const,
    ...more,
  })
  const MESSAGE = { steps: [PRESS, { expect: { message: {} } }] }
  const pressed = (more: object, endpoint: string | null = 'start') => [
    ...[stimulus(1), call(endpoint, {}, more), step(2, call('message'))],
  ]
  const NO_KEY = refused('unauthorized', 401, { auth: 'unknown' })
  const INVALID = pressed(refused('invalid_parameter', 400))
  const OFF = { contract: 'off', unexpected: 'off' }

  /** Without rules: it depends on the state of the chat, and so it is only unexpected. */
  const refusals: readonly (readonly [string, number, ...string[]])[] = [
    ['invalid_parameter', 400, 'E4'],
    ['invalid_parameter', 422, 'E4'],
    ['unauthorized', 401, 'A1', 'E4'],
    ['missing_scope', 403, 'A2', 'E4'],
    ['chat_not_found', 404, 'E4'],
    ['method_not_allowed', 405, 'E4'],
    ['payload_too_large', 413, 'E4'],
    ['unsupported_media_type', 415, 'E4'],
    ['conflict', 409],
    ['precondition_failed', 400],
    ['rate_limited', 429],
  ]
  const judged = refusals.map(([code, status, ...rules]): [string, VerdictCase] => {
    const happened = `the platform refused #8 POST /api/v2/handover/start with ${status} ${code}: ${code} it is.`
    const failure = rules.length === 0 ? { kind: 'unexpected' } : { kind: 'contract', happened, rules, entrySeqs: [8] }
    return [`${code} with ${status}`, [MESSAGE, pressed(refused(code, status)), failure]]
  })
  testVerdicts({
    ...Object.fromEntries(judged),
    'an unknown path': [
      MESSAGE,
      pressed(refused('path_not_found', 404, { path: '/api/v2/handover/strat' }), null),
      { kind: 'contract', expected: 'a path of the platform', rules: ['W7', 'V1'] },
    ],
    'answers of a fault are ignored': [
      MESSAGE,
      pressed({ status: 401, faults: ['flaky'], response: { error: { code: 'unauthorized' } } }),
      { kind: 'unexpected' },
    ],
    'a repeated mistake is reported once': [
      { steps: [{ check: { status: 'bot' } }] },
      [step(1, observe(1)), ...Array<Happening>(3).fill(call('start', {}, NO_KEY))],
      /\(3 times: #6, #7, #8\)$/,
    ],
    'a call that the scenario expects with an invalid key is ignored': [
      { steps: [PRESS, { expect: { start: {}, auth: 'invalid' } }] },
      during(call('start', {}, NO_KEY)),
    ],
    'can warn': [{ ...MESSAGE, strict: { ...OFF, contract: 'warn' } }, INVALID, 'pass', { warnings: ['contract'] }],
    'can be ignored': [{ ...MESSAGE, strict: OFF }, INVALID, 'pass', { warnings: [] }],
  })
})
