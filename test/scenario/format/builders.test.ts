/** Tests that the builders make the data of YAML files, with types. */
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  $,
  agent,
  all,
  availability,
  bot,
  check,
  defineScenario,
  deliver,
  expectCall,
  fault,
  include,
  log,
  none,
  oneOf,
  parallel,
  press,
  repeat,
  type Step,
  seq,
  target,
  think,
  toYaml,
  user,
  wait,
} from '../../../src/evaluation/scenario/build/index.ts'

const inner = [press('handover')]

const CASES: [string, Step, string][] = [
  ['press', press('handover'), 'press: handover'],
  [
    'press with options',
    press('Talk', { id: 'a', ack: 'any', async: true }),
    '{ press: { button: Talk, ack: any, async: true }, id: a }',
  ],
  ['user', user('Hi', { chat: 'ada', name: 'greets' }), '{ user: Hi, chat: ada, name: greets }'],
  ['user with files', user('', { attach: [{ file: 'a.pdf' }] }), 'user: { attach: [{ file: a.pdf }] }'],
  ['agent', agent('accept', { soft: true }), '{ agent: accept, soft: true }'],
  ['agent.says', agent.says('Hi'), 'agent: { says: Hi }'],
  [
    'agent.sees',
    agent.sees({ request: true }, { times: 1, for: '1s' }),
    'agent: { sees: { request: true }, times: 1, for: 1s }',
  ],
  ['agent.does', agent.does('transfer', { team: 'a' }), 'agent: { does: transfer, with: { team: a } }'],
  ['bot', bot('Hi', { buttons: [{ label: 'a' }] }), 'bot: { text: Hi, buttons: [{ label: a }] }'],
  ['wait', wait('5s'), 'wait: 5s'],
  ['think', think('3s..20s'), 'think: 3s..20s'],
  [
    'availability',
    availability('CLOSED', { reason: 'OTHER' }),
    'availability: { availability: CLOSED, reason: OTHER }',
  ],
  ['fault', fault({ on: 'api', drop: 'after' }), 'fault: { on: api, drop: after }'],
  ['fault.clear', fault.clear(), 'fault: clear'],
  ['fault.clear of one', fault.clear('a'), 'fault: { clear: a }'],
  ['deliver', deliver('NEW', { sign: 'hex', body: { a: 1 } }), 'deliver: { event: NEW, sign: hex, body: { a: 1 } }'],
  ['deliver.again', deliver.again('a', { ack: 'any' }), 'deliver: { replay: a, ack: any }'],
  ['target', target('kill'), 'target: kill'],
  ['log', log('a'), 'log: a'],
  ['expectCall', expectCall('start'), 'expect: start'],
  ['expectCall with options', expectCall('start', undefined, { within: '2s' }), 'expect: { start: {}, within: 2s }'],
  [
    'expectCall with a body',
    expectCall('start', { sender: { name: $.type('string') } }, { capture: { who: 'body.sender.name' }, id: 'a' }),
    '{ expect: { start: { sender: { name: { $type: string } } }, capture: { who: body.sender.name } }, id: a }',
  ],
  [
    'groups',
    all(expectCall('message'), seq(expectCall('start'), oneOf(expectCall('end'), expectCall('chat'))), {
      within: '1s',
      name: 'a',
    }),
    '{ expect: { all: [message, { seq: [start, { oneOf: [end, chat] }] }], within: 1s }, name: a }',
  ],
  [
    'none',
    none('message', { message: $.re(/a,b/i) }, { for: '1s' }),
    'none: { message: { message: { $re: "/a,b/i" } }, for: 1s }',
  ],
  ['check', check({ status: 'agent' }), 'check: { status: agent }'],
  ['repeat', repeat(2, inner), 'repeat: { times: 2, steps: [{ press: handover }] }'],
  ['parallel users', parallel(2, inner), 'parallel: { users: 2, steps: [{ press: handover }] }'],
  ['parallel lists', parallel(inner, inner), 'parallel: [[{ press: handover }], [{ press: handover }]]'],
  ['include', include('a.yaml', { who: 'Anna' }), 'include: { file: a.yaml, with: { who: Anna } }'],
  ['include alone', include('a.yaml'), 'include: a.yaml'],
]

describe('builders', () => {
  it.each(CASES)('%s', (_what, step, yaml) => {
    expect(step).toEqual(parse(yaml))
  })

  it('$ builds matchers', () => {
    const made = [
      $.any,
      $.absent,
      $.uuid,
      $.iso,
      $.has('a'),
      $.oneOf(1, 2),
      $.not('a'),
      $.each($.gt(1)),
      $.len($.lt(2)),
      $.gte(1),
      $.lte('z'),
      $.exact({}),
      $.re('a'),
    ]
    expect(made).toEqual(
      parse(
        '[{ $any: true }, { $absent: true }, { $uuid: true }, { $iso: true }, { $has: a }, { $oneOf: [1, 2] }, { $not: a }, { $each: { $gt: 1 } }, { $len: { $lt: 2 } }, { $gte: 1 }, { $lte: z }, { $exact: {} }, { $re: a }]',
      ),
    )
  })

  it('a scenario in code equals the scenario in YAML', () => {
    const scenario = defineScenario({ name: 'Happy path', tags: ['smoke'], chat: { language: 'en' } }, [
      press('handover'),
      expectCall('message', { message: 'a, b', sender: { name: '$(who)' } }),
      repeat(2, [user('no')]),
    ])
    expect(toYaml(scenario)).toBe(`# yaml-language-server: $schema=./node_modules/handover-sim/schema/scenario.v1.json
version: 1
name: Happy path
tags: [ smoke ]
chat: { language: en }
steps:
  - press: handover
  - expect: { message: { message: "a, b", sender: { name: $(who) } } }
  - repeat:
      times: 2
      steps:
        - user: no
`)
  })

  it('TypeScript refuses unknown fields of a body and options of other verbs', () => {
    // @ts-expect-error: start has no message
    expectCall('start', { message: 'a' })
    // @ts-expect-error: the name of a sender is a text
    expectCall('message', { sender: { name: 5 } })
    // @ts-expect-error: no such call
    expectCall('strat')
    // @ts-expect-error: nothing, for how long
    none('start', {}, {})
    // @ts-expect-error: an agent who cannot do this
    agent('acept')
    // @ts-expect-error: a name is required
    defineScenario({}, [])
    expectCall('typing_start', { timeout: $.lte(10_000) })
    expectCall('availability', { reason: $.oneOf('OTHER', 'BUSINESS_HOURS') })
    expectCall('message', { buttons: [{ label: $.any }] })
    expectCall('any', { whatever: 1 })
  })
})
