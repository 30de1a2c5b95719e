/** Tests steps and scenarios of level should: what fails in them is a warning, and a failure with `--strict`. */
import { describe, expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { calls, HI, SOON, TAKEN } from './scripted-steps.ts'
import { type Row, type RowsReport, runRows } from './table.ts'

/** Comes after the other calls: then the scenario does not end before them. */
const STOP = '{ typing_stop: {} }'
const STOPPED = '- expect: { typing_stop: {}, within: 30s }'
const after = (call: string) => `${calls(call, STOP).replace(/^- (.*)\n$/, '- { $1, id: called }\n')}${STOPPED}`
const row = (steps: string, head = SOON): Row => ({ steps, head, is: 'pass' })

const ROWS = {
  'a recommended step ends its chat': row('- { check: { status: agent }, level: should }\n- check: { typing: true }'),
  'a soft one does not': row(
    '- { check: { status: agent }, level: should, soft: true }\n- { check: { typing: true } }',
  ),
  'only its chat': row(
    '- { check: { status: agent }, chat: ada, level: should }\n- { check: { typing: true }, chat: bo }\n- { check: { typing: true }, chat: ada }',
    `${SOON}\nchats: { ada: {}, bo: {} }`,
  ),
  'the call that does not match is explained': row(
    `${TAKEN}${after(HI)}\n- { expect: { message: { message: Ho }, since: called }, level: should }`,
  ),
  'all steps of a scenario': row('- check: { status: agent }', `${SOON}\nlevel: should`),
  'unexpected calls of such a scenario': row(`${TAKEN}${after(HI)}`, `${SOON}\nlevel: should`),
  'a step of it that is required': row('- { check: { status: agent }, level: must }', `${SOON}\nlevel: should`),
  'steps inside a step': row(
    '- { repeat: { times: 2, steps: [{ check: { status: agent }, soft: true }] }, level: should }',
  ),
  'a refused call is no matter of level': row(
    `${TAKEN}${after('{ message: { message: 12 } }')}`,
    `${SOON}\nlevel: should`,
  ),
  'times that are stated': row(
    `${TAKEN}${calls(HI, HI, STOP)}- expect: { message: { message: Hi }, times: 1, within: 30s }\n${STOPPED}`,
    `${SOON}\nstrict: { unexpected: warn }`,
  ),
  'times that are not stated': row(
    `${TAKEN}${calls(HI, HI, STOP)}- expect: { message: { message: Hi }, within: 30s }\n${STOPPED}`,
    `${SOON}\nstrict: { unexpected: warn }`,
  ),
  'an event that is refused is no matter of level': row(
    `- press: handover\n- agent: { does: answers, with: { list: [{ status: 500 }] } }\n- press: handover\n- check: { status: pending }`,
    `${SOON}\nlevel: should`,
  ),
  'what the agent never sees': row('- user: Hi\n- agent: { sees: Ho, times: 0, for: 50ms }'),
}

const run = async (rows: Readonly<Record<string, Row>>, ...flags: string[]) =>
  runRows(await startScriptedIntermediary(), rows, { flags })

/** Scenario name -> outcome, kinds of failures, rules of warnings, outcomes of steps. */
const summaryOf = ({ scenarios }: RowsReport) =>
  Object.fromEntries(
    scenarios.map(({ name, outcome, failures, warnings, steps }) => [
      name,
      {
        outcome,
        failures: failures.map(({ kind }) => kind),
        warnings: warnings.map(({ rule }) => rule).filter(rule => rule !== 'sender-incomplete'),
        steps: steps.map(step => step.outcome).filter(one => one !== 'pass'),
      },
    ]),
  )

describe('level', () => {
  it('should makes a failure a warning', async () => {
    const report = await run(ROWS)
    const recommended = { outcome: 'pass', failures: [], warnings: ['recommended'] }
    expect(summaryOf(report)).toEqual({
      'a recommended step ends its chat': { ...recommended, steps: ['warn', 'not reached'] },
      'a soft one does not': {
        outcome: 'fail',
        failures: ['check'],
        warnings: ['recommended'],
        steps: ['warn', 'fail'],
      },
      'only its chat': {
        outcome: 'fail',
        failures: ['check'],
        warnings: ['recommended'],
        steps: ['warn', 'fail', 'not reached'],
      },
      'the call that does not match is explained': { ...recommended, steps: ['warn'] },
      'all steps of a scenario': { ...recommended, steps: ['warn'] },
      'unexpected calls of such a scenario': { ...recommended, warnings: ['unexpected-call'], steps: [] },
      'a step of it that is required': { outcome: 'fail', failures: ['check'], warnings: [], steps: ['fail'] },
      'steps inside a step': { ...recommended, warnings: ['recommended', 'recommended'], steps: ['warn', 'warn'] },
      'a refused call is no matter of level': {
        outcome: 'fail',
        failures: ['contract'],
        warnings: [],
        steps: [],
      },
      'times that are stated': { outcome: 'fail', failures: ['times'], warnings: [], steps: [] },
      'times that are not stated': { ...recommended, warnings: ['too-many-calls'], steps: [] },
      'an event that is refused is no matter of level': {
        outcome: 'fail',
        failures: ['stimulus'],
        warnings: [],
        steps: ['fail', 'not reached'],
      },
      'what the agent never sees': { outcome: 'pass', failures: [], warnings: [], steps: [] },
    })
    expect(report.exit_code).toBe(1)
  })

  it('should fails with --strict, with the details of its step', async () => {
    const name = 'the call that does not match is explained'
    const report = await run({ [name]: ROWS[name] }, '--strict')
    const { outcome, failures } = report.scenarios[0]!
    expect({ outcome, exitCode: report.exit_code }).toEqual({ outcome: 'fail', exitCode: 1 })
    expect(failures[0]).toMatchObject({ kind: 'expect', step: { number: 6 }, nearest: [{ why: '1 field differs' }] })
  })

  it.each([
    ['- { check: { status: bot }, level: maybe }', /steps\[0\]\.level: must be must or should, got the string "maybe"/],
    ['- user: Hi\n- agent: { sees: Ho, times: 0 }', /has times: 0 without for: say how long/],
  ])('%s is refused', async (steps, message) => {
    await expect(run({ bad: row(steps) })).rejects.toThrow(message)
  })
})

it('a body without Content-Type fails as a broken contract', async () => {
  const plain = calls('{ type: text/plain, message: { message: Hi } }')
  const report = await run({
    required: row(`${TAKEN}${plain}- expect: { message: {}, within: 30s }`),
    'contract: warn': row(
      `${TAKEN}${plain}- expect: { message: {}, within: 30s }`,
      `${SOON}\nstrict: { contract: warn }`,
    ),
  })
  expect(summaryOf(report)).toEqual({
    required: { outcome: 'fail', failures: ['contract'], warnings: [], steps: [] },
    'contract: warn': { outcome: 'pass', failures: [], warnings: ['content-type'], steps: [] },
  })
  expect(report.scenarios[0]!.failures[0]!.happened).toContain('Content-Type should be application/json')
})
