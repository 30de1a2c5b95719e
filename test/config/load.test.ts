import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/base/files/errors.ts'
import { findConfig, loadConfig } from '../../src/server/config/resolve.ts'
import { folderWith } from './folder.ts'

async function load(name: string, content: string | Uint8Array | null, nodeVersion = 'v24.0.0') {
  const cwd = folderWith({ [name]: content })
  const layer = await loadConfig(findConfig(cwd, { file: name, from: '--config' })!, nodeVersion)
  return Object.fromEntries(Object.entries(layer).map(([key, { value }]) => [key, value]))
}

async function failure(...given: Parameters<typeof load>): Promise<string> {
  const error = await load(...given).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ConfigError)
  return (error as ConfigError).message
}

const EXAMPLE = `# yaml-language-server: $schema=./node_modules/handover-sim/schema/config.v1.json
version: 1
port: 4747
seed: 1
clock: real
bot: { id: 1042, name: Nora, replies: [{ match: parcel, text: Let me look that up., buttons: [{ label: Talk to us, handover: true }] }] }
keys: { handover: sim-handover-key, bot: sim-bot-key }
webhook: { url: "http://127.0.0.1:3000/webhook" }
agent_driver: driver.yaml
business_hours: { time_zone: Europe/Oslo, mon-fri: "09:00-17:00", sat: "10:00-14:00", 2026-12-24: closed }
messages: { open: One moment, closed: We are closed, entering: "{name} has joined", left: "{name} has left" }
knobs: { webhook.retry: [1s, 5s], typing.webhook: off }
`

describe('a config file', () => {
  it('reads the documented example', async () => {
    expect(await load('c.yaml', EXAMPLE)).toEqual({
      port: 4747,
      seed: 1,
      clock: 'real',
      'bot.id': 1042,
      'bot.name': 'Nora',
      'bot.replies': [
        { match: 'parcel', text: 'Let me look that up.', buttons: [{ label: 'Talk to us', handover: true }] },
      ],
      'keys.handover': 'sim-handover-key',
      'keys.bot': 'sim-bot-key',
      'webhook.url': 'http://127.0.0.1:3000/webhook',
      agent_driver: 'driver.yaml',
      business_hours: {
        time_zone: 'Europe/Oslo',
        'mon-fri': '09:00-17:00',
        sat: '10:00-14:00',
        '2026-12-24': 'closed',
      },
      'messages.open': 'One moment',
      'messages.closed': 'We are closed',
      'messages.entering': '{name} has joined',
      'messages.left': '{name} has left',
      'webhook.retry': ['1s', '5s'],
      'typing.webhook': 'off',
    })
  })

  it.each([
    ['c.json', '{"port": 1, "knobs": {"typing": {"webhook": "off"}}}'],
    ['c.json', '{\n\t"port": 1,\n\t"knobs": {"typing.webhook": "off"}\n}'],
    ['c.yml', 'port: 1\nknobs:\n  typing:\n    webhook: off\n'],
    ['c.mjs', 'export default { port: 1, knobs: { "typing.webhook": "off" } }'],
    ['c.ts', 'const port: number = 1\nexport default { port, knobs: { typing: { webhook: "off" } } }'],
  ])('%s sets the same knob dotted and nested', async (name, content) => {
    expect(await load(name, content)).toEqual({ port: 1, 'typing.webhook': 'off' })
  })

  it.each(['c.yaml', 'c.yml'])('an empty %s sets nothing', async name => {
    expect(await load(name, '# nothing yet\n')).toEqual({})
  })

  it('is found in the folder, YAML first', () => {
    const cwd = folderWith({ 'handover-sim.config.ts': '', 'handover-sim.config.yml': '', 'other.yaml': '' })
    expect(findConfig(cwd)).toMatchObject({
      name: 'handover-sim.config.yml',
      ignored: ['handover-sim.config.ts'],
    })
    expect(findConfig(folderWith())).toBeNull()
  })
})

describe('an invalid config file', () => {
  it.each([
    ['prot: 1', '1:1: prot: is not a known key; did you mean port?\n  1 | prot: 1\n    | ^^^^'],
    ['webhook:\n  retri: [1s]', '2:3: webhook.retri: is not a known key; did you mean retry?\n  2 |   retri: [1s]\n'],
    ['knobs: { typing.webhok: off }', '1:10: knobs.typing.webhok: is not a known key; did you mean typing.webhook?'],
    ['typing.webhook: off', '1:1: typing.webhook: is not a known key; it is a knob: write it under knobs.'],
    ['knobs:\n  bot.delay: 5', '2:14: knobs.bot.delay: must be a duration such as 500ms,'],
    ['port: 70000', '1:7: port: must be a whole number from 0 to 65535 (0 takes any free port), got the number 70000.'],
    ['port: "80"', '1:7: port: must be a whole number from 0 to 65535'],
    ['webhook: { url: 127.0.0.1:3000 }', '1:17: webhook.url: must be an http or https URL'],
    ['version: 2', '1:10: version: must be 1, got the number 2.'],
    ['keys: { bot: 123 }', '1:14: keys.bot: must be a key: printable characters without spaces, got a number'],
    ['clock: slow', '1:8: clock: must be real, virtual or an object, got the string "slow".'],
    ['clock: { mode: virtual, start: noon }', '1:32: clock.start: must be a time such as "2024-01-01T09:00:00Z"'],
    ['business_hours: { time_zone: UTC, mon-fri: 9-17 }', '1:44: business_hours.mon-fri: must be hours'],
    ['business_hours: { time_zone: UTC, monday: [] }', '1:35: business_hours.monday: is not a day, '],
    ['business_hours:\n  time_zone: UTC\n  mon: ["09:00-12:00", 13-17]', '3:24: business_hours.mon[1]: must be hours'],
    [
      'business_hours: 9-17',
      '1:17: business_hours: must be a map such as { time_zone: Europe/Oslo, mon-fri: "09:00-17:00" }',
    ],
    ['bot: { replies: [{ match: x }] }', '1:18: bot.replies[0].text: is required: a string.'],
    ['keys: { bot: a }\nknobs: { keys.bot: b }', '2:10: knobs.keys.bot: sets keys.bot again (first at c.yaml:1).'],
    ['keys: {\n  "bot": "a",\n  }}', '3:4: '],
    ['port: 1\nport: 2', '2:1: Map keys must be unique.'],
    ['- port: 1', '1:1: must be an object, got an array of 1.'],
    ['port: *p', '1:7: *p is an alias of nothing; set it with &p before, or quote the text.'],
  ])('is refused: %j', async (content, message) => {
    expect(await failure('c.yaml', content)).toMatch(`c.yaml:${message}`)
  })

  it('reports every problem, in the order of the file', async () => {
    const message = await failure('c.yaml', 'seed: -1\nprot: 1\nport: x\nhots: y\n')
    expect(message.match(/^c\.yaml:\d+/gm)).toEqual(['c.yaml:1', 'c.yaml:2', 'c.yaml:3', 'c.yaml:4'])
  })

  it('shows no control characters of the file', async () => {
    const message = await failure('c.yaml', 'port: "a\u202e\u009b2J"')
    expect(message.split('\n').slice(1).join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  it('shows only the part of a long line around the place', async () => {
    const message = await failure('c.yaml', `{ agent_driver: "${'x'.repeat(300)}", prot: 1 }`)
    expect(Math.max(...message.split('\n').map(line => line.length))).toBeLessThan(110)
  })
})

describe('an unreadable config file', () => {
  it.each<[string, string | Uint8Array | null, RegExp]>([
    ['c.yaml', null, /^c\.yaml: cannot be read: it is a folder\.$/],
    ['u.yaml', Uint8Array.from([0xff, 0xfe, 0x61, 0, 0x3a, 0]), /^u\.yaml: is UTF-16 text; save it as UTF-8\.$/],
    ['c.yaml', Uint8Array.of(1, 0, 2), /^c\.yaml: is not a text file \(it has zero bytes\)\.$/],
    ['c.json', Uint8Array.of(0xc3, 0x28), /^c\.json: is not UTF-8 text; save it as UTF-8\.$/],
    ['c.json', '{\n  "port": 1\n  "seed": 2\n}', /^c\.json:3:3: is not valid JSON: .*\n {2}3 | {3}"seed": 2\n/],
    [
      'c.json',
      '{"keys": {\n  "bot": "a",\n  }}',
      /^c\.json:3:3: is not valid JSON: .*\n {2}3 \| {3}\}\}\n {4}\| {3}\^\n?$/,
    ],
    ['c.json', '{ port: 1 }', /^c\.json:1:3: is not valid JSON: /],
    ['c.json', '{"port": 1', /^c\.json:1:\d+: is not valid JSON: /],
    ['c.json', '{\n  "prot": 1\n}', /^c\.json:2:3: prot: is not a known key/],
    ['c.yaml', 'port: 1\nbot: { id: 1\n', /^c\.yaml:3:1: Flow map .*\.\n/],
    ['c.mjs', 'export const port = 1', /^c\.mjs: must have a default export: export default \{ port: 4747 \}\.$/],
    ['c.mjs', 'throw new Error("no database")', /^c\.mjs: cannot be loaded: no database \(line 1:7\)\.$/],
    ['c.mjs', 'export default { prot: 1 }', /^c\.mjs: prot: is not a known key; did you mean port\?$/],
  ])('%s with %j', async (name, content, message) => {
    expect(await failure(name, content)).toMatch(message)
  })

  it.skipIf(process.getuid?.() === 0)('is refused without permission to read it', async () => {
    const cwd = folderWith({ 'c.yaml': 'port: 1' })
    chmodSync(join(cwd, 'c.yaml'), 0)
    const file = findConfig(cwd, { file: 'c.yaml', from: '--config' })!
    await expect(loadConfig(file, 'v24.0.0')).rejects.toThrow('c.yaml: cannot be read: permission denied.')
  })
})

describe('a config module', () => {
  it.each(['v20.19.0', 'v22.17.9', 'v23.5.0'])('.ts on Node %s is refused with the alternatives', async version => {
    expect(await failure('c.ts', 'export default {}', version)).toBe(
      `c.ts: needs Node 22.18 or newer, this is ${version}. Write it as .yaml, .json or .mjs, or use a newer Node.`,
    )
  })
  it.each(['v22.18.0', 'v23.6.0', 'v24.0.0'])('.ts on Node %s is read', async version => {
    expect(await load('c.ts', 'export default { port: 1 as number }', version)).toEqual({ port: 1 })
  })
})
