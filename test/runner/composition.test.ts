/** Steps of steps, parts, values and the end of a scenario. */
import { expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { SOON, TAKEN } from './scripted-steps.ts'
import { describeRows, expectRows, linesOf, type Row, runRows, scenarioIn } from './table.ts'

const PART = `version: 1
kind: partial
params: { who: null, greeting: Hello, patience: 30s }
steps:
  - agent: accept
  - expect: { start: { sender: { name: $(who) } }, within: $(patience) }
  - agent: { says: "$(greeting), I am $(who)" }
  - expect: { message: { message: "$(greeting), I am $(who)" } }
`

const rows: Record<string, Row> = {
  repeat: `${TAKEN}- repeat: { times: 3, steps: [{ user: "msg $(i)" }, { agent: { sees: "msg $(i)" } }] }
- check: { events: { MESSAGE FROM USER: 3 }, transcript: { last: [{ user: msg 1 }, { user: msg 2 }, { user: msg 3 }] } }`,
  'repeat, and the second fails': {
    head: SOON,
    steps: `- repeat: { times: 3, steps: [{ user: "msg $(i)" }, { check: { transcript: { lacks: [{ user: msg 2 }] } } }] }`,
    is: /^check: .*msg 2/,
  },
  'parallel users': `- parallel:
    users: 4
    steps:
      - press: handover
      - agent: accept
      - expect: { start: {}, capture: { own: body.chat_id } }
      - user: "I am $(user) of $(own)"
      - agent: { sees: "I am $(user) of $(chat.id)" }
- log: all of them`,
  'parallel users, and one fails': {
    head: SOON,
    steps: `- parallel: { users: 3, steps: [{ user: "I am $(user)" }, { check: { transcript: { lacks: [{ user: I am 2 }] } } }, { press: handover }] }`,
    is: /^check: .*I am 2/,
  },
  'parallel lists': `${TAKEN}- parallel:
    - - user: one
      - agent: { sees: one }
    - - agent: type
      - expect: typing_start
- agent: leave
- expect: end`,
  'parallel chats': {
    head: 'chats: { ada: { language: nb }, bo: { language: ar } }',
    steps: `- parallel:
    - - { press: handover, chat: ada }
      - { agent: accept, chat: ada }
      - { expect: start, chat: ada }
    - - { press: handover, chat: bo }
      - { check: { status: pending }, chat: bo }
- { check: { status: agent }, chat: ada }`,
  },
  include: '- press: handover\n- include: { file: part.yaml, with: { who: Anna } }',
  'include, and it fails inside': {
    head: SOON,
    steps: '- include: { file: failing.yaml, with: { who: Bo } }',
    is: /^check: .*Bo/,
  },
  'vars in texts and in numbers': {
    head: 'vars: { hello: Hi there, often: 2, quickly: 20s }\nchat: { language: nb, user: { first_name: Ada, last_name: L } }\nbot: { id: 77, name: Nora }',
    steps: `${TAKEN}- repeat: { times: $(often), steps: [{ user: "$(hello) $(chat.name) $(chat.language) $(bot.id) $$(x)" }] }
- agent: { sees: "Hi there Ada L nb 77 $$(x)", times: $(often), within: $(quickly) }`,
  },
  'config and texts': {
    head: 'availability: CLOSED\nconfig: { messages: { closed: We are closed. } }',
    steps:
      '- press: handover\n- check: { transcript: { last: [{ bot: $(config.messages.closed) }], contains: [{ bot: We are closed. }] } }\n- user: $(texts.emoji)\n- check: { transcript: { contains: [{ user: $(texts.emoji) }] } }',
  },
  env: `${TAKEN}- agent: { says: $(env.TEAM) }\n- expect: { message: { message: blue } }`,
  'the simulator': `${TAKEN}- agent: { says: "$(sim.bot_id) $(sim.url)" }\n- expect: { message: { message: { $re: '^\\d+ http://127' } } }`,
  'history, source, user, context and labels': {
    head: 'chat: { source: facebook, user: { id: u-1, first_name: Ada, last_name: L }, history: [{ user: Hi }, { bot: Hello }], context: { plan: gold }, labels: [vip] }',
    steps: `${TAKEN}- agent: { does: calls, with: { list: [{ transcript: {} }] } }
- expect: { transcript: {}, capture: { plan: response.chat.context.plan, label: "response.chat.labels[0]" } }
- agent: { says: "$(plan) $(label) $(chat.source) $(chat.user_id) $(chat.name)" }
- expect: { message: { message: gold vip facebook u-1 Ada L } }
- check: { transcript: { contains: [{ user: Hi }, { bot: Hello }] } }`,
  },
  'a shipped conversation': {
    head: 'chat: { transcript: nb-shop }',
    steps: '- check: { transcript: { length: { $gte: 3 } } }',
  },
  'the bot replies': {
    head: 'bot: { replies: [{ match: parcel, text: One moment. }] }',
    steps: '- user: my parcel\n- check: { transcript: { last: [{ user: my parcel }, { bot: One moment. }] } }',
  },
  'a value that was never captured': {
    steps:
      '- press: handover\n- { expect: { start: {}, capture: { who: body.sender.name }, within: 50ms }, soft: true }\n- user: I am $(who)',
    is: /^2 failures: expect: .* \/\/ stimulus: .* \| .* failed: \$\(who\) is not known here/,
  },
  'finally after a failure': {
    head: `${SOON}\nfinally:\n  - { agent: leave }\n  - expect: { end: {}, within: 30s }\n  - check: { status: bot }`,
    steps: `${TAKEN}- check: { status: pending }`,
    is: /^check: check \{ status: "pending" \}/,
  },
}

const FAILING = `version: 1
kind: partial
params: { who: null }
steps:
  - check: { transcript: { contains: [{ user: $(who) }] } }
`
const files = { 'part.yaml': PART, 'failing.yaml': FAILING }

describeRows('repeat, parallel, include, values and finally', rows, { files, env: { TEAM: 'blue' } }, run =>
  it.each([
    ['finally after a failure', 'pass, pass, pass, fail, pass, pass, pass'],
    ['repeat, and the second fails', 'pass, pass, pass, fail, not reached, not reached'],
  ])('outcomes of steps: %s: %s', async (name, outcomes) => {
    const { steps } = scenarioIn((await run()).report, name)
    expect(steps.map(({ outcome }) => outcome).join(', ')).toBe(outcomes)
  }),
)

it('an unset variable is an error of its scenario only, and the others run', async () => {
  const report = await expectRows(await startScriptedIntermediary(), {
    needy: {
      steps: '- user: $(env.NOWHERE)\n- check: { status: bot }',
      is: /^error, the environment variable NOWHERE is not set, and \$\(env\.NOWHERE\) reads it/,
    },
    other: '- check: { status: bot }',
  })
  expect(report.exit_code).toBe(3)
})

it('a matrix runs once for each combination, with separate ids', async () => {
  const each = {
    head: 'matrix: { language: [nb, ar], word: [x, y] }\nchat: { language: $(language) }\nseed: 5',
    steps: `${TAKEN}- user: "$(word) $(chat.language)"\n- agent: { sees: "$(word) $(language)" }`,
  }
  const report = await runRows(await startScriptedIntermediary(), { each })
  expect(new Set(Object.values(linesOf(report)))).toEqual(new Set(['pass']))
  expect(new Set(report.scenarios.map(({ conversations }) => conversations.main)).size).toBe(4)
  expect(report.scenarios.map(({ seed }) => seed)).toEqual([5, 5, 5, 5])
})
