/** Tests what must not happen: `none`, `never`, and unexpected, late and refused calls. */
import { describe } from 'vitest'
import {
  answeredAfter,
  call,
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
const STARTED = [stimulus(1), step(2, call('start'))]

describe('none', () => {
  const QUIET = { steps: [PRESS, { none: { start: {}, for: '500ms' } }, { check: { status: 'pending' } }] }
  testVerdicts({
    'passes after its time': [
      { ...QUIET, strict: { allow: ['typing_start'] } },
      [stimulus(1), step(2, call('typing_start'), pass(500)), PENDING],
      'pass',
    ],
    'fails when a call arrives, and reports it once': [
      QUIET,
      [stimulus(1), step(2, call('start'))],
      [
        {
          kind: 'none',
          expected: 'none start for 500ms',
          happened: '#9 start was called at +0.01 s, expected none for 500ms',
          rules: ['E4'],
          entrySeqs: [9],
        },
      ],
      { steps: ['pass', 'fail', 'not reached'] },
    ],
    'includes calls of the turn before the step began': [
      QUIET,
      [answeredAfter(1, call('start')), step(2)],
      [{ happened: '#5 start was called at -0.03 s (before this step, in the same turn), expected none for 500ms' }],
    ],
    'ignores calls that are claimed, or that another step can claim': [
      {
        steps: [PRESS, { expect: { message: {}, times: { min: 1, max: 2 } } }, { none: { message: {}, for: '500ms' } }],
      },
      [stimulus(1), step(2, call('message')), step(3, call('message'), pass(500))],
      'pass',
    ],
    'ignores later calls and calls of other chats': [
      { chats: CHATS, steps: QUIET.steps.map(one => ({ ...one, chat: 'ada' })) },
      [
        ...[stimulus(1), step(2, call('start', {}, { conversation: 'bo' }), pass(500)), PENDING],
        call('start', {}, { conversation: 'ada' }),
      ],
      [
        { kind: 'unexpected', conversation: 'bo' },
        { kind: 'unexpected', conversation: 'ada' },
      ],
      { steps: ['pass', 'pass', 'pass'] },
    ],
  })
})

describe('never', () => {
  const NEVER = { never: ['start'], steps: [{ wait: '1s' }] }
  testVerdicts({
    'applies to the whole run, to claimed calls and to every chat': [
      { never: [{ message: { message: { $re: '/<script/i' } } }], steps: [PRESS, { expect: 'message' }] },
      [stimulus(1), step(2, call('message', { message: '<SCRIPT>' }))],
      [{ kind: 'never', step: null, expected: 'never message { message: /<script/i }', entrySeqs: [9] }],
    ],
    'is reported with its values': [
      { vars: { bad: 'Boo' }, never: [{ message: { message: '$(bad)' } }], steps: [{ wait: '1s' }] },
      [call('message', { message: 'Boo' }), step(1)],
      [{ expected: 'never message { message: "Boo" }' }],
    ],
    'reports a call after the end as late': [NEVER, [step(1), finish(), call('start')], [{ kind: 'late' }]],
    'reports an unclaimed call once': [
      NEVER,
      [step(1), call('start'), call('start')],
      [
        {
          kind: 'never',
          happened: 'start must never be called, but #5 start was called at +0.04 s, and 1 more (#6)',
        },
      ],
    ],
  })
})

describe('unexpected calls', () => {
  const twice = (endpoint: string) => [...STARTED, call(endpoint, { message: 'Hi' }), call(endpoint, { message: 'Ho' })]
  const strict = (settings: unknown) => ({ ...START, strict: settings })
  const read = ['transcript', 'summarize', 'chat'].map((endpoint): [string, VerdictCase] => [
    `may include ${endpoint}`,
    [START, twice(endpoint), 'pass'],
  ])
  testVerdicts({
    ...Object.fromEntries(read),
    'fail, with one line for each kind': [
      strict(true),
      twice('message'),
      [
        {
          kind: 'unexpected',
          expected: 'a step for every call',
          happened: 'no step expects #11 message { message: "Hi" } at +0.10 s, and 1 more (#12)',
          rules: ['E6'],
          entrySeqs: [11, 12],
        },
      ],
    ],
    'are counted in one line with the first one': [
      START,
      [...STARTED, ...Array<Happening>(40).fill(call('message', { message: 'Hi' }))],
      [
        {
          happened: /^no step expects #\d+ .*, and 39 more \((#\d+, ){5}…\)$/,
          entrySeqs: Array.from({ length: 40 }, (_, n) => 11 + n),
        },
      ],
    ],
    'may include what the scenario allows': [strict({ allow: ['message'] }), twice('message'), 'pass'],
    'may include nothing else': [strict({ allow: ['message'] }), twice('transcript'), [{ kind: 'unexpected' }]],
    'can be warnings': [strict({ unexpected: 'warn' }), twice('message'), 'pass', { warning: 'unexpected-call' }],
    'can be ignored': [strict({ unexpected: 'off' }), twice('message'), 'pass', { noWarning: 'unexpected-call' }],
    'do not include availability': [START, twice('availability'), 'pass'],
    'include availability if the scenario mentions it': [
      { steps: [{ check: { availability: 'OPEN' } }] },
      [step(1, observe(1)), call('availability', { availability: 'OPEN' })],
      [{ kind: 'unexpected', conversation: null, rules: ['E3'] }],
    ],
    'are not reported after a failure of their chat': [
      {
        chats: CHATS,
        steps: [
          { ...PRESS, chat: 'ada' },
          { expect: { start: { supports_attachment: true } }, chat: 'ada' },
        ],
      },
      [
        ...[stimulus(1), step(2, call('start', {}, { conversation: 'ada' }), pass(5000))],
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
      [
        {
          kind: 'late',
          expected: 'no call after the end of the scenario',
          happened: '#13 typing_stop was called 1.2 s after the end of the scenario, and 1 more (#15)',
          entrySeqs: [13, 15],
        },
      ],
    ],
    'read before the end and answered after it are not late': [
      START,
      [...STARTED, finish(), pass(1000), call('end', {}, { took: 1040 })],
      [{ kind: 'unexpected' }],
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
  const MESSAGE = [PRESS, { expect: { message: {} } }]
  const during = (more: object, endpoint: string | null = 'start') => [
    ...[stimulus(1), call(endpoint, {}, more), step(2, call('message'))],
  ]
  const NO_KEY = refused('unauthorized', 401, { auth: 'unknown' })
  const INVALID = refused('invalid_parameter', 400)

  const violations: readonly (readonly [string, number, readonly string[]])[] = [
    ['invalid_parameter', 400, ['E4']],
    ['invalid_parameter', 422, ['E4']],
    ['unauthorized', 401, ['A1', 'E4']],
    ['missing_scope', 403, ['A2', 'E4']],
    ['chat_not_found', 404, ['E4']],
    ['method_not_allowed', 405, ['E4']],
    ['payload_too_large', 413, ['E4']],
    ['unsupported_media_type', 415, ['E4']],
  ]
  const broken = violations.map(([code, status, rules]): [string, VerdictCase] => {
    const happened = `the platform refused #8 POST /api/v2/handover/start with ${status} ${code}: ${code} it is.`
    const failure = { kind: 'contract', happened, rules, entrySeqs: [8] }
    return [
      `${code} with ${status} breaks the contract`,
      [{ steps: MESSAGE }, during(refused(code, status)), [failure]],
    ]
  })
  const ofState = (
    [
      ['conflict', 409],
      ['precondition_failed', 400],
      ['rate_limited', 429],
    ] as const
  ).map(([code, status]): [string, VerdictCase] => [
    `${code} with ${status} depends on the state: only unexpected`,
    [{ steps: MESSAGE }, during(refused(code, status)), [{ kind: 'unexpected' }]],
  ])
  testVerdicts({
    ...Object.fromEntries([...broken, ...ofState]),
    'an unknown path': [
      { steps: MESSAGE },
      during(refused('path_not_found', 404, { path: '/api/v2/handover/strat' }), null),
      [{ kind: 'contract', expected: 'a path of the platform', rules: ['W7', 'V1'] }],
    ],
    'answers of a fault are ignored': [
      { steps: MESSAGE },
      during({ status: 401, faults: ['flaky'], response: { error: { code: 'unauthorized' } } }),
      [{ kind: 'unexpected' }],
    ],
    'a repeated mistake is reported once': [
      { steps: [{ check: { status: 'bot' } }] },
      [step(1, observe(1)), ...Array<Happening>(3).fill(call('start', {}, NO_KEY))],
      [{ happened: /\(3 times: #6, #7, #8\)$/ }],
    ],
    'a call that the scenario expects with an invalid key is ignored': [
      { steps: [PRESS, { expect: { start: {}, auth: 'invalid' } }] },
      [stimulus(1), step(2, call('start', {}, NO_KEY))],
      'pass',
    ],
    'can be warnings': [
      { steps: MESSAGE, strict: { contract: 'warn', unexpected: 'off' } },
      during(INVALID),
      'pass',
      { warning: 'contract' },
    ],
    'can be ignored': [
      { steps: MESSAGE, strict: { contract: 'off', unexpected: 'off' } },
      during(INVALID),
      'pass',
      { noWarning: 'contract' },
    ],
  })
})
