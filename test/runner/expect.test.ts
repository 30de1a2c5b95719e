/** Tests required and forbidden calls of the intermediary, and captures. */
import { expect, it } from 'vitest'
import { calls, HI, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row } from './table.ts'

const hiAfter = (ms: number) => `{ after: ${ms}, message: { message: Hi } }`

const rows: Record<string, Row> = {
  'any call': { steps: `- press: handover\n- agent: accept\n- expect: any`, is: 'pass' },
  'every call by its name': {
    steps: `${TAKEN}${calls('{ transcript: {} }', '{ summarize: {} }', '{ typing_start: {} }', '{ typing_stop: {} }', HI, '{ end: {} }')}
- expect: transcript
- expect: summarize
- expect: typing_start
- expect: typing_stop
- expect: { message: { message: Hi } }
- expect: end`,
    head: 'chat: { history: [{ user: "I have lost my parcel somewhere on its way" }] }',
    is: 'pass',
  },
  'a call that does not come': {
    steps: '- press: handover\n- expect: { start: {}, within: 400ms }',
    is: /^expect: expect start within 400ms of step 1 .*made no call for this scenario/,
  },
  'a call that comes too late': {
    steps: `${TAKEN}${calls(hiAfter(300))}- expect: { message: {}, within: 120ms }`,
    is: /^expect: expect message within 120ms .*\d\.\d s late/,
  },
  'a call of another order': {
    steps: `${TAKEN}${calls('{ typing_stop: {} }', HI)}- expect: message\n- expect: { typing_stop: {}, within: 400ms }`,
    is: /^expect: .*earlier than #\d+/,
  },
  'a call of a turn before': {
    steps: `${TAKEN}${calls(HI)}- none: { end: {}, for: 80ms }\n- agent: type\n- expect: typing_start\n- expect: { message: {}, within: 400ms }`,
    is: /^expect: .*before the turn/,
  },
  'times: 2': { steps: `${TAKEN}${calls(HI, HI)}- expect: { message: {}, times: 2 }`, is: 'pass' },
  'times: 2, and one came': {
    steps: `${TAKEN}${calls(HI)}- expect: { message: {}, times: 2, within: 400ms }`,
    is: /^expect: expect message exactly twice/,
  },
  'once, and two came': {
    steps: `${TAKEN}${calls(HI, hiAfter(60))}- expect: message\n- none: { end: {}, for: 500ms }`,
    is: /^times: message exactly once \| message was called twice/,
  },
  'times: min and max': {
    steps: `${TAKEN}${calls(HI, hiAfter(50))}- expect: { message: {}, times: { min: 1, max: 2 } }\n- none: { end: {}, for: 500ms }`,
    is: 'pass',
  },
  'times: more than max': {
    steps: `${TAKEN}${calls(HI, HI, HI)}- expect: { message: {}, times: { min: 1, max: 2 } }\n- none: { end: {}, for: 500ms }`,
    is: /^times: message 1 to 2 times \| message was called 3 times/,
  },
  'times: max only': { steps: `${TAKEN}${calls(HI)}- expect: { message: {}, times: { max: 2 } }`, is: 'pass' },
  apart: {
    steps: `${TAKEN}${calls(HI, hiAfter(150))}- expect: { message: {}, times: 2, apart: 100ms }`,
    is: 'pass',
  },
  'not apart': {
    steps: `${TAKEN}${calls(HI, HI)}- expect: { message: {}, times: 2, apart: 400ms }`,
    is: /^times: expect message exactly twice, 400ms apart \| message was called again too soon: #\d+ and #\d+ are .* apart/,
  },
  since: {
    steps: `- { press: handover, id: asked }
- agent: accept
- expect: start
- ${calls(HI).slice(2)}- expect: message
- agent: type
- expect: typing_start
- expect: { start: {}, since: asked, times: { min: 0, max: 1 } }`,
    is: 'pass',
  },
  'since, for a call of an earlier turn': {
    steps: `- { press: handover, id: asked }
- agent: accept
- check: { status: agent }
- agent: type
- expect: typing_start
- expect: { start: {}, since: asked }`,
    is: 'pass',
  },
  alias: {
    steps: `- press: handover\n${calls('{ alias: takeover, start: {} }')}- expect: { start: {}, alias: takeover }`,
    is: 'pass',
  },
  'another alias': {
    steps: `- press: handover\n${calls('{ start: {} }')}- expect: { start: {}, alias: takeover, within: 400ms }`,
    is: /^expect: expect start under \/takeover\/ .*under \/handover\/, not \/takeover\//,
  },
  'a bad key that is wanted': {
    steps: `${TAKEN}${calls('{ key: wrong, end: {} }')}- expect: { end: {}, auth: invalid }`,
    is: 'pass',
  },
  'a good key where a bad one is wanted': {
    steps: `${TAKEN}${calls('{ end: {} }')}- expect: { end: {}, auth: invalid, within: 400ms }`,
    is: /^expect: expect end with a missing or wrong key .*its key is valid/,
  },
  'a bad key': {
    steps: `${TAKEN}${calls('{ key: wrong, end: {} }')}- expect: { end: {}, within: 400ms }`,
    is: /^2 failures: contract: .*401 .* \/\/ expect: expect end .*bad key: the platform does not know it/,
  },
  'capture and use it': {
    steps: `- press: handover
- agent: accept
- expect: { start: {}, capture: { who: body.sender.name, said: response.chatmessage_id, how: status, path: endpoint } }
- agent: { says: "I am $(who), $(how) $(path)" }
- expect: { message: { message: "I am Anna, 200 start", sender: { name: $(who) } } }
- check: { transcript: { last: [{ agent: $(who), text: { $re: I am } }] } }`,
    is: 'pass',
  },
  'capture what is not there': {
    steps: '- press: handover\n- agent: accept\n- expect: { start: {}, capture: { age: body.sender.age } }',
    is: /^expect: .*#\d+ start has no body\.sender\.age to capture as age/,
  },
  'capture the last of several': {
    steps: `${TAKEN}${calls(HI, '{ message: { message: Bye } }')}- expect: { message: {}, times: 2, capture: { last: body.message } }
- agent: { says: $(last) }
- expect: { message: { message: Bye } }`,
    is: 'pass',
  },
  'all, in any order': {
    steps: `${TAKEN}${calls(HI, '{ typing_stop: {} }')}- expect: { all: [typing_stop, { message: {} }] }`,
    is: 'pass',
  },
  'all, and one is missing': {
    steps: `${TAKEN}${calls(HI)}- expect: { all: [typing_stop, { message: {} }], within: 400ms }`,
    is: /^expect: .*typing_stop/,
  },
  seq: {
    steps: `${TAKEN}${calls('{ typing_stop: {} }', HI)}- expect: { seq: [typing_stop, message] }`,
    is: 'pass',
  },
  'seq the other way round': {
    steps: `${TAKEN}${calls(HI, '{ typing_stop: {} }')}- expect: { seq: [typing_stop, message], within: 400ms }`,
    is: /^expect: .*no call of message matches; nearest: #\d+ message .*: before #\d+ typing_stop, which has to come first/,
  },
  'one of': {
    steps: `${TAKEN}${calls('{ end: {} }')}- expect: { oneOf: [message, end] }`,
    is: 'pass',
  },
  'one of, and neither': {
    steps: `${TAKEN}${calls('{ typing_start: {} }')}- expect: { oneOf: [message, end], within: 400ms }`,
    is: /^expect: .*message.*end/,
  },
  nested: {
    steps: `${TAKEN}${calls('{ end: {} }', '{ typing_start: {} }', HI)}- expect: { all: [{ seq: [typing_start, { message: { message: Hi }, capture: { text: body.message } }] }, { oneOf: [end, typing_stop] }] }
- log: it was $(text)`,
    is: 'pass',
  },
}

describeRows('expect', rows, {}, run =>
  it('waits for a late call no longer than until it comes, and reports captures', async () => {
    const { report } = await run()
    const { steps, duration_ms } = report.scenarios.find(({ name }) => name === 'a call that comes too late')!
    const afterwards = duration_ms - (steps.at(-1)!.end_ms! - steps[0]!.start_ms!)
    expect(afterwards, 'once it has come nothing else is waited for').toBeLessThan(1_800)
    const [captured] = report.scenarios
      .filter(({ name }) => name === 'capture and use it')
      .map(({ captures }) => captures)
    expect(captured).toEqual({ who: 'Anna', said: expect.any(String), how: 200, path: 'start' })
  }),
)
