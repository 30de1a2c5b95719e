/** Tests plans: step numbers, conversations, turns, defaults, requirements, hints. */
import { describe, expect, it } from 'vitest'
import { namedTexts } from '../../../src/evaluation/scenario/compile/step-compiler.ts'
import { createVariables, interpolate } from '../../../src/evaluation/scenario/interpolation.ts'
import { allSteps, complaints, HEAD, load, planOf, plansOf } from './written.ts'

const turnsOf = async (steps: string, head = '') => allSteps(await planOf(steps, head)).map(({ turn }) => turn)

describe('turns', () => {
  it('a turn has stimuli and then checks; fault and log change nothing', async () => {
    const steps = `
  - fault: { on: api, drop: before }
  - press: handover
  - fault: { on: api, drop: after }
  - log: now
  - agent: accept
  - expect: start
  - log: then
  - fault: clear
  - check: { status: agent }
  - user: Hi
  - agent: { sees: Hi }
`
    expect(await turnsOf(steps)).toEqual([[], [2], [2], [2], [2], [2], [2], [2], [2], [10], [10]])
  })

  it('a check before any stimulus considers calls from the beginning', async () => {
    expect(await turnsOf('  - check: { status: bot }\n  - expect: start\n')).toEqual([[], []])
  })

  it('a stimulus after a check opens a turn', async () => {
    const stimuli = [
      'user: a',
      'press: handover',
      'bot: a',
      'agent: accept',
      'wait: 1s',
      'availability: OPEN',
      'deliver: { event: X }',
      'target: restart',
    ]
    const checks = ['expect: start', 'none: { start: {}, for: 1s }', 'check: { status: bot }', 'agent: { sees: a }']
    for (const stimulus of stimuli) {
      for (const check of checks) {
        const steps = `  - ${stimulus}\n  - ${stimulus}\n  - ${check}\n  - ${check}\n  - ${stimulus}\n`
        expect(await turnsOf(steps), `${stimulus}, ${check}`).toEqual([[1], [1], [1], [1], [5]])
      }
    }
  })

  it('branches begin with the turn before them; a check after them considers calls since the earliest of their last turns', async () => {
    const steps = `
  - press: handover
  - parallel:
      - [{ expect: start }, { user: a }, { expect: end }]
      - [{ user: b }, { expect: start }]
      - [{ log: c }]
  - expect: message
  - user: d
`
    expect(await turnsOf(steps)).toEqual([[1], [1], [3], [3], [1], [1], [1], [1, 3], [9]])
  })

  it('a stimulus after branches continues their turn when one of them ends without a check', async () => {
    const steps = '  - parallel: [[{ user: a }], [{ user: b }, { expect: start }]]\n  - user: c\n  - expect: end\n'
    expect(await turnsOf(steps)).toEqual([[1], [2], [2], [1, 2], [1, 2]])
  })

  it('turns continue through include, repeat and finally', async () => {
    const files = {
      's.yaml': `${HEAD}steps:\n  - repeat: { times: 2, steps: [{ user: a }, { include: p.yaml }] }\n  - press: handover\nfinally: [{ expect: end }]\n`,
      'p.yaml': 'version: 1\nkind: partial\nsteps: [{ user: b }, { expect: start }]\n',
    }
    const [plan] = await plansOf(files)
    expect(allSteps(plan!).map(({ turn }) => turn)).toEqual([[1], [1], [1], [4], [4], [4], [7], [7]])
    expect(plan!.finally).toHaveLength(1)
    expect(plan!.count).toBe(8)
  })

  it('the inbox is read before the step that opens the turn of a sees', async () => {
    const steps = `
  - press: handover
  - user: a
  - agent: { sees: a }
  - user: b
  - parallel:
      users: 2
      steps: [{ agent: { sees: b } }, { user: c }, { agent: { sees: c } }]
  - agent: { sees: d }
`
    const plan = await planOf(steps)
    const reads = allSteps(plan).map(({ number, readsInboxOf }) => [number, ...readsInboxOf])
    expect(reads.filter(row => row.length > 1)).toEqual([
      [1, 'main'],
      [4, 'user 1', 'user 2'],
      [6, 'user 1', 'main'],
      [9, 'user 2', 'main'],
    ])
  })
})

describe('conversations', () => {
  it('a single chat is called main, and several chats have their own names', async () => {
    expect((await planOf('  - expect: start\n')).conversations).toEqual([
      {
        name: 'main',
        language: 'en',
        source: 'web',
        user: {},
        history: [],
        transcript: null,
        context: null,
        labels: null,
        scope: {},
      },
    ])
    const plan = await planOf('  - { expect: start, chat: bo }\n', 'chats: { ada: { language: nb }, bo: {} }\n')
    expect(plan.conversations.map(({ name, language }) => [name, language])).toEqual([
      ['ada', 'nb'],
      ['bo', 'en'],
    ])
  })

  it('parallel users get new chats; the chat of the scenario is opened only if a step uses it', async () => {
    const plan = await planOf(
      '  - parallel: { users: 2, steps: [{ user: "$(user)" }, { expect: start }] }\n',
      'chat: { language: nb }\n',
    )
    expect(plan.conversations.map(({ name, language, scope }) => [name, language, scope])).toEqual([
      ['user 1', 'nb', { user: 1 }],
      ['user 2', 'nb', { user: 2 }],
    ])
    expect(allSteps(plan).map(({ conversation, scope, label }) => [conversation, scope.user, label])).toEqual([
      ['user 1', 1, 'user "1"'],
      ['user 1', 1, 'expect start'],
      ['user 2', 2, 'user "2"'],
      ['user 2', 2, 'expect start'],
    ])
  })

  it('a second parallel adds further users', async () => {
    const crowd = '  - parallel: { users: 2, steps: [{ expect: start }] }\n'
    expect((await planOf(`${crowd}${crowd}  - user: a\n`)).conversations.map(({ name }) => name)).toEqual([
      'main',
      'user 1',
      'user 2',
      'user 3',
      'user 4',
    ])
  })

  it('chat of a repeat applies to the steps without a chat of their own', async () => {
    const steps =
      '  - { repeat: { times: 1, steps: [{ user: a }, { user: b, chat: ada }] }, chat: bo }\n  - { expect: start, chat: ada }\n  - expect: availability\n'
    const plan = await planOf(steps, 'chats: { ada: {}, bo: {} }\n')
    expect(allSteps(plan).map(({ conversation }) => conversation)).toEqual(['bo', 'ada', 'ada', 'ada'])
  })

  it('a shipped conversation supplies the fields that the scenario omits', async () => {
    const [conversation] = (await planOf('  - expect: start\n', 'chat: { transcript: nb-shop, labels: [vip] }\n'))
      .conversations
    expect(conversation).toMatchObject({
      transcript: 'nb-shop',
      language: null,
      source: null,
      context: null,
      labels: ['vip'],
    })
  })
})

describe('values', () => {
  it('a short scenario gets defaults', async () => {
    expect(await planOf('  - expect: start\n')).toMatchObject({
      file: 's.yaml',
      tags: [],
      spec: [],
      seed: null,
      clock: null,
      timeouts: { ackMs: 10_000, expectMs: 5000, settleMs: 300, scenarioMs: 60_000 },
      strict: { unexpected: 'fail', contract: 'fail', allow: ['transcript', 'summarize', 'chat'] },
      config: {},
      bot: {},
      availability: null,
      businessHours: null,
      tokens: false,
      vars: {},
      matrix: {},
      never: [],
      finally: [],
      exclusive: null,
      needs: [],
      env: [],
      mentionsAvailability: false,
    })
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
    })
    expect(plans[1]!.steps[0]).toMatchObject({ label: 'user "no/pretty"', action: { text: '$(both)' } })
  })

  it('$(name) is interpolated in the head and in names of steps', async () => {
    const plans = await plansOf(
      `version: 1\nname: $(hello) in $(language) for $$(5)\ntags: [lang-$(language)]\nspec: [$(rule)]\nmatrix: { language: [no, ar] }\nvars: { hello: Hi, rule: E4 }\nsteps:\n  - repeat: { times: 2, steps: [{ expect: start, name: round $(i) }] }\n`,
    )
    expect(plans.map(({ name, tags, spec }) => ({ name, tags, spec }))).toEqual([
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
      /wait: must be a duration with a unit: 500ms, 5s, 10m, 12h, got 1\./,
    )
    expect(await complaints(`${HEAD}steps: [{ think: 3s }, { think: 5s..3s }]`)).toMatch(
      /think: must be two durations, the shorter one first: 3s\.\.20s, got the string "3s"\.[\s\S]*got the string "5s\.\.3s"\./,
    )
    const [wait, user, start] = allSteps(await planOf(steps.replace('"$(i)"', '1s'), head))
    expect(wait!.action).toEqual({ verb: 'wait', ms: 2000 })
    expect(user!.action).toMatchObject({ ack: 503, async: true })
    expect(start!.action).toMatchObject({ tree: { times: { min: 0, max: 3 }, apartMs: 2000 } })
  })

  it('a var that reads a value of the run is inserted into the texts that use it', async () => {
    const plan = await planOf(
      '  - user: $(greeting)\n  - expect: { message: { message: "say $(greeting)" } }\n',
      'vars: { greeting: Hi $(chat.name) }\n',
    )
    expect(plan.vars).toEqual({ greeting: 'Hi $(chat.name)' })
    expect(plan.steps).toMatchObject([
      { action: { text: 'Hi $(chat.name)' } },
      { action: { tree: { body: { message: 'say Hi $(chat.name)' } } } },
    ])
  })

  it('$$( stays escaped until the run, and named texts stay unchanged', async () => {
    const steps =
      '  - user: $$(literal) $(a)\n  - user: $(texts.template)\n  - include: { file: p.yaml, with: { b: $(a) } }\n'
    const files = {
      's.yaml': `${HEAD}vars: { a: $$(b), c: "by $(chat.name)" }\nsteps:\n${steps}  - user: $(c)\n`,
      'p.yaml': 'version: 1\nkind: partial\nparams: { b: null }\nsteps: [{ expect: { message: { message: $(b) } } }]\n',
    }
    const [plan] = await plansOf(files)
    const variables = createVariables(plan!)
    const texts = allSteps(plan!)
      .slice(0, 3)
      .map(({ conversation, scope, action }) =>
        action.verb === 'user'
          ? interpolate(action.text, variables.scopeOf(conversation, scope))
          : action.verb === 'expect' &&
            action.tree.op === 'call' &&
            interpolate(action.tree.body, variables.scopeOf(conversation, scope)),
      )
    expect(texts).toEqual(['$(literal) $(b)', namedTexts(['template']).template, { message: '$(b)' }])
    expect(plan!.vars).toEqual({ a: '$$(b)', c: 'by $(chat.name)' })
    expect(plan!.steps[3]).toMatchObject({ action: { text: 'by $(chat.name)' } })
  })

  it('a step contains only the named texts that it reads', async () => {
    const [one, other] = allSteps(await planOf('  - user: $(texts.quotes)\n  - expect: start\n'))
    expect(Object.keys(one!.scope.texts as object)).toEqual(['quotes'])
    expect(other!.scope).toEqual({})
  })

  it('a capture is defined from the next step on; in a branch only for that branch', async () => {
    const capture = '{ expect: { start: {}, capture: { who: body.sender.name } } }'
    expect(await complaints(`${HEAD}steps:\n  - user: $(who)\n  - ${capture}\n`)).toMatch(
      /^s\.yaml:4:11: steps\[0\]\.user: \$\(who\) is not defined/,
    )
    expect(await complaints(`${HEAD}steps:\n  - parallel: [[${capture}], [{ user: "$(who)" }]]\n`)).toContain(
      '$(who) is not defined',
    )
    expect(await load(`${HEAD}steps:\n  - parallel: [[${capture}], [{ user: a }]]\n  - user: $(who)\n`)).toHaveLength(1)
    expect(await load(`${HEAD}steps:\n  - repeat: { times: 3, steps: [${capture}] }\n`)).toHaveLength(1)
    expect(await complaints(`${HEAD}steps:\n  - ${capture}\n  - ${capture}\n`)).toMatch(
      /^s\.yaml:5:39: steps\[1\]\.expect\.capture\.who: is taken: the step at s\.yaml:4 captures it/,
    )
  })

  it('since and replay in a repeat refer to ids of the same round', async () => {
    const steps =
      '  - repeat: { times: 2, steps: [{ user: a, id: s }, { expect: { message: {}, since: s } }, { deliver: { replay: s } }] }\n'
    const plan = allSteps(await planOf(steps))
    expect(
      plan.map(
        ({ id, action }) =>
          id ??
          (action.verb === 'deliver'
            ? action.replay
            : action.verb === 'expect' && action.tree.op === 'call'
              ? action.tree.since
              : null),
      ),
    ).toEqual(['s', 's', 's', 's#2', 's#2', 's#2'])
  })

  it('env lists the environment variables that texts read', async () => {
    expect(
      (await planOf('  - user: $(env.TEAM) $(env.HOME)\n  - expect: { message: { message: $(env.TEAM) } }\n')).env,
    ).toEqual(['TEAM', 'HOME'])
  })
})

describe('verbs', () => {
  const actionOf = async (step: string) => allSteps(await planOf(`  - ${step}\n`, 'never: [start]\n'))[0]!.action
  const CALL = {
    ...{ op: 'call', times: { min: 1, max: 1 }, statesTimes: false, apartMs: null },
    ...{ since: null, alias: null, auth: 'valid', capture: {} },
  }
  const AT_LEAST_TWICE = { times: { min: 2, max: Number.POSITIVE_INFINITY }, statesTimes: true }
  const cases: [string, unknown][] = [
    ['user: Hi', { verb: 'user', text: 'Hi', attach: [], ack: 200, async: false }],
    [
      'user: { attach: [{ name: a.txt, type: text/plain, size_kb: 0 }], ack: any }',
      { verb: 'user', text: '', attach: [{ name: 'a.txt', type: 'text/plain', size_kb: 0 }], ack: 'any', async: false },
    ],
    [
      'press: { button: Talk to us, ack: non-2xx }',
      { verb: 'press', button: 'Talk to us', ack: 'non-2xx', async: false },
    ],
    ['bot: Hi', { verb: 'bot', text: 'Hi', buttons: [] }],
    ['agent: leave', { verb: 'agent', does: 'leave', text: null, with: null }],
    ['agent: { says: Hi }', { verb: 'agent', does: 'says', text: 'Hi', with: null }],
    [
      'agent: { does: transfer, with: { team: a } }',
      { verb: 'agent', does: 'does.transfer', text: null, with: { team: 'a' } },
    ],
    [
      'agent: { sees: Hi }',
      { verb: 'sees', item: { text: 'Hi' }, times: { min: 1, max: 1 }, withinMs: null, forMs: null },
    ],
    [
      'agent: { sees: { $re: Hi }, times: 2, within: 1s, for: 2s }',
      { verb: 'sees', item: { text: { $re: 'Hi' } }, times: { min: 2, max: 2 }, withinMs: 1000, forMs: 2000 },
    ],
    [
      'agent: { sees: { request: true } }',
      { verb: 'sees', item: { request: true }, times: { min: 1, max: 1 }, withinMs: null, forMs: null },
    ],
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
      {
        verb: 'none',
        calls: [
          { call: 'start', body: {} },
          { call: 'message', body: { message: 'a' } },
        ],
        forMs: 500,
      },
    ],
    ['expect: start', { verb: 'expect', withinMs: null, tree: { ...CALL, call: 'start', body: null } }],
    [
      'expect: { any: {}, alias: takeover, auth: invalid, times: { min: 2 }, within: 2s }',
      {
        verb: 'expect',
        withinMs: 2000,
        tree: { ...CALL, ...{ call: 'any', body: {}, alias: 'takeover', auth: 'invalid' }, ...AT_LEAST_TWICE },
      },
    ],
    ['check: { typing: false }', { verb: 'check', check: { typing: false } }],
    ['log: Hi', { verb: 'log', text: 'Hi' }],
  ]
  it.each(cases)('%s', async (step, action) => {
    expect(await actionOf(step)).toEqual(action)
  })

  it('never compiles to patterns', async () => {
    const plan = await planOf('  - user: a\n', 'never: [start, { message: { message: { $re: x } } }]\n')
    expect(plan.never).toEqual([
      { call: 'start', body: null },
      { call: 'message', body: { message: { $re: 'x' } } },
    ])
  })

  it('a label is one line of at most 100 characters', async () => {
    const [step] = allSteps(await planOf(`  - user: "${'long 😢 '.repeat(50)}\\nnext"\n  - expect: start\n`))
    expect(step!.label).toMatch(/^user "long 😢 long/)
    expect([...step!.label].length).toBeLessThanOrEqual(100)
    expect(step!.label).not.toContain('\n')
  })
})

describe('requirements', () => {
  it('needs lists the verbs of the driver', async () => {
    const steps =
      '  - agent: accept\n  - agent: { sees: a }\n  - agent: { does: transfer }\n  - target: stop\n  - agent: accept\n'
    expect((await planOf(steps, 'requires: [agent.leave, inbox]\n')).needs).toEqual([
      'leave',
      'inbox',
      'accept',
      'does.transfer',
      'target.stop',
    ])
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
  ])('%s: %s', async (step, reason, head = '') => {
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
    expect(await complaints(`${HEAD}steps:\n${most}  - user: a\n`)).toMatch(
      /^s\.yaml:5:5: steps\[1\]: is one of more than 10000 steps/,
    )
    const endless = `${HEAD}steps:\n  - repeat: { times: 9007199254740991, steps: [{ expect: end }] }\n`
    expect(await complaints(endless)).toContain('more than 10000 steps')
  })
})

describe('hints', () => {
  const hintsOf = async (steps: string, head = '') =>
    (await load(`${HEAD}${head}steps:\n${steps}`))[0]!.warnings.map(({ rule, place }) => [rule, place?.line])

  it('hints report a virtual wait before none, and a real wait before a step that waits itself', async () => {
    const steps = '  - wait: 5s\n  - log: a\n  - none: { start: {}, for: 1s }\n  - wait: 1s\n  - expect: start\n'
    expect(await hintsOf(steps, 'clock: virtual\n')).toEqual([['virtual-wait-before-none', 5]])
    expect(await hintsOf(steps)).toEqual([['sleep-before-expect', 7]])
    expect(await hintsOf('  - wait: 5s\n  - user: a\n  - expect: start\n')).toEqual([])
  })

  describe('a step that waits for an event that a fault holds', () => {
    const HELD = [['held-event-is-waited-for', 8]]
    const after = (fault: string, ...steps: string[]) =>
      hintsOf(
        `  - press: handover\n  - agent: accept\n  - expect: start\n  - fault: ${fault}\n${steps.map(step => `  - ${step}\n`).join('')}`,
      )
    const hold = '{ on: { webhook: MESSAGE FROM USER }, hold: 1, times: 1 }'

    it.each([
      ['hold', hold, ['user: one', 'user: two'], HELD],
      ['swap of any event', '{ on: webhook, swap: true, times: 1 }', ['user: one', 'user: two'], HELD],
      [
        'a third event, which the fault holds again',
        '{ on: webhook, swap: true }',
        ['user: { text: one, async: true }', 'user: two', 'user: three'],
        [['held-event-is-waited-for', 10]],
      ],
      ['not when the step is async', hold, ['user: { text: one, async: true }', 'user: two'], []],
      ['not when the fault is used up', hold, ['user: { text: one, async: true }', 'user: two', 'user: three'], []],
      ['not for another event', hold, ['press: handover'], []],
      ['not when the fault is cleared', hold, ['fault: clear', 'user: one'], []],
      ['not when the event is only delayed', '{ on: webhook, delay: 1s, times: 1 }', ['user: one'], []],
    ])('%s', async (_, fault, steps, hints) => {
      expect(await after(fault, ...steps)).toEqual(hints)
    })

    it('no hint before an agent takes the chat over', async () => {
      expect(await hintsOf(`  - fault: ${hold}\n  - user: Hello\n  - expect: start\n`)).toEqual([])
    })
  })

  it('hints report fields that the call does not have, inside groups and repeats too', async () => {
    const steps = `  - expect: { all: [{ end: { who: 1 } }, { start: { sender: { language_codes: { $has: en } } } }] }
  - expect: { message: { $oneOf: [{ buttons: { $has: { own: x } } }, { picture: y }] } }
  - expect: { any: { whatever: 1 } }
  - expect: { message: { secret: { $absent: true }, message: { $re: a } } }
  - repeat: { times: 2, steps: [{ expect: { typing_start: { duration: 1 } } }] }
`
    const [scenario] = await load(`${HEAD}steps:\n${steps}`)
    expect(scenario!.warnings.map(({ rule, place, message }) => `${place?.line} ${rule}: ${message}`)).toEqual([
      '4 unknown-field: end has no field who; it has bot_id, chat_id, sender',
      '5 unknown-field: message has no field picture; it has bot_id, chat_id, message, sender, buttons',
      '8 unknown-field: typing_start has no field duration; it has bot_id, chat_id, timeout',
    ])
  })

  it('a hint is reported once for all rounds of a repeat, and in branches', async () => {
    const steps =
      '  - repeat: { times: 3, steps: [{ wait: 1s }, { expect: start }] }\n  - parallel: [[{ wait: 1s }, { expect: end }]]\n'
    expect(await hintsOf(steps)).toEqual([
      ['sleep-before-expect', 4],
      ['sleep-before-expect', 5],
    ])
  })
})
