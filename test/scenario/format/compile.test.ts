/** Tests plans: step numbers, conversations, turns, defaults, requirements, hints. */
import { describe, expect, it } from 'vitest'
import { namedTexts } from '../../../src/evaluation/scenario/compile/step-compiler.ts'
import { createVariables, interpolate } from '../../../src/evaluation/scenario/interpolation.ts'
import { allSteps, complaints, HEAD, load, planOf, plansOf } from './written.ts'

const turnsOf = async (steps: string) => allSteps(await planOf(steps)).map(({ turn }) => turn)

describe('turns', () => {
  it.each<[string, string, number[][]]>([
    [
      'a turn has stimuli and then checks; fault and log change nothing',
      `
  - fault: { on: api, drop: before }
  - press: handover
  - fault: { on: api, drop: after }
  - expect: start
  - log: then
  - check: { status: agent }
  - user: Hi
  - agent: { sees: Hi }
`,
      [[], [2], [2], [2], [2], [2], [7], [7]],
    ],
    ['a check before any stimulus: from the beginning', '  - check: { status: bot }\n  - expect: start\n', [[], []]],
    [
      'branches begin with the turn before them; a check after them considers calls since the earliest of their last turns',
      `
  - press: handover
  - parallel:
      - [{ expect: start }, { user: a }, { expect: end }]
      - [{ user: b }, { expect: start }]
      - [{ log: c }]
  - expect: message
  - user: d
`,
      [[1], [1], [3], [3], [1], [1], [1], [1, 3], [9]],
    ],
    [
      'a stimulus after branches continues their turn when one of them ends without a check',
      '  - parallel: [[{ user: a }], [{ user: b }, { expect: start }]]\n  - user: c\n  - expect: end\n',
      [[1], [2], [2], [1, 2], [1, 2]],
    ],
  ])('%s', async (_, steps, turns) => expect(await turnsOf(steps)).toEqual(turns))

  it.each([
    'user: a',
    'press: handover',
    'bot: a',
    'agent: accept',
    'wait: 1s',
    'availability: OPEN',
    'deliver: { event: X }',
    'target: restart',
  ])('%s after a check opens a turn', async stimulus => {
    const checks = ['expect: start', 'none: { start: {}, for: 1s }', 'check: { status: bot }', 'agent: { sees: a }']
    for (const check of checks) {
      const steps = `  - ${stimulus}\n  - ${stimulus}\n  - ${check}\n  - ${check}\n  - ${stimulus}\n`
      expect(await turnsOf(steps), check).toEqual([[1], [1], [1], [1], [5]])
    }
  })

  it('turns continue through include, repeat and finally', async () => {
    const files = {
      's.yaml': `${HEAD}steps:\n  - repeat: { times: 2, steps: [{ user: a }, { include: p.yaml }] }\n  - press: handover\nfinally: [{ expect: end }]\n`,
      'p.yaml': 'version: 1\nkind: partial\nsteps: [{ user: b }, { expect: start }]\n',
    }
    const [plan] = await plansOf(files)
    expect(allSteps(plan!).map(({ turn }) => turn)).toEqual([[1], [1], [1], [4], [4], [4], [7], [7]])
    expect(plan).toMatchObject({ finally: [{ number: 8 }], count: 8 })
  })

  it('the inbox is read before the step that opens the turn of a sees', async () => {
    const steps = `
  - press: handover
  - user: a
  - agent: { sees: a }
  - user: b
  - parallel: { users: 2, steps: [{ agent: { sees: b } }, { user: c }, { agent: { sees: c } }] }
  - agent: { sees: d }
`
    const reads = allSteps(await planOf(steps)).map(({ number, readsInboxOf }) => [number, ...readsInboxOf].join())
    expect(reads.filter(row => row.includes(','))).toEqual([
      '1,main',
      '4,user 1,user 2',
      '6,user 1,main',
      '9,user 2,main',
    ])
  })
})

describe('conversations', () => {
  const CROWD = '  - parallel: { users: 2, steps: [{ user: "$(user)" }, { expect: start }] }\n'

  it.each<[string, string, string, object[]]>([
    ['a single chat is called main', '  - expect: start\n', '', [{ name: 'main', language: 'en', source: 'web' }]],
    [
      'several chats have their own names',
      '  - { expect: start, chat: bo }\n',
      'chats: { ada: { language: nb }, bo: {} }\n',
      [
        { name: 'ada', language: 'nb' },
        { name: 'bo', language: 'en' },
      ],
    ],
    [
      'parallel users get new chats; the chat of the scenario is opened only if a step uses it',
      `  - fault: { on: api, latency: 1s }\n  - wait: 1s\n  - log: now\n${CROWD}`,
      'chat: { language: nb }\n',
      [1, 2].map(user => ({ name: `user ${user}`, language: 'nb', scope: { user } })),
    ],
    [
      'a second parallel adds further users',
      `${CROWD}${CROWD}  - user: a\n`,
      '',
      ['main', 'user 1', 'user 2', 'user 3', 'user 4'].map(name => ({ name })),
    ],
    [
      'a shipped conversation supplies the fields that the scenario omits',
      '  - expect: start\n',
      'chat: { transcript: nb-shop, labels: [vip] }\n',
      [{ transcript: 'nb-shop', language: null, source: null, context: null, labels: ['vip'] }],
    ],
  ])('%s', async (_, steps, head, conversations) => {
    expect((await planOf(steps, head)).conversations).toMatchObject(conversations)
  })

  it('steps of parallel users have the number of their user', async () => {
    const steps = allSteps(await planOf(CROWD))
    expect(steps.map(({ conversation, scope, label }) => [conversation, scope.user, label])).toEqual([
      ['user 1', 1, 'user "1"'],
      ['user 1', 1, 'expect start'],
      ['user 2', 2, 'user "2"'],
      ['user 2', 2, 'expect start'],
    ])
  })

  it('chat of a repeat applies to the steps without a chat of their own', async () => {
    const steps =
      '  - { repeat: { times: 1, steps: [{ user: a }, { user: b, chat: ada }] }, chat: bo }\n  - { expect: start, chat: ada }\n  - expect: availability\n'
    const plan = await planOf(steps, 'chats: { ada: {}, bo: {} }\n')
    expect(allSteps(plan).map(({ conversation }) => conversation)).toEqual(['bo', 'ada', 'ada', 'ada'])
  })
})

describe('values', () => {
  it('a short scenario gets defaults', async () => {
    expect(await planOf('  - expect: start\n')).toMatchObject({
      ...{ file: 's.yaml', tags: [], seed: null, clock: null, availability: null, tokens: false, exclusive: null },
      timeouts: { ackMs: 10_000, expectMs: 5000, settleMs: 300, scenarioMs: 60_000 },
      strict: { unexpected: 'fail', contract: 'fail', allow: ['transcript', 'summarize', 'chat'] },
    })
  })

  it.each([
    ['true', { unexpected: 'fail', contract: 'fail' }],
    ['false', { unexpected: 'warn', contract: 'warn' }],
    ['{ unexpected: off, allow: [] }', { unexpected: 'off', contract: 'fail', allow: [] }],
  ])('strict: %s', async (written, strict) => {
    expect((await planOf('  - expect: start\n', `strict: ${written}\n`)).strict).toMatchObject(strict)
  })

  it('a matrix gives one plan for each combination of values', async () => {
    const plans = await plansOf(
      `${HEAD}matrix: { language: [no, ar], json: [compact, pretty] }\nvars: { both: "$(language)/$(json)" }\nchat: { language: $(language) }\nconfig: { webhook: { json: $(json) } }\nsteps:\n  - user: $(both)\n  - expect: start\n`,
    )
    expect(plans.map(({ name }) => name)).toEqual([
      'T [language=no, json=compact]',
      'T [language=no, json=pretty]',
      'T [language=ar, json=compact]',
      'T [language=ar, json=pretty]',
    ])
    expect(plans[1]).toMatchObject({
      matrix: { language: 'no', json: 'pretty' },
      vars: { both: 'no/pretty' },
      config: { 'webhook.json': 'pretty' },
      steps: [{ label: 'user "no/pretty"', action: { text: '$(both)' } }, {}],
    })
  })

  it('$(name) is interpolated in the head and in names of steps', async () => {
    const plans = await plansOf(
      `version: 1\nname: $(hello) in $(language) for $$(5)\ntags: [lang-$(language)]\nspec: [$(rule)]\nmatrix: { language: [no, ar] }\nvars: { hello: Hi, rule: E4 }\nsteps:\n  - repeat: { times: 2, steps: [{ expect: start, name: round $(i) }] }\n`,
    )
    expect(plans).toMatchObject([
      { name: 'Hi in no for $(5) [language=no]', tags: ['lang-no'], spec: ['E4'] },
      { name: 'Hi in ar for $(5) [language=ar]', tags: ['lang-ar'], spec: ['E4'] },
    ])
    expect(allSteps(plans[0]!).map(({ name }) => name)).toEqual(['round 1', 'round 2'])
  })

  it('$(name) sets durations, counts and statuses; a wrong value is reported', async () => {
    const steps = `
  - wait: $(pause)
  - user: { text: x, ack: $(status), async: $(yes) }
  - expect: { start: {}, times: $(often), apart: $(pause) }
  - repeat: { times: $(two), steps: [{ wait: "$(i)" }] }
`
    const head = 'vars: { pause: 2s, status: 503, yes: true, often: { max: 3 }, two: 2 }\n'
    expect(await complaints(`${HEAD}${head}steps:${steps}`)).toMatch(
      /wait: must be a duration with a unit: .*, got 1\./,
    )
    expect(allSteps(await planOf(steps.replace('"$(i)"', '1s'), head)).map(({ action }) => action)).toMatchObject([
      { verb: 'wait', ms: 2000 },
      { ack: 503, async: true },
      { tree: { times: { min: 0, max: 3 }, apartMs: 2000 } },
      {},
      {},
    ])
  })

  it.each(['3s', '5s..3s'])('think: %s is no range', async range => {
    expect(await complaints(`${HEAD}steps: [{ think: ${range} }]`)).toMatch(
      /think: must be two durations, the shorter one first: 3s\.\.20s, got /,
    )
  })

  it('a var that reads a value of the run is inserted into the texts that use it', async () => {
    const plan = await planOf(
      '  - user: $(greeting)\n  - expect: { message: { message: "say $(greeting)" } }\n',
      'vars: { greeting: Hi $(chat.name) }\n',
    )
    expect(plan).toMatchObject({
      vars: { greeting: 'Hi $(chat.name)' },
      steps: [
        { action: { text: 'Hi $(chat.name)' } },
        { action: { tree: { body: { message: 'say Hi $(chat.name)' } } } },
      ],
    })
  })

  it('$$( stays escaped until the run, and named texts stay unchanged', async () => {
    const steps =
      '  - user: $$(literal) $(a)\n  - user: $(texts.template)\n  - include: { file: p.yaml, with: { b: $(a) } }\n'
    const files = {
      's.yaml': `${HEAD}vars: { a: $$(b) }\nsteps:\n${steps}  - expect: start\n`,
      'p.yaml': 'version: 1\nkind: partial\nparams: { b: null }\nsteps: [{ user: $(b) }]\n',
    }
    const [plan] = await plansOf(files)
    const variables = createVariables(plan!)
    const texts = allSteps(plan!).map(
      ({ conversation, scope, action }) =>
        action.verb === 'user' && interpolate(action.text, variables.scopeOf(conversation, scope)),
    )
    expect(texts).toEqual(['$(literal) $(b)', namedTexts(['template']).template, '$(b)', false])
    expect(plan!.vars).toEqual({ a: '$$(b)' })
  })

  it('a step contains only the named texts that it reads', async () => {
    const [one, other] = allSteps(await planOf('  - user: $(texts.quotes)\n  - expect: start\n'))
    expect(Object.keys(one!.scope.texts as object)).toEqual(['quotes'])
    expect(other!.scope).toEqual({})
  })

  const CAPTURE = '{ expect: { start: {}, capture: { who: body.sender.name } } }'

  it.each([
    [`user: $(who)\n  - ${CAPTURE}`, /^s\.yaml:4:11: steps\[0\]\.user: \$\(who\) is not defined/],
    [`parallel: [[${CAPTURE}], [{ user: "$(who)" }]]`, /\$\(who\) is not defined/],
    [`${CAPTURE}\n  - ${CAPTURE}`, /^s\.yaml:5:39: .*: is taken: the step at s\.yaml:4/],
  ])('a capture is defined from the next step on, and not in: %s', async (steps, message) => {
    expect(await complaints(`${HEAD}steps:\n  - ${steps}\n`)).toMatch(message)
  })

  it.each([`parallel: [[${CAPTURE}], [{ user: a }]]\n  - user: $(who)`, `repeat: { times: 3, steps: [${CAPTURE}] }`])(
    'a capture is defined in: %s',
    async steps => {
      expect(await load(`${HEAD}steps:\n  - ${steps}\n`)).toHaveLength(1)
    },
  )

  it('since and replay in a repeat refer to ids of the same round', async () => {
    const steps =
      '  - repeat: { times: 2, steps: [{ user: a, id: s }, { expect: { message: {}, since: s } }, { deliver: { replay: s } }] }\n'
    expect(allSteps(await planOf(steps))).toMatchObject(
      ['s', 's#2'].flatMap(id => [{ id }, { action: { tree: { since: id } } }, { action: { replay: id } }]),
    )
  })

  it('env lists the environment variables that texts read', async () => {
    const steps = '  - user: $(env.TEAM) $(env.HOME)\n  - expect: { message: { message: $(env.TEAM) } }\n'
    expect((await planOf(steps)).env).toEqual(['TEAM', 'HOME'])
  })
})

describe('verbs', () => {
  const tree = (call: string, more: object = {}) => ({ tree: { op: 'call', call, ...more } })
  it.each<[string, object]>([
    ['user: Hi', { verb: 'user', text: 'Hi', attach: [], ack: 200, async: false }],
    [
      'user: { attach: [{ name: a.txt, type: text/plain, size_kb: 0 }], ack: any }',
      { verb: 'user', text: '', attach: [{ name: 'a.txt', type: 'text/plain', size_kb: 0 }], ack: 'any' },
    ],
    ['press: { button: Talk to us, ack: non-2xx }', { verb: 'press', button: 'Talk to us', ack: 'non-2xx' }],
    ['bot: Hi', { verb: 'bot', text: 'Hi', buttons: [] }],
    ['agent: leave', { verb: 'agent', does: 'leave', text: null, with: null }],
    ['agent: { says: Hi }', { verb: 'agent', does: 'says', text: 'Hi', with: null }],
    ['agent: { does: transfer, with: { team: a } }', { verb: 'agent', does: 'does.transfer', with: { team: 'a' } }],
    ['agent: { sees: Hi }', { verb: 'sees', item: { text: 'Hi' }, times: { min: 1, max: 1 }, forMs: null }],
    [
      'agent: { sees: { $re: Hi }, times: 2, within: 1s, for: 2s }',
      { verb: 'sees', item: { text: { $re: 'Hi' } }, times: { min: 2, max: 2 }, withinMs: 1000, forMs: 2000 },
    ],
    ['agent: { sees: { request: true } }', { verb: 'sees', item: { request: true } }],
    ['availability: CLOSED', { verb: 'availability', value: 'CLOSED' }],
    ['availability: { availability: OPEN, reason: OTHER }', { verb: 'availability', value: 'OPEN', reason: 'OTHER' }],
    ['fault: clear', { verb: 'fault', fault: { clear: true } }],
    ['fault: { clear: a }', { verb: 'fault', fault: { clear: 'a' } }],
    [
      'deliver: { event: NEW, body: { a: 1 }, sign: hex, ack: 400, async: true }',
      { verb: 'deliver', event: 'NEW', replay: null, body: { a: 1 }, sign: 'hex', ack: 400, async: true },
    ],
    ['target: kill', { verb: 'target', does: 'kill' }],
    [
      'none: { start: {}, message: { message: a }, for: 500ms }',
      { calls: [{ call: 'start' }, { call: 'message', body: { message: 'a' } }], forMs: 500 },
    ],
    ['expect: start', tree('start', { body: null, times: { min: 1, max: 1 }, statesTimes: false, auth: 'valid' })],
    [
      'expect: { any: {}, alias: takeover, auth: invalid, times: { min: 2 }, within: 2s }',
      {
        withinMs: 2000,
        ...tree('any', { alias: 'takeover', auth: 'invalid', times: { min: 2, max: Infinity }, statesTimes: true }),
      },
    ],
    ['expect: { all: [end, { oneOf: [start] }] }', { tree: { op: 'all', of: [{ call: 'end' }, { op: 'oneOf' }] } }],
    ['check: { typing: false }', { verb: 'check', check: { typing: false } }],
    ['log: Hi', { verb: 'log', text: 'Hi' }],
  ])('%s', async (step, action) => {
    expect(allSteps(await planOf(`  - ${step}\n`, 'never: [start]\n'))[0]!.action).toMatchObject(action)
  })

  it('never compiles to patterns', async () => {
    const plan = await planOf('  - user: a\n', 'never: [start, { message: { message: { $re: x } } }]\n')
    expect(plan.never).toEqual([
      { call: 'start', body: null },
      { call: 'message', body: { message: { $re: 'x' } } },
    ])
  })
})

describe('requirements', () => {
  it('needs lists the verbs of the driver', async () => {
    const steps =
      '  - agent: accept\n  - agent: { sees: a }\n  - agent: { does: transfer }\n  - target: stop\n  - agent: accept\n'
    const { needs } = await planOf(steps, 'requires: [agent.leave, inbox]\n')
    expect(needs).toEqual(['leave', 'inbox', 'accept', 'does.transfer', 'target.stop'])
  })

  it.each<[string, string | null, string?]>([
    ['expect: start', null],
    ['expect: { all: [start, availability] }', 'expect availability (step 1)'],
    ['none: { availability: {}, for: 1s }', 'none availability (step 1)'],
    ['check: { availability: OPEN }', 'check availability (step 1)'],
    ['agent: away', 'agent away (step 1)'],
    ['target: restart', 'target restart (step 1)'],
    ['availability: CLOSED', null],
    ['fault: { on: { api: [availability, start] }, drop: before }', 'fault on availability (step 1)'],
    ['fault: { on: api, drop: before }', null],
    ['user: a', 'never availability', 'never: [availability]'],
    ['user: a', 'business hours', 'business_hours: { time_zone: UTC, mon: "09:00-17:00" }'],
    ['user: a', 'it says so', 'exclusive: true'],
  ])('exclusive: %s: %s', async (step, reason, head = '') => {
    const plan = await planOf(`  - ${step}\n  - expect: end\n`, head === '' ? '' : `${head}\n`)
    expect(plan.exclusive).toBe(reason)
  })

  it.each([
    ['expect: availability', true],
    ['check: { availability: OPEN }', true],
    ['availability: OPEN', true],
    ['expect: start', false],
    ['agent: away', false],
  ])('mentions availability: %s: %s', async (step, mentions) => {
    const plan = await planOf(`  - ${step}\n  - expect: end\n`, 'availability: OPEN\n')
    expect(plan.mentionsAvailability).toBe(mentions)
  })

  it('more than 10,000 steps, with repeats unrolled, are refused', async () => {
    const most = '  - repeat: { times: 100, steps: [{ repeat: { times: 100, steps: [{ expect: end }] } }] }\n'
    expect((await planOf(most)).count).toBe(10_000)
    const endless = '  - repeat: { times: 9007199254740991, steps: [{ expect: end }] }\n'
    for (const steps of [`${most}  - user: a\n`, endless])
      expect(await complaints(`${HEAD}steps:\n${steps}`)).toContain('is one of more than 10000 steps')
  })
})

describe('hints', () => {
  const hintsOf = async (steps: string, head = '') =>
    (await load(`${HEAD}${head}steps:\n${steps}`))[0]!.warnings.map(({ rule, place }) => `${rule} ${place?.line}`)
  const WAITING = '  - wait: 5s\n  - log: a\n  - none: { start: {}, for: 1s }\n  - wait: 1s\n  - expect: start\n'

  it.each<[string, string, string, string[]]>([
    ['a virtual wait before none', WAITING, 'clock: virtual\n', ['virtual-wait-before-none 5']],
    ['a real wait before a step that waits itself', WAITING, '', ['sleep-before-expect 7']],
    ['not a wait before a stimulus', '  - wait: 5s\n  - user: a\n  - expect: start\n', '', []],
    [
      'once for all rounds of a repeat, and in branches',
      '  - repeat: { times: 3, steps: [{ wait: 1s }, { expect: start }] }\n  - parallel: [[{ wait: 1s }, { expect: end }]]\n',
      '',
      ['sleep-before-expect 4', 'sleep-before-expect 5'],
    ],
    [
      'no held event before a takeover',
      '  - fault: { on: { webhook: MESSAGE FROM USER }, hold: 1, times: 1 }\n  - user: Hello\n  - expect: start\n',
      '',
      [],
    ],
  ])('%s', async (_, steps, head, hints) => expect(await hintsOf(steps, head)).toEqual(hints))

  const HOLD = '{ on: { webhook: MESSAGE FROM USER }, hold: 1, times: 1 }'
  const ASYNC = 'user: { text: one, async: true }'

  it.each<[string, string, string[], ...number[]]>([
    ['hold', HOLD, ['user: one', 'user: two'], 8],
    ['swap of any event', '{ on: webhook, swap: true, times: 1 }', ['user: one', 'user: two'], 8],
    ['a third event, held again', '{ on: webhook, swap: true }', [ASYNC, 'user: two', 'user: three'], 10],
    ['not when the step is async', HOLD, [ASYNC, 'user: two']],
    ['not when the fault is used up', HOLD, [ASYNC, 'user: two', 'user: three']],
    ['not for another event', HOLD, ['press: handover']],
    ['not when the fault is cleared', HOLD, ['fault: clear', 'user: one']],
    ['not when the event is only delayed', '{ on: webhook, delay: 1s, times: 1 }', ['user: one']],
  ])('a step that waits for an event that a fault holds: %s', async (_, fault, after, ...lines) => {
    const steps = ['press: handover', 'agent: accept', 'expect: start', `fault: ${fault}`, ...after]
    const hints = await hintsOf(steps.map(step => `  - ${step}\n`).join(''))
    expect(hints).toEqual(lines.map(line => `held-event-is-waited-for ${line}`))
  })

  it('report fields that the call does not have, inside groups and repeats too', async () => {
    const steps = `  - expect: { all: [{ end: { who: 1 } }, { start: { sender: { language_codes: { $has: en } } } }] }
  - expect: { message: { $oneOf: [{ buttons: { $has: { own: x } } }, { picture: y }] } }
  - expect: { any: { whatever: 1 } }
  - expect: { message: { secret: { $absent: true }, message: { $re: a } } }
  - repeat: { times: 2, steps: [{ expect: { typing_start: { duration: 1 } } }] }
`
    const [scenario] = await load(`${HEAD}steps:\n${steps}`)
    expect(scenario!.warnings.map(({ place, message }) => `${place?.line} ${message}`)).toEqual([
      '4 end has no field who; it has bot_id, chat_id, sender',
      '5 message has no field picture; it has bot_id, chat_id, message, sender, buttons',
      '8 typing_start has no field duration; it has bot_id, chat_id, timeout',
    ])
  })
})
