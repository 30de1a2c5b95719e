/** Tests steps and scenarios of level should: what fails in them is a warning, and a failure with `--strict`. */
import { expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { calls, HI, SOON, TAKEN } from './scripted-steps.ts'
import { runRows } from './table.ts'

/** Comes after the other calls: then the scenario does not end before them. */
const STOP = '{ typing_stop: {} }'
const STOPPED = '- expect: { typing_stop: {}, within: 30s }'
const after = (call: string) => `${calls(call, STOP).replace(/^- (.*)\n$/, '- { $1, id: called }\n')}${STOPPED}`
const twice = (options: string) =>
  `${TAKEN}${calls(HI, HI, STOP)}- expect: { message: { message: Hi }, ${options} within: 30s }\n${STOPPED}`
const AGENT = '{ status: agent }'
const SHOULD = 'level: should'
const WARN = 'strict: { unexpected: warn }'
const UNMATCHED = `${TAKEN}${after(HI)}\n- { expect: { message: { message: Ho }, since: called }, level: should }`
const TWO_CHATS = `- { check: ${AGENT}, chat: ada, level: should }
- { check: { typing: true }, chat: bo }
- { check: { typing: true }, chat: ada }`
const PLAIN_TEXT = `${TAKEN}${calls('{ type: text/plain, message: { message: Hi } }')}- expect: { message: {}, within: 30s }`

/** Steps, more of the head, and `outcome; failures; warnings; steps that did not pass`. */
const ROWS: Readonly<Record<string, readonly [steps: string, head: string, summary: string]>> = {
  'a recommended step ends its chat': [
    `- { check: ${AGENT}, level: should }\n- check: { typing: true }`,
    '',
    'pass; ; recommended; warn, not reached',
  ],
  'a soft one does not': [
    `- { check: ${AGENT}, level: should, soft: true }\n- { check: { typing: true } }`,
    '',
    'fail; check; recommended; warn, fail',
  ],
  'only its chat': [TWO_CHATS, 'chats: { ada: {}, bo: {} }', 'fail; check; recommended; warn, fail, not reached'],
  'the call that does not match': [UNMATCHED, '', 'pass; ; recommended; warn'],
  'all steps of a scenario': [`- check: ${AGENT}`, SHOULD, 'pass; ; recommended; warn'],
  'unexpected calls of such a scenario': [`${TAKEN}${after(HI)}`, SHOULD, 'pass; ; unexpected-call; '],
  'a step of it that is required': [`- { check: ${AGENT}, level: must }`, SHOULD, 'fail; check; ; fail'],
  'steps inside a step': [
    `- { repeat: { times: 2, steps: [{ check: ${AGENT}, soft: true }] }, level: should }`,
    '',
    'pass; ; recommended, recommended; warn, warn',
  ],
  'a refused call is no matter of level': [
    `${TAKEN}${after('{ message: { message: 12 } }')}`,
    SHOULD,
    'fail; contract; ; ',
  ],
  'times that are stated': [twice('times: 1,'), WARN, 'fail; times; ; '],
  'times that are not stated': [twice(''), WARN, 'pass; ; too-many-calls; '],
  'an event that is refused is no matter of level': [
    `- press: handover\n- agent: { does: answers, with: { list: [{ status: 500 }] } }\n- press: handover\n- check: { status: pending }`,
    SHOULD,
    'fail; stimulus; ; fail, not reached',
  ],
  'what the agent never sees': ['- user: Hi\n- agent: { sees: Ho, times: 0, for: 50ms }', '', 'pass; ; ; '],
  'a body without its Content-Type': [PLAIN_TEXT, '', 'fail; contract; ; '],
  'a body without its Content-Type, as a warning': [PLAIN_TEXT, 'strict: { contract: warn }', 'pass; ; content-type; '],
}

const run = async (names: readonly string[], ...flags: string[]) => {
  const rows = names.map(name => [name, { steps: ROWS[name]![0], head: `${SOON}\n${ROWS[name]![1]}` }] as const)
  return runRows(await startScriptedIntermediary(), Object.fromEntries(rows), { flags })
}

it('level should makes a failure a warning', async () => {
  const { scenarios, exit_code } = await run(Object.keys(ROWS))
  const summaries = scenarios.map(({ name, outcome, failures, warnings, steps }) => {
    const kinds = failures.map(({ kind }) => kind)
    const rules = warnings.map(({ rule }) => rule).filter(rule => rule !== 'sender-incomplete')
    const others = steps.map(step => step.outcome).filter(one => one !== 'pass')
    return [name, [outcome, kinds.join(', '), rules.join(', '), others.join(', ')].join('; ')]
  })
  expect(summaries).toEqual(Object.entries(ROWS).map(([name, row]) => [name, row[2]]))
  expect(exit_code).toBe(1)
})

it('level should fails with --strict, with the details of its step', async () => {
  const report = await run(['the call that does not match'], '--strict')
  const [failure] = report.scenarios[0]!.failures
  expect(report).toMatchObject({ exit_code: 1, scenarios: [{ outcome: 'fail' }] })
  expect(failure).toMatchObject({ kind: 'expect', step: { number: 6 }, nearest: [{ why: '1 field differs' }] })
})

it.each([
  ['- { check: { status: bot }, level: maybe }', /steps\[0\]\.level: must be must or should, got the string "maybe"/],
  ['- user: Hi\n- agent: { sees: Ho, times: 0 }', /has times: 0 without for: say how long/],
])('%s is refused', async (steps, message) => {
  const rows = { bad: { steps } } as const
  await expect(startScriptedIntermediary().then(intermediary => runRows(intermediary, rows))).rejects.toThrow(message)
})
