/** Runs steps with manual events and with changes of the environment. */
import { expect, it } from 'vitest'
import { TAKEN } from './scripted-steps.ts'
import { describeRows, type Row } from './table.ts'

const QUIET = '- none: { start: {}, for: 50ms }'
const BAD = ['none', 'wrong-key', 'tampered', 'truncated', 'hex']
const spoilt = BAD.map((sign): [string, Row] => [
  `signed ${sign}`,
  { steps: `- deliver: { event: REQUESTING TAKEOVER, sign: ${sign}, ack: 401 }\n${QUIET}`, is: 'pass' },
])

const rows: Record<string, Row> = {
  'signed valid': {
    steps: '- deliver: { event: REQUESTING TAKEOVER, sign: valid }\n- agent: { sees: { request: true } }',
    is: 'pass',
  },
  ...Object.fromEntries(spoilt),
  'a refusal that is wanted': {
    steps: `- deliver: { event: SOMETHING NEW, sign: none, ack: non-2xx }\n${QUIET}`,
    is: 'pass',
  },
  'a refusal that does not come': {
    steps: `- deliver: { event: SOMETHING NEW, ack: non-2xx }\n${QUIET}`,
    is: /^stimulus: a refusal \(no 2xx\) from the webhook to SOMETHING NEW .* answered 200/,
  },
  'a wrong key that is refused, and 200 wanted': {
    steps: `- deliver: { event: REQUESTING TAKEOVER, sign: wrong-key }\n${QUIET}`,
    is: /^stimulus: status 200 .* answered 401/,
  },
  'fields of its own': {
    steps: `${TAKEN}- deliver: { event: MESSAGE FROM USER, body: { message: "by hand, $(chat.language)" } }\n- agent: { sees: "by hand, nb" }`,
    head: 'chat: { language: nb }',
    is: 'pass',
  },
  'any answer': { steps: `- deliver: { event: SOMETHING NEW, body: { a: [1] }, ack: any }\n${QUIET}`, is: 'pass' },
  'another 2xx will do for an event that demands no 200': {
    steps: `- agent: { does: answers, with: { list: [{ status: 204 }] } }\n- deliver: { event: SOMETHING NEW, body: { chat_id: $(chat.id) } }\n${QUIET}`,
    is: 'pass',
  },
  'async is evaluated at the end': {
    steps: `- agent: { does: answers, with: { list: [{ status: 500, after: 600 }] } }\n- deliver: { event: REQUESTING TAKEOVER, async: true }\n- none: { start: {}, for: 800ms }`,
    is: /^stimulus: status 200 .* answered 500/,
  },
  'async, and never answered in time': {
    head: 'timeouts: { ack: 300ms, settle: 50ms }',
    steps: `- agent: { does: answers, with: { list: [{ after: 700 }] } }\n- deliver: { event: SOMETHING NEW, body: { chat_id: $(chat.id) }, async: true }\n- none: { start: {}, for: 800ms }`,
    is: /^stimulus: status 200 from the webhook to SOMETHING NEW within 300ms \| the webhook answered 200 to SOMETHING NEW after (0\.[7-9]|1\.\d) s/,
  },
  'no answer for longer than timeouts.ack': {
    head: 'timeouts: { ack: 300ms, settle: 50ms, scenario: 2s }',
    steps: `- agent: { does: answers, with: { list: [{ after: 3000 }] } }\n- deliver: { event: SOMETHING NEW, body: { chat_id: $(chat.id) } }\n${QUIET}`,
    is: /^stimulus: status 200 from the webhook to SOMETHING NEW within 300ms \| the webhook did not answer SOMETHING NEW within 300ms/,
  },
  'async replay of a step that sent nothing': {
    steps: `- { user: Hi, id: said }\n- deliver: { replay: said, async: true }\n${QUIET}`,
    is: /^stimulus: .* \| deliver said again failed: Step "said" sent no event that could be sent again/,
  },
  'replay of a press': {
    steps: `- { press: handover, id: asked }\n- agent: { sees: { request: true } }\n- deliver: { replay: asked }\n- agent: { sees: { request: true } }`,
    is: 'pass',
  },
  'replay of a message and of a delivery': {
    steps: `${TAKEN}- { user: Hi, id: said }
- { deliver: { event: MESSAGE FROM USER, body: { message: Ho } }, id: sent }
- agent: { sees: Hi }
- agent: { sees: Ho }
- deliver: { replay: said, ack: any }
- deliver: { replay: sent }
- agent: { sees: Hi }
- agent: { sees: Ho }`,
    is: 'pass',
  },
  'replay that is refused': {
    steps: `- { press: handover, id: asked }\n- agent: { does: answers, with: { list: [{ status: 409 }] } }\n- deliver: { replay: asked }\n${QUIET}`,
    is: /^stimulus: status 200 from the webhook to REQUESTING TAKEOVER .* answered 409/,
  },
  'replay of a step that sent nothing': {
    steps: `- { user: Hi, id: said }\n- deliver: { replay: said }\n${QUIET}`,
    is: /^stimulus: .* \| deliver said again failed: Step "said" sent no event that could be sent again/,
  },
}

describeRows('deliver', rows, {}, run =>
  it('an async step ends at once, and unknown events are delivered', async () => {
    const { report, intermediary } = await run()
    const { scenarios } = report
    const async = scenarios.find(({ name }) => name === 'async is evaluated at the end')!.steps[1]!
    expect(async.end_ms! - async.start_ms!, 'it ends at once').toBeLessThan(500)
    const unknown = intermediary.received.filter(({ event }) => event === 'SOMETHING NEW')
    expect(unknown.map(({ answered }) => answered).sort()).toEqual([200, 200, 200, 200, 204, 401])
  }),
)
