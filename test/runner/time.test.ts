/** Clocks, waiting, retries, and how long a scenario may take. */
import { expect, it } from 'vitest'
import type { ScriptedIntermediary } from './scripted-intermediary.ts'
import { answers, calls, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row } from './table.ts'

const A500 = '{ status: 500 }'
const A200 = '{ status: 200 }'
const VIRTUAL = 'clock: virtual'
const TYPING = `${TAKEN}- agent: type\n- expect: typing_start\n- check: { typing: true }\n`

const clocks: Record<string, Row> = {
  'real: a wait takes its time': { steps: `${TYPING}- wait: 400ms\n- check: { typing: true }`, is: 'pass' },
  'real: within counts from the end of a wait': {
    steps: `${TAKEN}${calls('{ after: 300, end: {} }')}- wait: 200ms\n- expect: { end: {}, within: 250ms }`,
    is: 'pass',
  },
  'virtual: a think takes a time of its range': {
    head: VIRTUAL,
    steps: `${TYPING}- think: 1s..4s\n- check: { typing: true }\n- think: 4500ms..20s\n- check: { typing: false }`,
    is: 'pass',
  },
  'virtual: half a day takes no time': {
    head: VIRTUAL,
    steps: `${TAKEN}- wait: 12h\n- check: { status: agent }`,
    is: 'pass',
  },
  'virtual: typing ends by itself': {
    head: VIRTUAL,
    steps: `${TYPING}- wait: 6s\n- check: { typing: false }`,
    is: 'pass',
  },
  'virtual: not before its time': {
    head: `${VIRTUAL}\ntimeouts: { expect: 500ms, settle: 50ms }`,
    steps: `${TYPING}- wait: 3s\n- check: { typing: false }`,
    is: /^check: .*typing: expected false, received true/,
  },
  'virtual: begins at the given time': {
    head: 'clock: { mode: virtual, start: "2024-01-01T08:59:00Z" }\nbusiness_hours: { time_zone: UTC, mon: "09:00-17:00" }',
    steps: `
- check: { availability: CLOSED }
- press: handover
- check: { events: { REQUESTING TAKEOVER: 0 } }
- wait: 2m
- check: { availability: OPEN }
- press: handover
- check: { events: { REQUESTING TAKEOVER: 1 }, status: pending }`,
    is: 'pass',
  },
  'virtual: within is wall time': {
    head: VIRTUAL,
    steps: `${TAKEN}${calls('{ after: 400, end: {} }')}- wait: 1h\n- expect: { end: {}, within: 150ms }`,
    is: /^expect: expect end within 150ms .*late/,
  },
  'virtual: a retry is jumped to': {
    head: `${VIRTUAL}\nconfig: { webhook.retry: [10s, 1h] }`,
    steps: `${TAKEN}${answers(A500, A500, A200)}- user: Hi\n- agent: { sees: Hi }`,
    is: 'pass',
  },
  'virtual: the last retry decides': {
    head: `${VIRTUAL}\nconfig: { webhook.retry: [10s] }`,
    steps: `${TAKEN}${answers(A500, A500, A200)}- user: Hi`,
    is: /^stimulus: .* \| the webhook answered 500 to MESSAGE FROM USER \(attempt 2\)/,
  },
  'real: a retry is waited for': {
    head: 'config: { webhook: { retry: [100ms, 600ms] } }\ntimeouts: { ack: 200ms, settle: 50ms }',
    steps: `${TAKEN}${answers(A500, A500, A200)}- user: Hi\n- agent: { sees: Hi }`,
    is: 'pass',
  },
  'real: the last retry decides': {
    head: 'config: { webhook.retry: [50ms] }',
    steps: `${TAKEN}${answers(A500, A500)}- user: Hi`,
    is: /^stimulus: .* \| the webhook answered 500 to MESSAGE FROM USER \(attempt 2\)/,
  },
  'real: an async retry is evaluated at the end': {
    head: 'config: { webhook.retry: [100ms] }',
    steps: `${TAKEN}${answers(A500, A200)}- user: { text: Hi, async: true }\n- wait: 300ms`,
    is: 'pass',
  },
  'virtual: an async event is sent while a check waits': {
    head: VIRTUAL,
    steps: `${TAKEN}- fault: { on: { webhook: MESSAGE FROM USER }, delay: 1h, times: 1 }
- user: { text: first, async: true }
- user: second
- agent: { sees: second }
- agent: { sees: first }`,
    is: 'pass',
  },
}

describeRows('clocks and retries', clocks, {}, run =>
  it('take as long as their clock says', async () => {
    const { scenarios } = (await run()).report
    const took = Object.fromEntries(scenarios.map(({ name, duration_ms }) => [name, duration_ms]))
    expect(took['real: a wait takes its time']).toBeGreaterThan(400)
    const retried = scenarios.find(({ name }) => name === 'real: a retry is waited for')!.steps[4]!
    expect(retried.end_ms! - retried.start_ms!, 'though it comes after timeouts.ack').toBeGreaterThan(690)
    expect(took['virtual: half a day takes no time']).toBeLessThan(5_000)
  }),
)

const bounds: Record<string, Row> = {
  'a wait': {
    head: 'timeouts: { scenario: 400ms, settle: 50ms }',
    steps: '- press: handover\n- wait: 1h\n- check: { status: pending }',
    is: /^stopped: the scenario ends within 400ms \| the scenario was stopped at step 2 \(wait 1h\): took longer than 400ms/,
  },
  'an expect': {
    head: 'timeouts: { scenario: 400ms, expect: 1h, settle: 50ms }',
    steps: '- press: handover\n- expect: start',
    is: /^stopped: .*was stopped at step 2\b.*: took longer than 400ms/,
  },
  'a sees': {
    head: 'timeouts: { scenario: 400ms, expect: 1h, settle: 50ms }',
    steps: '- press: handover\n- agent: { sees: Hello }',
    is: /^stopped: .*was stopped at step 2\b.*: took longer than 400ms/,
  },
  'a check': {
    head: 'timeouts: { scenario: 400ms, expect: 1h, settle: 50ms }',
    steps: '- press: handover\n- check: { status: agent }',
    is: /^stopped: .*was stopped at step 2\b.*: took longer than 400ms/,
  },
  'a webhook that does not answer': {
    head: 'timeouts: { scenario: 400ms, settle: 50ms }',
    steps: `${answers('{ status: 200, after: 1500 }')}- press: handover\n- check: { status: agent }`,
    is: /^stopped: .*was stopped at step 2\b.*: took longer than 400ms/,
  },
  'an agent who does not come back': {
    head: 'timeouts: { scenario: 400ms, settle: 50ms }',
    steps: '- press: handover\n- agent: { does: sleep }\n- check: { status: agent }',
    is: /^stopped: .*was stopped at step 2\b.*: took longer than 400ms/,
  },
  'finally is played all the same': {
    head: 'timeouts: { scenario: 400ms, settle: 50ms }\nfinally: [{ press: handover }, { agent: accept }, { expect: start }, { check: { status: agent } }]',
    steps: '- wait: 1h',
    is: /^stopped: .*was stopped at step 1\b.*: took longer than 400ms/,
  },
  'finally has a bound of its own': {
    head: 'timeouts: { scenario: 400ms, settle: 50ms }\nfinally: [{ wait: 1h }, { log: never }]',
    steps: '- check: { status: bot }',
    is: /^stopped: .*was stopped at step 2 \(wait 1h\): took longer than 400ms/,
  },
  'a late call explains a failure of finally as well': {
    head: 'timeouts: { settle: 50ms }\nfinally: [{ agent: { does: calls, with: { list: [{ after: 500, end: {} }] } } }, { expect: { end: {}, within: 100ms } }]',
    steps: '- check: { status: bot }',
    is: /^expect: expect end within 100ms .*late/,
  },
  'the quiet at the end does not count': {
    head: 'timeouts: { scenario: 600ms, settle: 800ms }',
    steps: '- check: { status: bot }',
    is: 'pass',
  },
}

const withSleep = ({ driver }: ScriptedIntermediary) => ({
  driver: `${driver}  sleep: { POST: "/sleep/$(chat.id)/sleep" }\n`,
})

describeRows('timeouts.scenario ends every kind of step', bounds, withSleep, run =>
  it('in time, and the finally steps run', async () => {
    const { scenarios } = (await run()).report
    for (const { name, duration_ms } of scenarios) expect([name, duration_ms < 2_500]).toEqual([name, true])
    const last = scenarios.find(({ name }) => name.startsWith('finally'))!
    expect(last.steps.map(({ outcome }) => outcome)).toEqual(['fail', 'pass', 'pass', 'pass', 'pass'])
  }),
)
