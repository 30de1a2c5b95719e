/** Tests `check`, forbidden calls, unexpected calls and soft failures. */
import { expect, it } from 'vitest'
import { calls, HI, SOON, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row, scenarioIn } from './table.ts'

const BAD = '{ message: { message: 12 } }'
/** Calls that no step expects, and one after them: the scenario does not end before they have come. */
const unexpected = (...list: string[]) => `${TAKEN}${calls(...list, '{ typing_stop: {} }')}- expect: typing_stop`

const checks: Record<string, Row> = {
  status: `- check: { status: bot }\n- press: handover\n- check: { status: pending }`,
  'status that comes later': `- press: handover\n${calls('{ after: 100, start: {} }')}- check: { status: agent }\n- expect: start`,
  'another status': { head: SOON, steps: '- check: { status: agent }', is: /^check: .*"agent", received "bot"/ },
  typing: `${TAKEN}- agent: type\n- check: { typing: true }\n- expect: typing_start`,
  availability: { head: 'availability: CLOSED', steps: '- check: { availability: CLOSED }' },
  'closed, opened by a step': {
    head: 'availability: CLOSED',
    steps: `- press: handover\n- check: { events: { REQUESTING TAKEOVER: 0 } }\n- availability: OPEN\n- press: handover\n- check: { events: { REQUESTING TAKEOVER: 1 } }`,
  },
  transcript: {
    head: 'chat: { history: [{ user: Hi }, { bot: Hello }, { agent: Bo, text: How are you? }] }',
    steps: `
- check: { transcript: { last: [{ bot: Hello }, { agent: Bo, text: How are you? }], length: 3 } }
- check: { transcript: { contains: [{ user: Hi }, { agent: { $any: true }, text: { $re: are } }], lacks: [{ bot: Bye }], length: { $gte: 3 } } }`,
  },
}

const unwanted: Record<string, Row> = {
  none: `${TAKEN}- none: { end: {}, message: { message: Hi }, for: 80ms }`,
  'none, and one comes': {
    steps: `${TAKEN}${calls('{ after: 50, end: {} }')}- none: { end: {}, for: 1m }`,
    is: /^none: none end for 1m \| #\d+ end was called at /,
  },
  'never start': { head: 'never: [start]', steps: TAKEN, is: /^never: never start \| / },
  'a call without a step': {
    steps: unexpected(HI),
    is: /^unexpected: a step for every call \| no step expects #\d+ message /,
  },
  'strict: false': { head: 'strict: false', steps: unexpected(HI, BAD) },
  'a soft failure goes on': {
    head: SOON,
    steps:
      '- { check: { status: agent }, soft: true }\n- { check: { typing: true }, soft: true }\n- check: { status: bot }',
    is: /^2 failures: check: .* \/\/ check: /,
  },
  'nothing is waited for when every chat has failed': {
    head: SOON,
    steps: '- parallel: { users: 2, steps: [{ check: { status: agent } }] }\n- wait: 1h',
    is: /^2 failures: check: .*"user \d".* \/\/ check: .*"user \d"[^/]*$/,
  },
  'a failure ends only its chat': {
    head: `${SOON}\nchats: { ada: {}, bo: {} }`,
    steps:
      '- { check: { status: agent }, chat: ada }\n- { check: { typing: true }, chat: bo }\n- { check: { typing: true }, chat: ada }',
    is: /^2 failures: check: .*"ada".* \/\/ check: .*"bo"/,
  },
}

describeRows('check, none, never, strict and soft', { ...checks, ...unwanted }, {}, run =>
  it('strict: false makes failures warnings', async () => {
    const { warnings } = scenarioIn((await run()).report, 'strict: false')
    expect(warnings.map(({ rule }) => rule)).toEqual(expect.arrayContaining(['unexpected-call', 'contract']))
  }),
)
