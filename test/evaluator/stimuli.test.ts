/** Tests the results of action steps, and the verdict of a run. */
import { describe, expect, it } from 'vitest'
import { Evaluator } from '../../src/evaluation/evaluator/evaluator.ts'
import { driverFailureText } from '../../src/platform/wording/failures.ts'
import { checked, type Delivered, journalOf, planOf } from '../scenario/journal-builder.ts'

const REFUSED = { code: 'connection_refused', target: '127.0.0.1:3100', system_code: 'ECONNREFUSED' } as const
const NOT_STARTED = {
  code: 'target_not_started',
  target: 'The target',
  failure: { code: 'not_ready', within_ms: 15_000 },
  output: '',
} as const

const CHECK = { check: { status: 'bot' } }

/** One event and its answers, in a scenario of which nothing else is asked. */
const answered = (answers: readonly Delivered[], step: object = { press: 'handover' }, event = 'REQUESTING TAKEOVER') =>
  checked({ steps: [step, CHECK] }, journal => {
    journal.call('transcript')
    journal.stimulus(1, event, answers)
    journal.step(2, () => journal.observe(2, {}))
  })

describe('the answer of the webhook', () => {
  it.each([
    ['200 to a named event', [{ status: 200 }], undefined],
    [
      'the final try decides',
      [
        { status: 503, retry_in_ms: 10 },
        { status: 200, attempt: 2 },
      ],
      undefined,
    ],
    ['any status, when any will do', [{ status: 500 }], { user: { text: 'Hi', ack: 'any' } }],
    ['another status, when that is wanted', [{ status: 202 }], { user: { text: 'Hi', ack: 202 } }],
    [
      'a copy sent by a fault does not decide',
      [{ status: 200 }, { status: 409, attempt: 2, duplicate: true as const }],
      undefined,
    ],
  ])('%s', async (_, answers, step) => {
    expect(await answered(answers, step)).toMatchObject({ outcome: 'pass', failures: [] })
  })

  it('fails with another status, and shows the start of the body', async () => {
    const verdict = await answered([{ status: 500, body: 'TypeError: x is not a function', took: 31 }])
    expect(verdict.failures).toMatchObject([
      {
        kind: 'stimulus',
        step: { number: 1 },
        expected: 'status 200 from the webhook to REQUESTING TAKEOVER within 10s',
        happened:
          'the webhook answered 500 to REQUESTING TAKEOVER after 31 ms, expected 200: TypeError: x is not a function',
        rules: ['WH2'],
        entrySeqs: [7],
      },
    ])
  })

  it('does not acknowledge with 204', async () => {
    const verdict = await answered([{ status: 204, body: '' }])
    expect(verdict.failures[0]).toMatchObject({
      happened: 'the webhook answered 204 to REQUESTING TAKEOVER after 5 ms, expected 200: an empty body',
      hint: 'Only 200 acknowledges this event.',
    })
  })

  it('is reported when it refuses a valid signature', async () => {
    expect((await answered([{ status: 401 }])).failures[0]!.hint).toMatch(/raw bytes/)
  })

  it('is missing with the failure of the transport', async () => {
    const error = 'timeout: no complete answer within 10s'
    const verdict = await answered([{ status: null, failure: { code: 'timeout', timeout_ms: 10_000 } }])
    expect(verdict.failures[0]).toMatchObject({
      kind: 'stimulus',
      happened: `no answer to REQUESTING TAKEOVER from http://127.0.0.1:3000/webhook: ${error}`,
      hint: 'Answer the webhook first, and do the work after it.',
    })
  })

  it('is missing when none arrives in time', async () => {
    const verdict = await answered([])
    expect(verdict.failures[0]!.happened).toBe('the webhook did not answer REQUESTING TAKEOVER within 10s')
  })

  it('fails for a copy with a server error, but not for a refused copy', async () => {
    const verdict = await answered([{ status: 200 }, { status: 500, attempt: 2, duplicate: true }])
    expect(verdict.failures[0]).toMatchObject({
      happened: 'the webhook answered 500 to REQUESTING TAKEOVER (sent a second time) after 5 ms, expected 200: ok',
    })
  })

  it('does not count after the step has failed', async () => {
    const verdict = await checked({ steps: [{ press: 'handover' }, CHECK] }, journal => {
      const begun = journal.begin(1)
      const id = journal.event('REQUESTING TAKEOVER')
      journal.end(1, { delivery_id: id, cause: begun })
      journal.delivery(id)
    })
    expect(verdict.failures).toMatchObject([{ happened: 'the webhook did not answer REQUESTING TAKEOVER within 10s' }])
    expect(verdict.steps.map(({ outcome }) => outcome)).toEqual(['fail', 'not reached'])
  })

  it('is too late when the platform waits less than the scenario', async () => {
    const verdict = await checked({ timeouts: { ack: '20s' }, steps: [{ press: 'handover' }, CHECK] }, journal => {
      journal.stimulus(1, 'REQUESTING TAKEOVER', [{ status: null, failure: { code: 'timeout', timeout_ms: 10_000 } }])
    })
    expect(verdict.failures[0]!.hint).toMatch(/waits only 10s: config: \{ webhook\.timeout/)
  })

  it('is inconclusive when the run stopped before it was due', async () => {
    const verdict = await checked({ steps: [{ user: { text: 'Hi', async: true } }, CHECK] }, journal => {
      journal.begin(1)
      journal.end(1, { delivery_id: journal.event('MESSAGE FROM USER') })
      journal.step(2, () => journal.observe(2, {}))
      journal.finish({ stopped: { code: 'interrupted', signal: 'SIGINT' } })
    })
    expect(verdict.failures.map(({ happened }) => happened)).toContain(
      'the webhook had not answered MESSAGE FROM USER when the scenario was stopped: interrupted by SIGINT',
    )
  })

  it('fails when the last of several attempts failed', async () => {
    const verdict = await answered([
      { status: 503, retry_in_ms: 10 },
      { status: 500, attempt: 2 },
    ])
    expect(verdict.failures[0]!.happened).toMatch(/^the webhook answered 500 to REQUESTING TAKEOVER \(attempt 2\)/)
  })

  it('fails when it is too slow', async () => {
    expect((await answered([{ took: 11_000 }])).failures[0]!.happened).toMatch(
      /^the webhook answered 200 to REQUESTING TAKEOVER after 11 s, expected 200 within 10s/,
    )
  })

  const HOSTILE = { deliver: { event: 'REQUESTING TAKEOVER', sign: 'wrong-key', ack: 'non-2xx' } }

  it('must be a refusal for a forged event', async () => {
    expect((await answered([{ status: 401, sign: 'wrong-key' }], HOSTILE)).outcome).toBe('pass')
    const verdict = await answered([{ status: 200, sign: 'wrong-key' }], HOSTILE)
    expect(verdict.failures[0]).toMatchObject({
      expected: 'a refusal (no 2xx) from the webhook to REQUESTING TAKEOVER within 10s',
      rules: ['A4'],
      hint: 'Does the intermediary verify the signature before it does anything else?',
    })
  })

  it('may be any 2xx for typing events', async () => {
    const step = { deliver: { event: 'AGENT TYPING START' } }
    expect((await answered([{ status: 204, event: 'AGENT TYPING START' }], step, 'AGENT TYPING START')).outcome).toBe(
      'pass',
    )
  })

  it('is not required without an event', async () => {
    const verdict = await checked({ steps: [{ user: 'Hi' }, CHECK] }, journal => {
      journal.stimulus(1, null)
      journal.step(2, () => journal.observe(2, {}))
    })
    expect(verdict.outcome).toBe('pass')
  })

  it('is evaluated at the end with `async`', async () => {
    const plan = await planOf({ steps: [{ user: { text: 'Hi', async: true, ack: 200 } }, CHECK] })
    const play = (status: number) => {
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
      return evaluator.finish().outcome
    }
    expect([play(200), play(500)]).toEqual(['pass', 'fail'])
  })

  it('of a replay is evaluated alone', async () => {
    const steps = [{ press: 'handover', id: 's1' }, { deliver: { replay: 's1', ack: 'non-2xx' } }, CHECK]
    const play = (status: number) =>
      checked({ steps }, journal => {
        journal.stimulus(1)
        journal.step(2, () => journal.delivery('d1', { status, attempt: 2, resent: true }), { delivery_id: 'd1' })
        journal.step(3, () => journal.observe(3, {}))
      })
    expect((await play(409)).outcome).toBe('pass')
    expect((await play(200)).failures.map(({ step }) => step!.number)).toEqual([2])
  })
})

describe('an unreachable webhook', () => {
  const REFUSED = {
    status: null,
    failure: { code: 'connection_refused', target: '127.0.0.1:3000', system_code: 'ECONNREFUSED' },
  } as const
  const steps = [{ press: 'handover' }, { user: 'Hi' }, CHECK]

  it('is an error when the intermediary never answered', async () => {
    const verdict = await checked({ steps }, journal => journal.stimulus(1, 'REQUESTING TAKEOVER', [REFUSED]))
    expect(verdict.outcome).toBe('error')
    expect(verdict.reason).toMatch(/nothing listens/)
    expect(verdict.failures).toMatchObject([{ kind: 'environment' }])
  })

  it('fails the scenario when the intermediary answered before', async () => {
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.stimulus(2, 'MESSAGE FROM USER', [REFUSED])
    })
    expect(verdict).toMatchObject({ outcome: 'fail', failures: [{ kind: 'stimulus', step: { number: 2 } }] })
  })

  it('is an error without a URL', async () => {
    const verdict = await checked({ steps }, journal =>
      journal.stimulus(1, 'REQUESTING TAKEOVER', [{ status: null, outcome: 'skipped', failure: { code: 'no_url' } }]),
    )
    expect(verdict).toMatchObject({
      outcome: 'error',
      reason: 'REQUESTING TAKEOVER was not sent: no webhook URL is set',
    })
  })
})

describe('an agent step', () => {
  const steps = [{ press: 'handover' }, { agent: 'accept' }, CHECK]
  const accepting = (driver: object, ended: object = {}) =>
    checked({ steps }, journal => {
      journal.stimulus(1)
      const cause = journal.begin(2)
      journal.driver('accept', driver, cause)
      journal.end(2, ended)
      if (driver && (driver as { outcome?: string }).outcome === undefined)
        journal.step(3, () => journal.observe(3, {}))
    })

  it('passes when the driver succeeded', async () => {
    expect((await accepting({})).outcome).toBe('pass')
  })

  it('fails with the refusal of the agent desk', async () => {
    const verdict = await accepting({ outcome: 'failed', status: 404, answer: 'no such chat' })
    expect(verdict.failures).toMatchObject([
      {
        kind: 'driver',
        step: { number: 2 },
        expected: 'agent accept',
        happened: 'agent accept failed: POST http://desk/x: answered 404: no such chat',
      },
    ])
  })

  it('explains a chat of an earlier run', async () => {
    const verdict = await accepting({ outcome: 'failed', status: 409, answer: 'chat is open' })
    expect(verdict.failures[0]!.hint).toMatch(/earlier run.*--seed/)
  })

  it('refers to the driver file for a missing command', async () => {
    const failure = { code: 'program_not_found', program: './agent.sh' }
    const verdict = await accepting({ outcome: 'unreachable', failure })
    expect(verdict.failures[0]!.hint).toBe('Commands run in the folder of the driver file, without a shell.')
  })

  it('reports the answer of the desk once', async () => {
    const failure = { code: 'inbox_not_list', received: 'an object: {"items":[{"request":true}]}' } as const
    const verdict = await accepting({
      outcome: 'failed',
      status: 200,
      failure,
      answer: '{"items": [{"request": true}]}',
    })
    expect(verdict.failures[0]!.happened).toBe(`agent accept failed: POST http://desk/x: ${driverFailureText(failure)}`)
  })

  it('refers to the log of the desk after a broken connection', async () => {
    const failure = { code: 'connection_closed', target: '127.0.0.1:3000', system_code: 'UND_ERR_SOCKET' }
    const verdict = await accepting({ outcome: 'unreachable', failure })
    expect(verdict.failures[0]!.hint).toMatch(/what does the log of the intermediary say\?/)
  })

  it('fails when the desk is unreachable and the intermediary is not', async () => {
    const verdict = await accepting({ outcome: 'unreachable', failure: REFUSED })
    expect(verdict).toMatchObject({ outcome: 'fail', failures: [{ kind: 'driver' }] })
  })

  it('is an error when desk and intermediary are unreachable', async () => {
    const verdict = await checked({ steps: [{ agent: 'accept' }, CHECK] }, journal => {
      const cause = journal.begin(1)
      journal.driver('accept', { outcome: 'unreachable', failure: REFUSED }, cause)
      journal.end(1)
    })
    expect(verdict).toMatchObject({
      outcome: 'error',
      reason: `agent accept failed: POST http://desk/x: ${driverFailureText(REFUSED)}`,
    })
  })

  it('is inconclusive without the verb', async () => {
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => {}, { missing: 'accept' })
    })
    expect(verdict).toMatchObject({ outcome: 'inconclusive', failures: [] })
    expect(verdict.steps.map(({ outcome }) => outcome)).toEqual(['pass', 'inconclusive', 'not reached'])
  })
})

describe('the verdict', () => {
  const steps = [{ press: 'handover' }, { expect: 'start' }, CHECK]

  it('fails for a step that could not run', async () => {
    const verdict = await checked({ steps }, journal =>
      journal.step(1, () => {}, { failure: { code: 'not_accepted', detail: 'No button "x" is visible.' } }),
    )
    expect(verdict.failures).toMatchObject([
      { kind: 'stimulus', happened: expect.stringMatching(/^.+ failed: No button "x" is visible\.$/) },
    ])
    expect(verdict.steps.map(({ outcome }) => outcome)).toEqual(['fail', 'not reached', 'not reached'])
  })

  it('is an error for a step with an environment error', async () => {
    const verdict = await checked({ steps }, journal => journal.step(1, () => {}, { failure: NOT_STARTED }))
    expect(verdict).toMatchObject({
      outcome: 'error',
      reason: 'press handover failed: The target did not start: it was not ready within 15s.',
    })
  })

  it('has one failure at the current step when the scenario times out', async () => {
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => {}, { interrupted: true })
      journal.finish({ stopped: { code: 'time_limit', limit_ms: 60_000 } })
    })
    expect(verdict.failures).toMatchObject([
      {
        kind: 'stopped',
        step: { number: 2 },
        happened: 'the scenario was stopped at step 2 (expect start): took longer than 1m',
      },
    ])
  })

  it.each([
    ['fails', 'when it times out', { code: 'time_limit', limit_ms: 60_000 }, 'fail', 'took longer than 1m'],
    [
      'is inconclusive',
      'when the run is interrupted',
      { code: 'interrupted', signal: 'SIGINT' },
      'inconclusive',
      'interrupted by SIGINT',
    ],
    [
      'is inconclusive',
      'when the run takes too long',
      { code: 'run_time_limit', limit_ms: 60_000 },
      'inconclusive',
      'the run took longer than 1m (--timeout)',
    ],
  ] as const)('%s with one failure %s between two steps', async (_, __, stopped, outcome, why) => {
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.finish({ stopped })
    })
    expect(verdict).toMatchObject({
      outcome,
      failures: [{ kind: 'stopped', step: null, happened: `the scenario was stopped: ${why}` }],
    })
  })

  it('is an error for an incomplete journal', async () => {
    const plan = await planOf({ steps })
    const evaluator = new Evaluator(plan)
    for (const entry of journalOf(plan).entries) evaluator.add(entry)
    expect(evaluator.finish()).toMatchObject({
      outcome: 'error',
      reason: { code: 'incomplete_journal' },
    })
  })

  it('fails for a soft failure, and later steps run', async () => {
    const soft = [{ press: 'handover' }, { expect: 'start', soft: true }, CHECK]
    const verdict = await checked({ steps: soft }, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.pass(5000))
      journal.step(3, () => journal.observe(3, {}))
    })
    expect(verdict).toMatchObject({ outcome: 'fail', failures: [{ soft: true, step: { number: 2 } }] })
    expect(verdict.steps.map(({ outcome }) => outcome)).toEqual(['pass', 'fail', 'pass'])
  })

  it('lists all failures, the first cause first', async () => {
    const verdict = await checked(
      {
        chats: { ada: {}, bo: {} },
        steps: [
          { press: 'handover', chat: 'ada' },
          { expect: 'start', chat: 'ada' },
        ],
      },
      journal => {
        journal.stimulus(1)
        journal.call('end', {}, { conversation: 'bo' })
        journal.call(
          'start',
          {},
          { conversation: 'bo', status: 400, response: { error: { code: 'invalid_parameter', message: 'No.' } } },
        )
        journal.step(2, () => journal.pass(5000))
      },
    )
    expect(verdict.failures.map(({ kind }) => kind)).toEqual(['unexpected', 'contract', 'expect'])
  })

  it('is failed for a failure beside an inconclusive step', async () => {
    const verdict = await checked(
      {
        chats: { ada: {}, bo: {} },
        steps: [
          { agent: 'accept', chat: 'ada' },
          { check: { status: 'bot' }, chat: 'bo' },
        ],
      },
      journal => {
        journal.step(1, () => {}, { missing: 'accept' })
        journal.step(2, () => {
          journal.observe(2, { status: 'agent' })
          journal.pass(5000)
        })
      },
    )
    expect(verdict.outcome).toBe('fail')
  })
})
