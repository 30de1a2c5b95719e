/** Faults set by steps: what the intermediary, its agent and the judge see of them. */
import { calls, HI, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row } from './table.ts'

const HO = '{ message: { message: Ho } }'
const onMessage = (what: string) => `- fault: { on: { api: message }, ${what} }\n`
const onEvent = (what: string) => `- fault: { on: { webhook: MESSAGE FROM USER }, ${what} }\n`
const unsaid = '- check: { transcript: { lacks: [{ agent: { $any: true }, text: Hi }] } }'
const USER = '- user: one\n- agent: { sees: one }'
const VIRTUAL = 'clock: virtual'

const api: Record<string, Row> = {
  'respond, so often': `${TAKEN}${onMessage('respond: { status: 503, body: { error: tired } }, times: 1')}${calls(HI, HO)}- expect: { seq: [{ message: { message: Hi }, capture: { bad: status, why: response.error } }, { message: { message: Ho }, capture: { good: status } }] }
- agent: { says: "$(bad) $(why) $(good)" }
- expect: { message: { message: 503 tired 200 } }
${unsaid}`,
  'an escaped name stays a text, and is not filled a second time': `${TAKEN}${onMessage('respond: { status: 503, body: { error: "$$(env.SECRET) $$(sim.api_key)" } }, times: 1')}${calls(HI)}- expect: { message: {}, capture: { why: response.error } }
- agent: { says: "$(why)" }
- expect: { message: { message: "$$(env.SECRET) $$(sim.api_key)" } }`,
  'a call that is refused by a fault still has to come': {
    steps: `${TAKEN}${onMessage('respond: { status: 503 }')}- expect: { message: {}, within: 100ms }`,
    is: /^expect: .*message was not called/,
  },
  reset: `${TAKEN}${onMessage('reset: true')}${calls(HI)}- expect: message\n${unsaid}`,
  'clear by name': `${TAKEN}- fault: { name: flaky, on: { api: message }, respond: { status: 503 } }
- fault: { name: other, on: { api: end }, respond: { status: 502 } }
- fault: { clear: flaky }
${calls(HI, '{ end: {} }')}- expect: message
- expect: { end: {}, capture: { how: status } }
- check: { transcript: { last: [{ agent: { $any: true }, text: Hi }] } }
- check: { status: agent }`,
  'clear what is not there': {
    steps: `${TAKEN}- fault: { clear: flaky }`,
    is: /^stimulus: .* \| .*flaky/,
  },
  'a captured value that no header can have': {
    steps: `${TAKEN}${calls('{ message: { message: Hæ } }')}- expect: { message: {}, capture: { who: body.message } }
${onMessage('respond: { status: 503, headers: { x-who: $(who) } }')}`,
    is: /^stimulus: .*x-who.*printable ASCII/,
  },
  'several chats: availability is of none': {
    head: 'chats: { ada: {}, bo: {} }',
    steps: `
- { fault: { on: { api: availability }, respond: { status: 503 }, times: 1 }, chat: bo }
- agent: away
- { expect: { availability: {}, capture: { how: status } }, chat: ada }
- { agent: { says: "$(how)" }, chat: ada }
- { expect: { message: { message: "503" } }, chat: ada }
- check: { availability: OPEN }`,
  },
  'several chats: only that of the step': {
    head: 'chats: { ada: {}, bo: {} }',
    steps: `
- { press: handover, chat: ada }
- { press: handover, chat: bo }
- { fault: { on: { api: start }, respond: { status: 503 } }, chat: bo }
- { agent: accept, chat: ada }
- { agent: accept, chat: bo }
- { expect: start, chat: ada }
- { expect: start, chat: bo }
- { check: { status: agent }, chat: ada }
- { check: { status: pending }, chat: bo }`,
  },
}

const events: Record<string, Row> = {
  'delay is waited for': { head: VIRTUAL, steps: `${TAKEN}${onEvent('delay: 1h, times: 1')}${USER}` },
  duplicate: `${TAKEN}${onEvent('duplicate: 3, gap: 10ms')}- user: one\n- agent: { sees: one, times: 3 }`,
  'duplicate, and the agent sees it twice': {
    steps: `${TAKEN}${onEvent('duplicate: 2, gap: 20ms')}- user: one\n- agent: { sees: one, for: 1m }`,
    is: /^sees: agent sees "one" exactly once for 1m \| the agent saw "one" twice/,
  },
  swap: `${TAKEN}${onEvent('swap: true, times: 1')}- user: { text: one, async: true }\n- user: two\n- agent: { sees: two }\n- agent: { sees: one }`,
  'hold, until it is cleared': `${TAKEN}${onEvent('hold: 5, times: 1')}- user: { text: one, async: true }\n- user: two\n- agent: { sees: two }\n- fault: clear\n- agent: { sees: one }`,
  sign: `${TAKEN}${onEvent('sign: wrong-key')}- user: { text: one, ack: 401 }\n- check: { events: { MESSAGE FROM USER: 1 } }`,
}

describeRows('faults of calls and of events', { ...api, ...events })
