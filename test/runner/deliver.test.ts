/** Runs steps with manual events and with changes of the environment. */
import { expect, it } from 'vitest'
import { TAKEN } from './scripted-steps.ts'
import { describeRows, type Row } from './table.ts'

const QUIET = '- none: { start: {}, for: 50ms }'
const BAD = ['none', 'wrong-key', 'tampered', 'truncated', 'hex']
const spoilt = BAD.map((sign): [string, Row] => [
  `signed ${sign}`,
  `- deliver: { event: REQUESTING TAKEOVER, sign: ${sign}, ack: 401 }\n${QUIET}`,
])

const rows: Record<string, Row> = {
  'signed valid': '- deliver: { event: REQUESTING TAKEOVER, sign: valid }\n- agent: { sees: { request: true } }',
  ...Object.fromEntries(spoilt),
  'fields of its own': {
    steps: `${TAKEN}- deliver: { event: MESSAGE FROM USER, body: { message: "by hand, $(chat.language)" } }\n- agent: { sees: "by hand, nb" }`,
    head: 'chat: { language: nb }',
  },
  'another 2xx will do for an event that demands no 200': `- agent: { does: answers, with: { list: [{ status: 204 }] } }\n- deliver: { event: SOMETHING NEW, body: { chat_id: $(chat.id) } }\n${QUIET}`,
  'async is evaluated at the end': {
    steps: `- agent: { does: answers, with: { list: [{ status: 500, after: 300 }] } }
- deliver: { event: REQUESTING TAKEOVER, async: true }
${QUIET}`,
    is: /^stimulus: status 200 .* answered 500/,
  },
  'no answer for longer than timeouts.ack': {
    head: 'timeouts: { ack: 100ms, settle: 50ms }',
    steps: `- agent: { does: answers, with: { list: [{ after: 900 }] } }
- deliver: { event: SOMETHING NEW, body: { chat_id: $(chat.id) } }
${QUIET}`,
    is: /^stimulus: status 200 from the webhook to SOMETHING NEW within 100ms \| the webhook (did not answer|answered 200)/,
  },
  'replay of a press': `- { press: handover, id: asked }\n- agent: { sees: { request: true } }\n- deliver: { replay: asked }\n- agent: { sees: { request: true } }`,
  'replay of a message and of a delivery': `${TAKEN}- { user: Hi, id: said }
- { deliver: { event: MESSAGE FROM USER, body: { message: Ho } }, id: sent }
- agent: { sees: Hi }
- agent: { sees: Ho }
- deliver: { replay: said, ack: any }
- deliver: { replay: sent }
- agent: { sees: Hi }
- agent: { sees: Ho }`,
  'replay of a step that sent nothing': {
    steps: `- { user: Hi, id: said }\n- deliver: { replay: said }\n${QUIET}`,
    is: /^stimulus: .* \| deliver said again failed: Step "said" sent no event that could be sent again/,
  },
}

describeRows('deliver', rows, {}, run =>
  it('an async step ends before its answer, and unknown events are delivered', async () => {
    const { report, intermediary } = await run()
    const index = report.scenarios.findIndex(({ name }) => name === 'async is evaluated at the end') + 1
    const entries = report.journal.filter(line => line.scenario === index).map(({ entry }) => entry)
    const position = (note: string, value: unknown) => entries.findLastIndex(entry => entry?.[note] === value)
    expect(position('note', 'step_started')).toBeLessThan(position('kind', 'delivery'))
    const unknown = intermediary.received.filter(({ event }) => event === 'SOMETHING NEW')
    expect(unknown.map(({ answered }) => answered).sort()).toEqual([200, 204])
  }),
)
