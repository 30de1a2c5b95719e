/** Tests that steps wait for calls of the intermediary, and that later steps can use what they captured. */
import { expect, it } from 'vitest'
import { calls, HI, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row, scenarioIn } from './table.ts'

const rows: Record<string, Row> = {
  'any call': `- press: handover\n- agent: accept\n- expect: any`,
  'every call by its name': {
    steps: `${TAKEN}${calls('{ transcript: {} }', '{ summarize: {} }', '{ typing_start: {} }', '{ typing_stop: {} }', HI, '{ end: {} }')}
- expect: transcript
- expect: summarize
- expect: typing_start
- expect: typing_stop
- expect: { message: { message: Hi } }
- expect: end`,
    head: 'chat: { history: [{ user: "I have lost my parcel somewhere on its way" }] }',
  },
  'a call that comes later': `${TAKEN}${calls('{ after: 100, end: {} }')}- expect: end`,
  'times, apart and a group': `${TAKEN}${calls(HI, '{ after: 150, message: { message: Hi } }')}- expect: { message: {}, times: 2, apart: 100ms }
${calls('{ end: {} }', '{ typing_start: {} }', HI)}- expect: { all: [{ seq: [typing_start, { message: { message: Hi }, capture: { text: body.message } }] }, { oneOf: [end, typing_stop] }] }
- log: it was $(text)`,
  alias: `- press: handover\n${calls('{ alias: takeover, start: {} }')}- expect: { start: {}, alias: takeover }`,
  'a bad key that is wanted': `${TAKEN}${calls('{ key: wrong, end: {} }')}- expect: { end: {}, auth: invalid }`,
  'capture and use it': `- press: handover
- agent: accept
- expect: { start: {}, capture: { who: body.sender.name, said: response.chatmessage_id, how: status, path: endpoint } }
- agent: { says: "I am $(who), $(how) $(path)" }
- expect: { message: { message: "I am Anna, 200 start", sender: { name: $(who) } } }
- check: { transcript: { last: [{ agent: $(who), text: { $re: I am } }] } }`,
  'capture the last of several': `${TAKEN}${calls(HI, '{ message: { message: Bye } }')}- expect: { message: {}, times: 2, capture: { last: body.message } }
- agent: { says: $(last) }
- expect: { message: { message: Bye } }`,
}

describeRows('expect', rows, {}, run =>
  it('reports captures', async () => {
    const { captures } = scenarioIn((await run()).report, 'capture and use it')
    expect(captures).toEqual({ who: 'Anna', said: expect.any(String), how: 200, path: 'start' })
  }),
)
