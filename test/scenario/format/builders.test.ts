/** Tests that the builders make the data of YAML files, with types. */
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as build from '../../../src/evaluation/scenario/build/index.ts'
import { load } from './written.ts'

const { $, agent, all, check, definePart, defineScenario, deliver, expectCall, fault } = build
const { include, none, oneOf, parallel, press, repeat, seq, user } = build

const inner = [press('handover')]
const SENDER = { sender: { name: $.type('string') } }
const CHOICE = oneOf(expectCall('end'), expectCall('chat'))

describe('builders', () => {
  it.each<[build.Step, string]>([
    [press('handover'), 'press: handover'],
    [press('Talk', { id: 'a', ack: 'any', async: true }), '{ press: { button: Talk, ack: any, async: true }, id: a }'],
    [user('Hi', { chat: 'ada', name: 'greets' }), '{ user: Hi, chat: ada, name: greets }'],
    [user('', { attach: [{ file: 'a.pdf' }] }), 'user: { attach: [{ file: a.pdf }] }'],
    [agent('accept', { soft: true }), '{ agent: accept, soft: true }'],
    [agent.says('Hi'), 'agent: { says: Hi }'],
    [agent.sees({ request: true }, { times: 1, for: '1s' }), 'agent: { sees: { request: true }, times: 1, for: 1s }'],
    [agent.does('transfer', { team: 'a' }), 'agent: { does: transfer, with: { team: a } }'],
    [build.bot('Hi', { buttons: [{ label: 'a' }] }), 'bot: { text: Hi, buttons: [{ label: a }] }'],
    [build.wait('5s'), 'wait: 5s'],
    [build.think('3s..20s'), 'think: 3s..20s'],
    [build.availability('CLOSED', { reason: 'OTHER' }), 'availability: { availability: CLOSED, reason: OTHER }'],
    [fault({ on: 'api', drop: 'after' }), 'fault: { on: api, drop: after }'],
    [fault.clear(), 'fault: clear'],
    [fault.clear('a'), 'fault: { clear: a }'],
    [deliver('NEW', { sign: 'hex', body: { a: 1 } }), 'deliver: { event: NEW, sign: hex, body: { a: 1 } }'],
    [deliver.again('a', { ack: 'any' }), 'deliver: { replay: a, ack: any }'],
    [build.target('kill'), 'target: kill'],
    [build.log('a'), 'log: a'],
    [expectCall('start'), 'expect: start'],
    [expectCall('start', undefined, { within: '2s' }), 'expect: { start: {}, within: 2s }'],
    [
      expectCall('start', SENDER, { capture: { who: 'body.sender.name' }, id: 'a' }),
      '{ expect: { start: { sender: { name: { $type: string } } }, capture: { who: body.sender.name } }, id: a }',
    ],
    [
      all(expectCall('message'), seq(expectCall('start'), CHOICE), { within: '1s', name: 'a' }),
      '{ expect: { all: [message, { seq: [start, { oneOf: [end, chat] }] }], within: 1s }, name: a }',
    ],
    [
      none('message', { message: $.re(/a,b/i) }, { for: '1s' }),
      'none: { message: { message: { $re: "/a,b/i" } }, for: 1s }',
    ],
    [check({ status: 'agent' }), 'check: { status: agent }'],
    [repeat(2, inner), 'repeat: { times: 2, steps: [{ press: handover }] }'],
    [parallel(2, inner), 'parallel: { users: 2, steps: [{ press: handover }] }'],
    [parallel(inner, inner), 'parallel: [[{ press: handover }], [{ press: handover }]]'],
    [include('a.yaml', { who: 'Anna' }), 'include: { file: a.yaml, with: { who: Anna } }'],
    [include('a.yaml'), 'include: a.yaml'],
  ])('%j', (step, yaml) => {
    expect(step).toEqual(parse(yaml))
  })

  it.each<[unknown, string]>([
    [[$.any, $.absent, $.uuid, $.iso], '[{ $any: true }, { $absent: true }, { $uuid: true }, { $iso: true }]'],
    [[$.has('a'), $.oneOf(1, 2), $.not('a')], '[{ $has: a }, { $oneOf: [1, 2] }, { $not: a }]'],
    [[$.each($.gt(1)), $.len($.lt(2))], '[{ $each: { $gt: 1 } }, { $len: { $lt: 2 } }]'],
    [[$.gte(1), $.lte('z'), $.exact({}), $.re('a')], '[{ $gte: 1 }, { $lte: z }, { $exact: {} }, { $re: a }]'],
  ])('$ builds matchers: %j', (made, yaml) => {
    expect(made).toEqual(parse(yaml))
  })

  it('a scenario in code equals the scenario in YAML', () => {
    const scenario = defineScenario({ name: 'Happy path', tags: ['smoke'], chat: { language: 'en' } }, [
      press('handover'),
      expectCall('message', { message: 'a, b', sender: { name: '$(who)' } }),
      repeat(2, [user('no')]),
    ])
    expect(
      build.toYaml(scenario),
    ).toBe(`# yaml-language-server: $schema=./node_modules/handover-sim/schema/scenario.v1.json
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

  it('a module includes the part of another module', async () => {
    const part = definePart({ who: null }, [expectCall('start', { sender: { name: '$(who)' } })])
    const scenario = defineScenario({ name: 'A' }, [include('p.mjs', { who: 'Anna' })])
    const moduleOf = (value: unknown) => `export default ${JSON.stringify(value)}`
    const [loaded] = await load({ 's.mjs': moduleOf(scenario), 'p.mjs': moduleOf(part) })
    expect(loaded!.name).toBe('A')
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
