/** Tests the outcome of a scenario: of its failures, of its early end, and of steps that did not run. */
import { describe, expect, it } from 'vitest'
import { Evaluator } from '../../src/evaluation/evaluator/evaluator.ts'
import { journalOf, planOf } from '../scenario/journal-builder.ts'
import { begin, call, end, finish, observe, pass, step, stimulus, testVerdicts, type VerdictCase } from './verdicts.ts'

const PRESS = { press: 'handover' }
const CHECK = { check: { status: 'bot' } }
const STEPS = { steps: [PRESS, { expect: 'start' }, CHECK] }
const CHATS = { ada: {}, bo: {} }
const NOT_READY = { code: 'not_ready', within_ms: 15_000 }
const NOT_STARTED = { code: 'target_not_started', target: 'The target', failure: NOT_READY, output: '' }
const TIME_LIMIT = { code: 'time_limit', limit_ms: 60_000 }
const INVALID = { status: 400, response: { error: { code: 'invalid_parameter', message: 'No.' } } }

/** An early end between two steps. */
const stoppedBy = (stopped: object, outcome: string, why: string): VerdictCase => [
  STEPS,
  [stimulus(1), finish({ stopped })],
  { kind: 'stopped', step: null, happened: `the scenario was stopped: ${why}` },
  { outcome },
]

describe('the outcome', () => {
  testVerdicts({
    'is fail for a step that could not run': [
      STEPS,
      [begin(1), end(1, { failure: { code: 'not_accepted', detail: 'No button "x" is visible.' } })],
      { kind: 'stimulus', happened: /^.+ failed: No button "x" is visible\.$/ },
      { steps: ['fail', 'not reached', 'not reached'] },
    ],
    'is error for a step with an environment error': [
      STEPS,
      [begin(1), end(1, { failure: NOT_STARTED })],
      { kind: 'environment' },
      { outcome: 'error', reason: /^press handover failed: The target did not start: .* not ready within 15s\.$/ },
    ],
    'is fail with one failure at the current step when the scenario times out': [
      STEPS,
      [stimulus(1), begin(2), end(2, { interrupted: true }), finish({ stopped: TIME_LIMIT })],
      { kind: 'stopped', step: { number: 2 }, happened: /stopped at step 2 \(expect start\): took longer than 1m$/ },
    ],
    'is fail when the time of the scenario ends between two steps': stoppedBy(
      TIME_LIMIT,
      'fail',
      'took longer than 1m',
    ),
    'is inconclusive when the run is interrupted': stoppedBy(
      { code: 'interrupted', signal: 'SIGINT' },
      'inconclusive',
      'interrupted by SIGINT',
    ),
    'is inconclusive when the run takes too long': stoppedBy(
      { code: 'run_time_limit', limit_ms: 60_000 },
      'inconclusive',
      'the run took longer than 1m (--timeout)',
    ),
    'is fail for a soft failure, and later steps run': [
      { steps: [PRESS, { expect: 'start', soft: true }, CHECK] },
      [stimulus(1), step(2, pass(5000)), step(3, observe(3))],
      { soft: true, step: { number: 2 } },
      { steps: ['pass', 'fail', 'pass'] },
    ],
    'lists all failures, the first cause first': [
      { chats: CHATS, steps: STEPS.steps.slice(0, 2).map(one => ({ ...one, chat: 'ada' })) },
      [
        ...[stimulus(1), call('end', {}, { conversation: 'bo' })],
        ...[call('start', {}, { conversation: 'bo', ...INVALID }), step(2, pass(5000))],
      ],
      [{ kind: 'unexpected' }, { kind: 'contract' }, { kind: 'expect' }],
    ],
    'is fail for a failure beside an inconclusive step': [
      {
        chats: CHATS,
        steps: [
          { agent: 'accept', chat: 'ada' },
          { ...CHECK, chat: 'bo' },
        ],
      },
      [begin(1), end(1, { missing: 'accept' }), step(2, observe(2, { status: 'agent' }), pass(5000))],
      { kind: 'check' },
      { steps: ['inconclusive', 'fail'] },
    ],
  })

  it('is error for an incomplete journal', async () => {
    const plan = await planOf(STEPS)
    const evaluator = new Evaluator(plan)
    for (const entry of journalOf(plan).entries) evaluator.add(entry)
    expect(evaluator.finish()).toMatchObject({ outcome: 'error', reason: { code: 'incomplete_journal' } })
  })
})
