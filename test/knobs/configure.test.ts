/** `configure()`: all or none, refusals that say what is allowed, and what the configuration shows. */

import { expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { allowedFor, defaultKnobs, formatKnobs, KNOB_NAMES, type KnobName } from '../../src/platform/contract/knobs.ts'
import { InvalidOptionError } from '../../src/platform/simulator/options.ts'
import { post, world } from './support.ts'

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

test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])('%s is not a setting', async name => {
  const { problems } = await refusal(JSON.parse(`{"${name}": "1"}`))
  expect(problems.map(problem => problem.name)).toEqual([name])
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

test('the shown configuration is a valid patch', async () => {
  const shown = formatKnobs(defaultKnobs())
  const { sim } = world()
  const before = sim.config()
  expect(await sim.configure(shown)).toEqual(before)
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
