/** Clocks, waiting, retries, and how long a scenario may take. */
import { expect, it } from 'vitest'
import type { ScriptedIntermediary } from './scripted-intermediary.ts'
import { answers, SOON, TAKEN } from './scripted-steps.ts'
import { describeRows, expectRows, type Row, scenarioIn } from './table.ts'
import { startTarget } from './targets.ts'

const A500 = '{ status: 500 }'
const A200 = '{ status: 200 }'
const VIRTUAL = 'clock: virtual'
const TYPING = `${TAKEN}- agent: type\n- expect: { typing_start: {}, within: 30s }\n- check: { typing: true }\n`

const clocks: Record<string, Row> = {
  'real: a wait takes its time': '- wait: 200ms\n- check: { status: bot }',
  'virtual: a think takes a time of its range': {
    head: VIRTUAL,
    steps: `${TYPING}- think: 1s..4s\n- check: { typing: true }\n- think: 4500ms..20s\n- check: { typing: false }`,
  },
  'virtual: typing ends by itself': {
    head: VIRTUAL,
    steps: `${TYPING}- wait: 6s\n- check: { typing: false }`,
  },
  'virtual: not before its time': {
    head: `${VIRTUAL}\n${SOON}`,
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
  },
  'virtual: hours of several spans, from Friday evening to Monday': {
    head: `clock: { mode: virtual, start: "2026-12-18T16:59:00+01:00" }
business_hours: { time_zone: Europe/Oslo, mon-fri: ["09:00-12:00", "13:00-17:00"], sat: "22:00-02:00", 2026-12-22: closed }`,
    steps: `
- check: { availability: OPEN }
- wait: 1m                       # Friday, 17:00
- check: { availability: CLOSED }
- wait: 33h                      # Sunday, 02:00
- check: { availability: CLOSED }
- wait: 111599999ms             # Monday, 08:59:59.999
- check: { availability: CLOSED }
- wait: 1ms                      # 09:00
- check: { availability: OPEN }
- wait: 3h
- check: { availability: CLOSED }
- wait: 22h                      # Tuesday, 10:00, a date that is closed
- check: { availability: CLOSED }
- press: handover
- check: { events: { REQUESTING TAKEOVER: 0 } }
- wait: 23h                      # Wednesday, 09:00
- press: handover
- check: { events: { REQUESTING TAKEOVER: 1 }, status: pending }`,
  },
  'virtual: within is wall time': {
    head: VIRTUAL,
    steps: `${TAKEN}- wait: 1h\n- expect: { end: {}, within: 100ms }`,
    is: /^expect: expect end within 100ms /,
  },
  'virtual: a retry is jumped to': {
    head: `${VIRTUAL}\nconfig: { webhook.retry: [10s, 1h] }`,
    steps: `${TAKEN}${answers(A500, A500, A200)}- user: Hi\n- agent: { sees: Hi }`,
  },
  'real: a retry is waited for': {
    head: 'config: { webhook: { retry: [50ms, 100ms] } }',
    steps: `${TAKEN}${answers(A500, A500, A200)}- user: Hi\n- agent: { sees: Hi }`,
  },
  'virtual: an async event is sent while a check waits': {
    head: VIRTUAL,
    steps: `${TAKEN}- fault: { on: { webhook: MESSAGE FROM USER }, delay: 1h, times: 1 }
- user: { text: first, async: true }
- user: second
- agent: { sees: second }
- agent: { sees: first }`,
  },
}

describeRows('clocks and retries', clocks, {}, run =>
  it('a real wait takes its time', async () => {
    const { duration_ms } = scenarioIn((await run()).report, 'real: a wait takes its time')
    expect(duration_ms).toBeGreaterThan(199)
  }),
)

const SHORT = 'timeouts: { scenario: 200ms, expect: 1h, settle: 50ms }'
const endless = (steps: string, number: string): Row => ({
  head: SHORT,
  steps,
  is: new RegExp(`^stopped: .*was stopped at step ${number}\\b.*: took longer than 200ms`),
})

const bounds: Record<string, Row> = {
  'a wait': endless('- wait: 1h\n- check: { status: pending }', '1'),
  'an expect': endless('- expect: start', '1'),
  'a sees': endless('- agent: { sees: Hello }', '1'),
  'a check': endless('- check: { status: agent }', '1'),
  'an agent who does not come back': endless('- agent: { does: sleep }\n- check: { status: agent }', '1'),
  'finally runs all the same': {
    head: `${SHORT}\nfinally: [{ log: the end }, { check: { status: bot } }]`,
    steps: '- wait: 1h',
    is: /^stopped: .*was stopped at step 1\b.*: took longer than 200ms/,
  },
  'finally has a limit of its own': {
    head: `${SHORT}\nfinally: [{ wait: 1h }, { log: never }]`,
    steps: '- check: { status: bot }',
    is: /^stopped: .*was stopped at step 2 \(wait 1h\): took longer than 200ms/,
  },
  'the quiet at the end does not count': {
    head: 'timeouts: { scenario: 500ms, settle: 600ms }',
    steps: '- check: { status: bot }',
  },
}

it('timeouts.scenario ends a press whose webhook does not answer', async () => {
  const silent = endless('- press: handover\n- check: { status: agent }', '1')
  await expectRows(await startTarget(() => {}), { silent })
})

const withSleep = ({ driver }: ScriptedIntermediary) => ({
  driver: `${driver}  sleep: { POST: "/sleep/$(chat.id)/sleep" }\n`,
})

describeRows('timeouts.scenario ends every kind of step', bounds, withSleep, run =>
  it('and the finally steps run', async () => {
    const { steps } = scenarioIn((await run()).report, 'finally runs all the same')
    expect(steps.map(({ outcome }) => outcome)).toEqual(['fail', 'pass', 'pass'])
  }),
)
