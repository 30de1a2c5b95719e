/** Tests what must not happen: `none`, `never`, and unexpected, late and refused calls. */
import { describe, expect, it } from 'vitest'
import { checked } from '../scenario/journal-builder.ts'

describe('none', () => {
  const QUIET = {
    steps: [{ press: 'handover' }, { none: { start: {}, for: '500ms' } }, { check: { status: 'pending' } }],
  }

  it('passes after its time', async () => {
    const verdict = await checked(QUIET, journal => {
      journal.stimulus(1)
      journal.begin(2)
      journal.call('typing_start')
      journal.pass(500)
      journal.end(2)
      journal.step(3, () => journal.observe(3, { status: 'pending' }))
    })
    expect(verdict.failures.map(({ kind }) => kind)).toEqual(['unexpected'])
  })

  it('fails when a call arrives, and reports it once', async () => {
    const verdict = await checked(QUIET, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start'))
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]).toMatchObject({
      kind: 'none',
      expected: 'none start for 500ms',
      happened: '#9 start was called at +0.01 s, expected none for 500ms',
      rules: ['E4'],
      entrySeqs: [9],
    })
    expect(verdict.steps.map(({ outcome }) => outcome)).toEqual(['pass', 'fail', 'not reached'])
  })

  it('includes calls of the turn before the step began', async () => {
    const verdict = await checked(QUIET, journal => {
      journal.begin(1)
      const delivery_id = journal.event('REQUESTING TAKEOVER')
      journal.call('start')
      journal.delivery(delivery_id)
      journal.end(1, { delivery_id })
      journal.step(2)
    })
    expect(verdict.failures[0]!.happened).toBe(
      '#5 start was called at -0.03 s (before this step, in the same turn), expected none for 500ms',
    )
  })

  it('ignores calls that are claimed, or that another step can claim', async () => {
    const steps = [
      { press: 'handover' },
      { expect: { message: {}, times: { min: 1, max: 2 } } },
      { none: { message: {}, for: '500ms' } },
    ]
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('message'))
      journal.begin(3)
      journal.call('message')
      journal.pass(500)
      journal.end(3)
    })
    expect(verdict).toMatchObject({ outcome: 'pass', failures: [] })
  })

  it('ignores later calls and calls of other chats', async () => {
    const scenario = {
      ...QUIET,
      chats: { ada: {}, bo: {} },
      steps: QUIET.steps.map(step => ({ ...step, chat: 'ada' })),
    }
    const verdict = await checked(scenario, journal => {
      journal.stimulus(1)
      journal.begin(2)
      journal.call('start', {}, { conversation: 'bo' })
      journal.pass(500)
      journal.end(2)
      journal.step(3, () => journal.observe(3, { status: 'pending' }))
      journal.call('start', {}, { conversation: 'ada' })
    })
    expect(verdict.steps.map(({ outcome }) => outcome)).toEqual(['pass', 'pass', 'pass'])
    expect(verdict.failures.map(({ kind, conversation }) => [kind, conversation])).toEqual(
      [
        ['unexpected', 'ada'],
        ['unexpected', 'bo'],
      ].reverse(),
    )
  })
})

describe('never', () => {
  it('applies to the whole run, to claimed calls and to every chat', async () => {
    const scenario = {
      never: [{ message: { message: { $re: '/<script/i' } } }],
      steps: [{ press: 'handover' }, { expect: 'message' }],
    }
    const verdict = await checked(scenario, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('message', { message: '<SCRIPT>' }))
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]).toMatchObject({
      kind: 'never',
      step: null,
      expected: 'never message { message: /<script/i }',
      entrySeqs: [9],
    })
  })

  it('is reported with its values', async () => {
    const never = [{ message: { message: '$(bad)' } }]
    const verdict = await checked({ vars: { bad: 'Boo' }, never, steps: [{ wait: '1s' }] }, journal => {
      journal.call('message', { message: 'Boo' })
      journal.step(1)
    })
    expect(verdict.failures[0]!.expected).toBe('never message { message: "Boo" }')
  })

  it('reports a call after the end as late', async () => {
    const verdict = await checked({ never: ['start'], steps: [{ wait: '1s' }] }, journal => {
      journal.step(1)
      journal.finish()
      journal.call('start')
    })
    expect(verdict.failures.map(({ kind }) => kind)).toEqual(['late'])
  })

  it('reports an unclaimed call once', async () => {
    const verdict = await checked({ never: ['start'], steps: [{ wait: '1s' }] }, journal => {
      journal.step(1)
      journal.call('start')
      journal.call('start')
    })
    expect(verdict.failures.map(({ kind, happened }) => [kind, happened])).toEqual([
      ['never', 'start must never be called, but #5 start was called at +0.04 s, and 1 more (#6)'],
    ])
  })
})

describe('unexpected calls', () => {
  const scenario = (strict: unknown) => ({ strict, steps: [{ press: 'handover' }, { expect: 'start' }] })
  const play = (strict: unknown, endpoint: string) =>
    checked(scenario(strict), journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start'))
      journal.call(endpoint, { message: 'Hi' })
      journal.call(endpoint, { message: 'Ho' })
    })

  it('fail, with one line for each kind', async () => {
    const { outcome, failures } = await play(true, 'message')
    expect(outcome).toBe('fail')
    expect(failures).toMatchObject([
      {
        kind: 'unexpected',
        expected: 'a step for every call',
        happened: 'no step expects #11 message { message: "Hi" } at +0.10 s, and 1 more (#12)',
        rules: ['E6'],
        entrySeqs: [11, 12],
      },
    ])
  })

  it('are counted in one line with the first one', async () => {
    const { failures } = await checked(scenario(true), journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start'))
      for (let n = 0; n < 40; n++) journal.call('message', { message: 'Hi' })
    })
    expect(failures[0]!.happened).toMatch(/^no step expects #\d+ .*, and 39 more \((#\d+, ){5}…\)$/)
    expect(failures[0]!.entrySeqs).toHaveLength(40)
  })

  it.each(['transcript', 'summarize', 'chat'])('may include %s', async endpoint => {
    expect((await play(true, endpoint)).outcome).toBe('pass')
  })

  it('may include what the scenario allows', async () => {
    expect((await play({ allow: ['message'] }, 'message')).outcome).toBe('pass')
    expect((await play({ allow: ['message'] }, 'transcript')).outcome).toBe('fail')
  })

  it('can be warnings, or ignored', async () => {
    const warned = await play({ unexpected: 'warn' }, 'message')
    expect(warned).toMatchObject({ outcome: 'pass', failures: [] })
    expect(warned.warnings.map(({ rule }) => rule)).toContain('unexpected-call')
    const off = await play({ unexpected: 'off' }, 'message')
    expect(off.outcome).toBe('pass')
    expect(off.warnings.map(({ rule }) => rule)).not.toContain('unexpected-call')
  })

  it('include availability only if the scenario mentions it', async () => {
    expect((await play(true, 'availability')).outcome).toBe('pass')
    const steps = [{ check: { availability: 'OPEN' } }]
    const verdict = await checked({ steps }, journal => {
      journal.step(1, () => journal.observe(1, {}))
      journal.call('availability', { availability: 'OPEN' })
    })
    expect(verdict.failures).toMatchObject([{ kind: 'unexpected', conversation: null, rules: ['E3'] }])
  })

  it('are not reported after a failure of their chat', async () => {
    const scenario = {
      chats: { ada: {}, bo: {} },
      steps: [
        { press: 'handover', chat: 'ada' },
        { expect: { start: { supports_attachment: true } }, chat: 'ada' },
      ],
    }
    const verdict = await checked(scenario, journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('start', {}, { conversation: 'ada' })
        journal.pass(5000)
      })
      journal.call('message', {}, { conversation: 'ada' })
      journal.call('message', {}, { conversation: 'bo' })
    })
    expect(verdict.failures.map(({ kind, conversation }) => [kind, conversation])).toEqual([
      ['expect', 'ada'],
      ['unexpected', 'bo'],
    ])
  })

  it('after the end are reported once per chat as late', async () => {
    const verdict = await checked(scenario(true), journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start'))
      journal.finish()
      journal.pass(1190)
      journal.call('typing_stop')
      journal.call('transcript')
      journal.call('end')
    })
    expect(verdict.failures).toMatchObject([
      {
        kind: 'late',
        expected: 'no call after the end of the scenario',
        happened: '#13 typing_stop was called 1.2 s after the end of the scenario, and 1 more (#15)',
        entrySeqs: [13, 15],
      },
    ])
  })

  it('read before the end and answered after it are not late', async () => {
    const verdict = await checked(scenario(true), journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start'))
      journal.finish()
      journal.pass(1000)
      journal.call('end', {}, { took: 1040 })
    })
    expect(verdict.failures.map(({ kind }) => kind)).toEqual(['unexpected'])
  })
})

describe('contract', () => {
  const refused = (code: string, status: number, more: object = {}) => ({
    status,
    response: { error: { code, message: `${code} it is.`, field: null } },
    unspecified: { 'errors.body': 'json' },
    ...more,
  })
  const play = (more: object, strict: unknown = true, endpoint: string | null = 'start') =>
    checked({ strict, steps: [{ press: 'handover' }, { expect: { message: {} } }] }, journal => {
      journal.stimulus(1)
      journal.call(endpoint, {}, more)
      journal.step(2, () => journal.call('message'))
    })

  it.each([
    ['invalid_parameter', 400, ['E4']],
    ['invalid_parameter', 422, ['E4']],
    ['unauthorized', 401, ['A1', 'E4']],
    ['missing_scope', 403, ['A2', 'E4']],
    ['chat_not_found', 404, ['E4']],
    ['method_not_allowed', 405, ['E4']],
    ['payload_too_large', 413, ['E4']],
    ['unsupported_media_type', 415, ['E4']],
  ])('%s with %i', async (code, status, rules) => {
    const { failures } = await play(refused(code, status))
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatchObject({
      kind: 'contract',
      happened: `the platform refused #8 POST /api/v2/handover/start with ${status} ${code}: ${code} it is.`,
      rules,
      entrySeqs: [8],
    })
  })

  it('reports an unknown path', async () => {
    const { failures } = await play(refused('path_not_found', 404, { path: '/api/v2/handover/strat' }), true, null)
    expect(failures).toMatchObject([{ kind: 'contract', expected: 'a path of the platform', rules: ['W7', 'V1'] }])
  })

  it.each([
    ['conflict', 409],
    ['precondition_failed', 400],
    ['rate_limited', 429],
  ])('%s is a matter of state: only unexpected', async (code, status) => {
    const { failures } = await play(refused(code, status))
    expect(failures.map(({ kind }) => kind)).toEqual(['unexpected'])
  })

  it('ignores answers of a fault', async () => {
    const { failures } = await play({ status: 401, faults: ['flaky'], response: { error: { code: 'unauthorized' } } })
    expect(failures.map(({ kind }) => kind)).toEqual(['unexpected'])
  })

  it('reports a repeated mistake once', async () => {
    const verdict = await checked({ steps: [{ check: { status: 'bot' } }] }, journal => {
      journal.step(1, () => journal.observe(1, {}))
      for (let i = 0; i < 3; i++) journal.call('start', {}, refused('unauthorized', 401, { auth: 'unknown' }))
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]!.happened).toMatch(/\(3 times: #6, #7, #8\)$/)
  })

  it('ignores calls that the scenario expects with an invalid key', async () => {
    const steps = [{ press: 'handover' }, { expect: { start: {}, auth: 'invalid' } }]
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start', {}, refused('unauthorized', 401, { auth: 'unknown' })))
    })
    expect(verdict).toMatchObject({ outcome: 'pass', failures: [] })
  })

  it('can be warnings, or ignored', async () => {
    const warned = await play(refused('invalid_parameter', 400), { contract: 'warn', unexpected: 'off' })
    expect(warned.outcome).toBe('pass')
    expect(warned.warnings.map(({ rule }) => rule)).toContain('contract')
    const off = await play(refused('invalid_parameter', 400), { contract: 'off' })
    expect(off.warnings.map(({ rule }) => rule)).not.toContain('contract')
  })
})
