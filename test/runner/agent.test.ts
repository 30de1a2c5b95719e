/** What the human agent does and sees, through a driver that speaks HTTP. */
import { expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { TAKEN } from './scripted-steps.ts'
import { describeRows, expectRows, type Row } from './table.ts'

const shows = (...list: string[]) => `- agent: { does: shows, with: { list: [${list.join(', ')}] } }\n`

const verbs: Record<string, Row> = {
  'accept, says, type, stop and leave': `${TAKEN}
- agent: type
- expect: { typing_start: { timeout: 5000 } }
- check: { typing: true }
- agent: stop
- expect: typing_stop
- check: { typing: false }
- agent: { says: 'Hi "you", 100% & more' }
- expect: { message: { message: 'Hi "you", 100% & more', sender: { name: Anna } } }
- agent: leave
- expect: end
- check: { status: bot }`,
  'away and back': `
- agent: away
- expect: { availability: { availability: CLOSED, reason: AGENT_AVAILABILITY } }
- check: { availability: CLOSED }
- agent: back
- expect: { availability: { availability: OPEN } }
- check: { availability: OPEN }`,
  'a verb of its own, with parameters': {
    steps: `${TAKEN}- agent: { does: calls, with: { list: [{ message: { message: moved to $(bot.name) } }] } }
- expect: { message: { message: moved to Nora } }`,
    head: 'bot: { name: Nora }',
  },
  'a verb of its own without its parameters': {
    steps: `${TAKEN}- agent: { does: calls, with: {} }`,
    is: /^driver: .*calls.* \| .*\$\(list\) is not known here/,
  },
  'a verb the driver has not': {
    steps: `${TAKEN}- agent: { does: dance }`,
    is: /^inconclusive, step 4 \(agent does dance\) needs does\.dance, and the agent driver has only accept, /,
  },
  'a target the driver has not': {
    steps: '- target: restart\n- check: { status: bot }',
    is: /^inconclusive, step 1 \(target restart\) needs target\.restart, and the agent driver has only accept/,
  },
  'a verb no step has, but the head': {
    head: 'requires: [agent.dance, agent.inbox]',
    steps: TAKEN,
    is: /^inconclusive, a verb no step has, but the head requires dance, and the agent driver has only accept, /,
  },
  'a verb the desk refuses': {
    steps: '- agent: accept\n- expect: start',
    is: /^driver: agent accept \| agent accept failed: POST .*: answered 409: \{"error":"no request"\}/,
  },
}

it('a scenario with agent steps is inconclusive without a driver', async () => {
  const steps = '- press: handover\n- agent: { sees: { request: true } }'
  const is =
    /^inconclusive, step 2 \(agent sees .*\) needs inbox, and there is no agent driver \(--agent-driver FILE\)$/
  const report = await expectRows(await startScriptedIntermediary(), { blind: { steps, is } }, { driver: null })
  expect(report.exit_code).toBe(4)
})

const sees: Record<string, Row> = {
  'the request and a text': `- press: handover\n- agent: { sees: { request: true } }\n${TAKEN.replace('\n- press: handover', '')}- user: Hi\n- agent: { sees: Hi }`,
  'what comes later': `${TAKEN}${shows('{ text: Later, after: 150 }')}- agent: { sees: Later }`,
  'twice instead of once, while it watches': {
    steps: `${TAKEN}${shows('{ text: Hi }', '{ text: Hi, after: 100 }')}- agent: { sees: Hi, for: 1m }`,
    is: /^sees: agent sees "Hi" exactly once for 1m \| .*2/,
  },
  'the same text of two turns': `${TAKEN}- user: ok\n- agent: { sees: ok }\n- user: ok\n- agent: { sees: ok }`,
}

describeRows('verbs and sees', { ...verbs, ...sees })
