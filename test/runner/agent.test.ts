/** What the human agent does and sees, through a driver that speaks HTTP. */
import { expect, it } from 'vitest'
import { freePort } from '../support/port.ts'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { TAKEN } from './scripted-steps.ts'
import { describeRows, expectRows, linesOf, type Row, runRows } from './table.ts'

const shows = (...list: string[]) => `- agent: { does: shows, with: { list: [${list.join(', ')}] } }\n`

const verbs: Record<string, Row> = {
  'accept, says, type, stop and leave': {
    steps: `${TAKEN}
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
    is: 'pass',
  },
  'away and back': {
    steps: `
- agent: away
- expect: { availability: { availability: CLOSED, reason: AGENT_AVAILABILITY } }
- check: { availability: CLOSED }
- agent: back
- expect: { availability: { availability: OPEN } }
- check: { availability: OPEN }`,
    is: 'pass',
  },
  'what it writes is not what was asked for': {
    steps: `${TAKEN}- agent: { says: Hello }\n- expect: { message: { message: Hallo }, within: 400ms }`,
    is: /^expect: .*Hallo.* \| no call of message matches; nearest: #\d+ message .*received "Hello"/,
  },
  'a verb of its own, with parameters': {
    steps: `${TAKEN}- agent: { does: calls, with: { list: [{ message: { message: moved to $(bot.name) } }] } }
- expect: { message: { message: moved to Nora } }`,
    head: 'bot: { name: Nora }',
    is: 'pass',
  },
  'a verb of its own without its parameters': {
    steps: `${TAKEN}- agent: { does: calls, with: {} }`,
    is: /^driver: .*calls.* \| .*\$\(list\) is not known here/,
  },
  'a verb the driver has not': {
    steps: `${TAKEN}- agent: { does: dance }`,
    is: /^inconclusive, step 4 \(agent does dance\) needs does\.dance, and the agent driver has only accept, /,
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

it('an unreachable help desk is an environment error, unless the intermediary has answered', async () => {
  const intermediary = await startScriptedIntermediary()
  const port = await freePort()
  const driver = intermediary.driver.replaceAll('"/desk/', `"http://127.0.0.1:${port}/desk/`)
  const rows: Record<string, Row> = {
    first: {
      steps: '- agent: away\n- expect: availability',
      is: /^error, environment: agent away \| agent away failed: POST .*: nothing listens at/,
    },
    later: {
      steps: '- press: handover\n- agent: accept\n- expect: start',
      is: /^driver: agent accept \| agent accept failed: POST .*: nothing listens at/,
    },
  }
  expect((await expectRows(intermediary, rows, { driver })).exit_code).toBe(1)
})

it('a scenario with agent steps is inconclusive without a driver', async () => {
  const steps = '- press: handover\n- agent: { sees: { request: true } }'
  const report = await runRows(await startScriptedIntermediary(), { blind: { steps, is: 'pass' } }, { driver: null })
  expect(linesOf(report)).toEqual({
    blind:
      'inconclusive, step 2 (agent sees { request: true }) needs inbox, and there is no agent driver (--agent-driver FILE)',
  })
  expect(report.exit_code).toBe(4)
})

const sees: Record<string, Row> = {
  'the request and a text': {
    steps: `- press: handover\n- agent: { sees: { request: true } }\n${TAKEN.replace('\n- press: handover', '')}- user: Hi\n- agent: { sees: Hi }`,
    is: 'pass',
  },
  'nothing before the chat is known': {
    steps: '- user: Hi\n- agent: { sees: Hi, within: 100ms }',
    is: /^driver: agent sees .* answered 404: \{"error":"unknown chat"\}/,
  },
  'what comes later': { steps: `${TAKEN}${shows('{ text: Later, after: 150 }')}- agent: { sees: Later }`, is: 'pass' },
  'twice, as wanted': {
    steps: `${TAKEN}${shows('{ text: Hi }', '{ text: Hi, after: 50 }')}- agent: { sees: Hi, times: 2 }`,
    is: 'pass',
  },
  'twice instead of once, while it watches': {
    steps: `${TAKEN}${shows('{ text: Hi }', '{ text: Hi, after: 100 }')}- agent: { sees: Hi, for: 1m }`,
    is: /^sees: agent sees "Hi" exactly once for 1m \| .*2/,
  },
  'once, while it watches': { steps: `${TAKEN}${shows('{ text: Hi }')}- agent: { sees: Hi, for: 200ms }`, is: 'pass' },
  'the same text of two turns': {
    steps: `${TAKEN}- user: ok\n- agent: { sees: ok }\n- user: ok\n- agent: { sees: ok }`,
    is: 'pass',
  },
  'not what it saw in a turn before': {
    steps: `${TAKEN}- user: one\n- agent: { sees: one }\n- user: two\n- agent: { sees: one, within: 100ms }`,
    is: /^sees: agent sees "one"/,
  },
}

describeRows('verbs and sees', { ...verbs, ...sees })
