/** Generates valid scenarios with the builders. */
import fc from 'fast-check'
import type { CallStep, ScenarioFile, Step } from '../../../src/evaluation/scenario/build/index.ts'
import * as build from '../../../src/evaluation/scenario/build/index.ts'
import { RESERVED_NAMES } from '../../../src/evaluation/scenario/compile/step-compiler.ts'

const { $, agent, all, availability, bot, check, defineScenario, deliver, expectCall, fault } = build
const { log, none, oneOf, parallel, press, repeat, seq, target, user, wait } = build

/** Texts that a careless writer of YAML would lose. */
// biome-ignore format: a list of samples
const TRICKY = [
  '', ' lead', 'trail ', 'no', 'yes', 'null', '~', 'true', '012', '1e3', '0x1f', '.inf', '09:00', '2024-01-01',
  'a: b', 'a #b', '# c', '- x', '? y', '*a', '&a', '!t', '%d', '@e', '`f`', "'g'", '"h"', '"half', '[i, j]', '{ k: l }',
  'm, n', '/a,b/', '/[{]:\\s/', '{{ o }}', 'p {{ q }}', `\${{ r }}`, '$(chat.id)', '$$(s)', 't\nu', 'v\n', '\n', 'w\r\nx',
  'y\tz', '\u0007', '\u0085', '\u2028', '\ufeff', '👩‍👩‍👧', '---', '...', '|', '>', '<<', '=', 'x'.repeat(200),
]
const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...TRICKY),
  fc.string({ unit: 'grapheme' }).filter(text => !text.includes('$(')),
)
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/).filter(name => !RESERVED_NAMES.includes(name))
const duration = fc
  .tuple(fc.nat(500), fc.constantFrom<'ms' | 's'>('ms', 's'))
  .map(([size, unit]) => `${size}${unit}` as const)

const data = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    anyText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        word,
        anyText.filter(text => !text.startsWith('$') && text !== '<<'),
      ),
      tie('value'),
      { maxKeys: 3, noNullPrototype: true },
    ),
    anyText.map(text => $.has(text)),
    tie('value').map(value => $.not(value)),
    fc.constantFrom($.any, $.absent, $.re(/a,b/i), $.re('[{]'), $.type('string'), $.len(2), $.gte(3), $.oneOf('a', 1)),
  ),
})).value
const map = fc.dictionary(word, data, { maxKeys: 3, noNullPrototype: true })

const some = (...names: string[]) =>
  fc.record(Object.fromEntries(names.map(name => [name, data])), { requiredKeys: [], noNullPrototype: true })
const sender = some('name', 'avatar', 'language_codes')

/** A call and a body it can have. */
const called = fc.oneof(
  fc.tuple(fc.constant('start'), fc.record({ sender }, { requiredKeys: [] })),
  fc.tuple(fc.constant('end'), some()),
  fc.tuple(fc.constant('message'), some('message', 'buttons')),
  fc.tuple(fc.constant('typing_start'), some('timeout')),
  fc.tuple(fc.constant('any'), map),
)
const call: fc.Arbitrary<CallStep> = fc
  .tuple(
    called,
    fc.boolean(),
    fc.record({ times: fc.constantFrom(2, { min: 1, max: 2 }, { max: 3 }), apart: duration }, { requiredKeys: [] }),
  )
  .map(([[name, body], whole, options]) => expectCall(name as never, (whole ? body : undefined) as never, options))
const calls = fc.tuple(call, call)
const group: fc.Arbitrary<CallStep> = fc.oneof(
  calls.map(two => all(...two)),
  calls.map(([a, b]) => seq(a, oneOf(a, b), { within: '2s' })),
)

export const anyCheck: fc.Arbitrary<Step> = fc.oneof(
  call,
  group,
  fc.tuple(called, duration).map(([[name, body], time]) => none(name as never, body as never, { for: time })),
  fc.constantFrom(check({ status: 'bot' }), check({ typing: false }), check({ events: { 'MESSAGE FROM USER': 1 } })),
  anyText.map(text => check({ transcript: { contains: [{ user: text }, { agent: $.any, text }] } })),
  anyText.map(text => agent.sees(text, { times: 2 })),
)

export const anyStimulus: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(anyText, fc.boolean())
    .filter(([text]) => text !== '')
    .map(([text, async]) => (async ? user(text, { async, name: 'said' }) : user(text))),
  fc.constantFrom(press('handover'), press('Talk to us', { ack: 'any' }), availability('OPEN'), target('restart')),
  anyText.map(text => bot(text, { buttons: [{ label: text }] })),
  fc.constantFrom(agent('accept'), agent('leave', { soft: true })),
  anyText.map(text => agent.says(text)),
  map.map(given => agent.does('transfer', given)),
  duration.map(time => wait(time)),
  map.map(body => deliver('NEW', { body, sign: 'hex', ack: 'non-2xx' })),
)

export const anyPassing: fc.Arbitrary<Step> = fc.oneof(
  anyText.map(text => log(text)),
  fc.constantFrom(fault.clear(), fault({ on: { api: 'message' }, drop: 'after', times: 1 })),
)

const step = fc.letrec<{ steps: Step[]; step: Step }>(tie => ({
  steps: fc.array(tie('step'), { maxLength: 4 }),
  step: fc.oneof(
    { depthSize: 'small' },
    anyStimulus,
    anyCheck,
    anyPassing,
    fc.tuple(fc.integer({ min: 1, max: 3 }), tie('steps')).map(([times, steps]) => repeat(times, steps)),
    fc.tuple(tie('steps'), tie('steps')).map(([a, b]) => parallel(a, b)),
    fc.tuple(fc.integer({ min: 1, max: 3 }), tie('steps')).map(([users, steps]) => parallel(users, steps)),
  ),
})).step

export const anyScenario: fc.Arbitrary<ScenarioFile> = fc
  .record({
    name: anyText.filter(text => text !== '' && !text.includes('$')),
    steps: fc.array(step, { maxLength: 6 }),
    last: anyCheck,
    head: fc.record(
      {
        tags: fc.array(word),
        vars: map.filter(vars => !('chat' in vars || 'bot' in vars || 'sim' in vars || 'i' in vars)),
        clock: fc.constantFrom('real' as const, 'virtual' as const),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ name, steps, last, head }) => defineScenario({ name, ...head }, [...steps, last]))
