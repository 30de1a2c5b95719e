/** `configure()`: all or none, refusals that say what is allowed, and what the configuration shows. */

import { expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { allowedFor, defaultKnobs, formatKnobs, KNOB_NAMES, type KnobName } from '../../src/platform/contract/knobs.ts'
import { InvalidOptionError } from '../../src/platform/simulator/options.ts'
import { post, world } from '../support/test-simulator.ts'

const refusal = async (patch: Record<string, unknown>): Promise<InvalidOptionError> => {
  const outcome = await world()
    .sim.configure(patch)
    .catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(InvalidOptionError)
  return outcome as InvalidOptionError
}

/** Every kind of knob refuses it, except texts and paths, which have their own. */
const impossible = (name: KnobName): unknown => (/a text|the path of/.test(allowedFor(name)) ? 7 : 'no such value!')

/** An error never shows the value of a key. */
const shown = (name: KnobName): string =>
  name === 'keys.handover' || name === 'keys.bot' || name === 'keys.more'
    ? 'a text of 14 characters, of which character 3 is U+0020'
    : JSON.stringify(impossible(name))

test.each(KNOB_NAMES)('%s refuses an invalid value and names the allowed ones', async name => {
  const { problems, message } = await refusal({ [name]: impossible(name) })
  expect(problems).toHaveLength(1)
  expect(problems[0]!.name).toBe(name)
  expect(message).toContain(`${name} must be ${allowedFor(name)}, got ${shown(name)}.`)
})

test('a patch with an invalid value is not applied, and the error names every problem', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const before = sim.config()
  const patch = {
    'typing.response': 'event',
    'end.idle': 'never',
    'webhook.url': 'ftp://x',
    'keys.handover': 'new',
  } as never
  const failed = await sim.configure(patch).catch((error: InvalidOptionError) => error)
  expect((failed as InvalidOptionError).problems.map(problem => problem.name)).toEqual(['end.idle', 'webhook.url'])
  expect(sim.config()).toEqual(before)
  expect((await post(sim, 'typing_start', chat)).json).toEqual({})
  expect(sim.apiKey).toBe('sim-handover-key')
  expect(sim.journal.query({ kind: 'note' })).not.toContainEqual(expect.objectContaining({ note: 'config' }))
})

test('an unknown knob is refused with the nearest name', async () => {
  const { message } = await refusal({ 'webhook.retries': ['1s'] })
  expect(message).toBe('webhook.retries is not a setting; did you mean webhook.retry?')
})

/** Values as YAML, JSON and flags write them, and how the configuration then shows them. */
const SPELLINGS: readonly (readonly [name: KnobName, written: readonly unknown[], shown: unknown])[] = [
  ['strict.sender', [true, 'on'], 'on'],
  ['strict.sender', [false, 'off'], 'off'],
  ['typing.webhook', [false], 'off'],
  ['webhook.retry', [false, [], '[]', 'off'], 'off'],
  ['webhook.retry', ['1s,5s', '[1s, 5s]', ['1s', '5s'], ['1000ms', '5.000s']], ['1s', '5s']],
  ['attachments.ttl', [false, 'off'], 'off'],
  ['attachments.ttl', ['0.250s', '250ms'], '250ms'],
  ['bot.delay', ['90s', '1.5m', '90000ms'], '90s'],
  ['bot.delay', ['120s', '2m'], '2m'],
  ['chat.idleTimeout', ['60m', '1h', '3600.000s'], '1h'],
  ['transcript.takenOver', [true, 'true'], 'true'],
  ['transcript.takenOver', [null, 'null'], 'null'],
  ['start.again', [409, '409'], '409'],
  ['limits.body', [5, '5'], 5],
  ['limits.attachmentKb', [7, '7'], 7],
  ['limits.rate', ['10/1s', '10/1000ms'], '10/1s'],
  ['transcript.state', ['[bot=idle]', ['bot=idle']], ['bot=idle']],
  ['api.cors', ['*', ['*']], ['*']],
  ['summarize.prompt', [''], ''],
]

test.each(SPELLINGS)('%s: each of %j is %j', async (name, spellings, shown) => {
  for (const written of [...spellings, shown]) {
    const { sim } = world()
    expect((await sim.configure({ [name]: written } as never))[name]).toEqual(shown)
  }
})

const REFUSED: readonly (readonly [name: string, written: readonly unknown[]])[] = [
  ['limits.body', [0, '0', -1, 1.5, '1e3', 2 ** 31]],
  ['webhook.retry', ['1s,', ['1s', 5], {}, 5]],
  ['limits.rate', ['10', '0/1s', '10/0s', '10/1', '10/1s/1s', ' 10/1s', ['10/1s'], '1.5/1s', `${'9'.repeat(30)}/1s`]],
  ['webhook.json', [['compact'], { compact: 1 }]],
  ['start.again', [['409']]],
  ...['toString', 'constructor', 'hasOwnProperty'].map(name => [name, ['1']] as const),
]

test.each(REFUSED)('%s refuses %j', async (name, values) => {
  for (const value of values) expect((await refusal({ [name]: value })).problems).toMatchObject([{ name }])
})

test('a translation engine that cannot be loaded is refused, and the old one stays', async () => {
  const { sim } = world()
  const missing = sim.configure({ 'translation.engine': 'no-such-engine.mjs', 'bot.delay': '1s' })
  await expect(missing).rejects.toThrow('cannot load "no-such-engine.mjs"')
  expect(sim.config()).toMatchObject({ 'bot.delay': '0s', 'translation.engine': 'marker' })
})

test('options refuse the same values before the simulator starts', () => {
  const make = () => createSimulator({ knobs: { 'webhook.retry': [1000], 'bot.delay': '5' } as never })
  expect(make).toThrow('webhook.retry must be off | a list of durations such as [1s, 5s], got [1000].')
  expect(make).toThrow('bot.delay must be a duration such as 500ms, 5s, 10m, 12h, got "5".')
})

test('the configuration shows every knob in its canonical spelling and masks keys', async () => {
  const { sim } = world()
  const shown = await sim.configure({ 'webhook.retry': ['1000ms', '90s'], 'keys.more': 'secret:2002' })
  expect(Object.keys(shown)).toEqual(expect.arrayContaining([...KNOB_NAMES]))
  expect(shown).toEqual(sim.config())
  expect(shown).toMatchObject({ 'webhook.retry': ['1s', '90s'], 'keys.handover': '***', 'keys.more': '***' })
  expect(JSON.stringify(sim.config())).not.toContain('secret')
})

test('the shown defaults are a valid patch', async () => {
  const { sim } = world()
  const before = sim.config()
  expect(await sim.configure(formatKnobs(defaultKnobs()))).toEqual(before)
})

test('a change is a note of the journal, without the keys', async () => {
  const { sim } = world()
  await sim.configure({ 'bot.delay': '1s', 'keys.bot': 'secret' })
  const [note] = sim.journal.query({ kind: 'note' }).slice(-1)
  expect(note).toMatchObject({ note: 'config', changed: { 'bot.delay': '1s', 'keys.bot': '***' }, cause: null })
})

test('assumptions() returns each assumption with its effective values', async () => {
  const { sim } = world()
  await sim.configure({ 'summarize.count': 'utf16' })
  const assumptions = sim.assumptions()
  expect(assumptions.find(({ name }) => name === 'summarize.count')).toMatchObject({
    rule: 'L2',
    knobs: [{ name: 'summarize.count', value: 'utf16', allowed: 'codepoints | utf16' }],
  })
  expect(assumptions.find(({ name }) => name === 'typing.again')).toMatchObject({ knobs: [] })
  expect(JSON.stringify(assumptions)).not.toContain('sim-handover-key')
})
