/** Tests `check`, forbidden calls, unexpected calls and soft failures. */
import { expect, it } from 'vitest'
import { calls, HI, SOON, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row } from './table.ts'

const BAD = '{ message: { message: 12 } }'
/** Calls that no step expects, and one after them: the scenario does not end before they have come. */
const unexpected = (...list: string[]) => `${TAKEN}${calls(...list, '{ typing_stop: {} }')}- expect: typing_stop`
const fails = (check: string, is: RegExp): Row => ({ head: SOON, steps: `- check: { ${check} }`, is })

const checks: Record<string, Row> = {
  status: { steps: `- check: { status: bot }\n- press: handover\n- check: { status: pending }`, is: 'pass' },
  'status that comes later': {
    steps: `- press: handover\n${calls('{ after: 100, start: {} }')}- check: { status: agent }\n- expect: start`,
    is: 'pass',
  },
  'another status': fails('status: agent', /^check: .*status: expected "agent", received "bot"/),
  typing: { steps: `${TAKEN}- agent: type\n- check: { typing: true }\n- expect: typing_start`, is: 'pass' },
  'no typing': fails('typing: true', /^check: .*typing: expected true, received false/),
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
  'another transcript': fails('transcript: { contains: [{ user: Ho }] }', /^check: .*Ho/),
}

const unwanted: Record<string, Row> = {
  none: { steps: `${TAKEN}- none: { end: {}, message: { message: Hi }, for: 80ms }`, is: 'pass' },
  'none, and one comes': {
    steps: `${TAKEN}${calls('{ after: 50, end: {} }')}- none: { end: {}, for: 1m }`,
    is: /^none: none end for 1m \| #\d+ end was called at /,
  },
  'never start': { head: 'never: [start]', steps: TAKEN, is: /^never: never start \| / },
  'never with a body': {
    head: 'never: [{ message: { message: { $re: /<script/ } } }, availability]',
    steps: `${TAKEN}${calls(HI)}- expect: message`,
    is: 'pass',
  },
  'a call without a step': {
    steps: unexpected(HI),
    is: /^unexpected: a step for every call \| no step expects #\d+ message /,
  },
  'a read without a step': { steps: unexpected('{ transcript: {} }'), is: 'pass' },
  'a read that is not allowed': {
    head: 'strict: { allow: [] }',
    steps: unexpected('{ transcript: {} }'),
    is: /^unexpected: /,
  },
  'strict: false': { head: 'strict: false', steps: unexpected(HI, BAD), is: 'pass' },
  'strict: true': {
    head: 'strict: true',
    steps: unexpected(BAD),
    is: /contract: .*platform refused #\d+ .* with 400/,
  },
  'contract: warn': { head: 'strict: { unexpected: off, contract: warn }', steps: unexpected(BAD), is: 'pass' },
  'availability, which the scenario does not mention': {
    steps: unexpected('{ availability: { availability: OPEN } }'),
    is: 'pass',
    head: 'exclusive: true',
  },
  'availability, which the scenario mentions': {
    steps: `${unexpected('{ availability: { availability: OPEN } }')}\n- check: { availability: OPEN }`,
    is: /^unexpected: .*availability/,
  },
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
  it('warnings', async () => {
    const { scenarios } = (await run()).report
    const rules = Object.fromEntries(scenarios.map(({ name, warnings }) => [name, warnings.map(({ rule }) => rule)]))
    expect(rules).toMatchObject({
      'strict: false': expect.arrayContaining(['unexpected-call', 'contract']),
      'contract: warn': ['contract'],
    })
  }),
)
