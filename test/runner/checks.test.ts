/** Tests `check`, forbidden calls and unexpected calls. */
import { expect, it } from 'vitest'
import { calls, HI, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row } from './table.ts'

const BAD = '{ message: { message: 12 } }'
const SOON = 'timeouts: { expect: 500ms, settle: 50ms }'
const QUIET = '- none: { end: {}, for: 80ms }'

const checks: Record<string, Row> = {
  status: { steps: `- check: { status: bot }\n- press: handover\n- check: { status: pending }`, is: 'pass' },
  'status that comes later': {
    steps: `- press: handover\n${calls('{ after: 100, start: {} }')}- check: { status: agent }\n- expect: start`,
    is: 'pass',
  },
  'another status': {
    head: SOON,
    steps: '- check: { status: agent }',
    is: /^check: .*status: expected "agent", received "bot"/,
  },
  typing: { steps: `${TAKEN}- agent: type\n- check: { typing: true }\n- expect: typing_start`, is: 'pass' },
  'no typing': {
    head: SOON,
    steps: '- check: { typing: true }',
    is: /^check: .*typing: expected true, received false/,
  },
  availability: { head: 'availability: CLOSED', steps: '- check: { availability: CLOSED }', is: 'pass' },
  'another availability': {
    head: SOON,
    steps: '- availability: { availability: CLOSED, reason: OTHER }\n- check: { availability: OPEN }',
    is: /^check: .*availability: expected "OPEN", received "CLOSED"/,
  },
  'closed, opened by a step': {
    head: 'availability: CLOSED',
    steps: `- press: handover\n- check: { events: { REQUESTING TAKEOVER: 0 } }\n- availability: OPEN\n- press: handover\n- check: { events: { REQUESTING TAKEOVER: 1 } }`,
    is: 'pass',
  },
  'other events': {
    head: SOON,
    steps: '- press: handover\n- check: { events: { REQUESTING TAKEOVER: { $gte: 2 } } }',
    is: /^check: .*REQUESTING TAKEOVER/,
  },
  transcript: {
    head: 'chat: { history: [{ user: Hi }, { bot: Hello }, { agent: Bo, text: How are you? }] }',
    steps: `
- check: { transcript: { last: [{ bot: Hello }, { agent: Bo, text: How are you? }], length: 3 } }
- check: { transcript: { contains: [{ user: Hi }, { agent: { $any: true }, text: { $re: are } }], lacks: [{ bot: Bye }], length: { $gte: 3 } } }`,
    is: 'pass',
  },
  'another last': {
    head: SOON,
    steps: '- user: Hi\n- check: { transcript: { last: [{ user: Ho }] } }',
    is: /^check: .*Ho/,
  },
  'not in it': { head: SOON, steps: '- check: { transcript: { contains: [{ user: Ho }] } }', is: /^check: .*Ho/ },
  'in it': { head: SOON, steps: '- user: Ho\n- check: { transcript: { lacks: [{ user: Ho }] } }', is: /^check: .*Ho/ },
  'another length': { head: SOON, steps: '- check: { transcript: { length: 7 } }', is: /^check: .*7/ },
}

describeRows('check', checks)

const unwanted: Record<string, Row> = {
  none: { steps: `${TAKEN}- none: { end: {}, message: { message: Hi }, for: 80ms }`, is: 'pass' },
  'none, and one comes': {
    steps: `${TAKEN}${calls('{ after: 50, end: {} }')}- none: { end: {}, for: 10s }`,
    is: /^none: none end for 10s \| #\d+ end was called at /,
  },
  'none of this kind': {
    steps: `${TAKEN}${calls(HI)}- none: { message: { message: Ho }, for: 100ms }\n- expect: message`,
    is: 'pass',
  },
  'never start': {
    head: 'never: [start]',
    steps: `- press: handover\n- agent: accept\n- expect: start`,
    is: /^never: never start \| /,
  },
  'never with a body': {
    head: 'never: [{ message: { message: { $re: /<script/ } } }, availability]',
    steps: `${TAKEN}${calls(HI)}- expect: message`,
    is: 'pass',
  },
  'a call without a step': {
    steps: `${TAKEN}${calls(HI)}${QUIET}`,
    is: /^unexpected: a step for every call \| no step expects #\d+ message /,
  },
  'calls while it listens for the quiet': {
    head: 'timeouts: { settle: 250ms }',
    steps: `${TAKEN}${calls(...Array(3).fill('{ after: 150, message: { message: Hi } }'))}- check: { status: agent }`,
    is: /^unexpected: .*no step expects #\d+ .*, and 2 more /,
  },
  'a read without a step': { steps: `${TAKEN}${calls('{ transcript: {} }')}${QUIET}`, is: 'pass' },
  'a read that is not allowed': {
    head: 'strict: { allow: [] }',
    steps: `${TAKEN}${calls('{ transcript: {} }')}${QUIET}`,
    is: /^unexpected: /,
  },
  'allowed by name': { head: 'strict: { allow: [message] }', steps: `${TAKEN}${calls(HI)}${QUIET}`, is: 'pass' },
  'strict: false': { head: 'strict: false', steps: `${TAKEN}${calls(HI, BAD)}${QUIET}`, is: 'pass' },
  'strict: true': {
    head: 'strict: true',
    steps: `${TAKEN}${calls(BAD)}${QUIET}`,
    is: /contract: .*platform refused #\d+ .* with 400/,
  },
  'unexpected: off': { head: 'strict: { unexpected: off }', steps: `${TAKEN}${calls(HI)}${QUIET}`, is: 'pass' },
  'contract: off': {
    head: 'strict: { unexpected: off, contract: off }',
    steps: `${TAKEN}${calls(BAD)}${QUIET}`,
    is: 'pass',
  },
  'contract: warn': {
    head: 'strict: { unexpected: off, contract: warn }',
    steps: `${TAKEN}${calls(BAD)}${QUIET}`,
    is: 'pass',
  },
  'availability, of which nothing is said': {
    steps: `${TAKEN}${calls('{ availability: { availability: OPEN } }')}${QUIET}`,
    is: 'pass',
    head: 'exclusive: true',
  },
  'availability, of which something is said': {
    steps: `${TAKEN}${calls('{ availability: { availability: OPEN } }')}${QUIET}\n- check: { availability: OPEN }`,
    is: /^unexpected: .*availability/,
  },
  'a soft failure goes on': {
    head: SOON,
    steps:
      '- { check: { status: agent }, soft: true }\n- { check: { typing: true }, soft: true }\n- check: { status: bot }',
    is: /^2 failures: check: .* \/\/ check: /,
  },
  'a failure ends the chat': {
    head: SOON,
    steps: '- check: { status: agent }\n- check: { typing: true }',
    is: /^check: /,
  },
  'nothing is waited for when every chat has failed': {
    head: 'timeouts: { expect: 500ms, settle: 50ms, scenario: 2s }',
    steps: '- parallel: { users: 2, steps: [{ check: { status: agent } }] }\n- wait: 1h',
    is: /^2 failures: check: .*"user \d".* \/\/ check: .*"user \d"[^/]*$/,
  },
  'only that chat': {
    head: `${SOON}\nchats: { ada: {}, bo: {} }`,
    steps:
      '- { check: { status: agent }, chat: ada }\n- { check: { typing: true }, chat: bo }\n- { check: { typing: true }, chat: ada }',
    is: /^2 failures: check: .*"ada".* \/\/ check: .*"bo"/,
  },
}

describeRows('none, never, strict and soft', unwanted, {}, run =>
  it('warnings', async () => {
    const { scenarios } = (await run()).report
    const rules = Object.fromEntries(scenarios.map(({ name, warnings }) => [name, warnings.map(({ rule }) => rule)]))
    expect(rules).toMatchObject({
      'strict: false': expect.arrayContaining(['unexpected-call', 'contract']),
      'contract: warn': ['contract'],
      'contract: off': [],
      'unexpected: off': ['sender-incomplete'],
    })
  }),
)
