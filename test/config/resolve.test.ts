import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/base/files/errors.ts'
import { type Env, resolveSettings } from '../../src/server/config/resolve.ts'
import type { SettingFlags } from '../../src/server/config/settings.ts'
import { folderWith } from './folder.ts'

type Files = Parameters<typeof folderWith>[0]
const resolve = (flags: SettingFlags = {}, env: Env = {}, files: Files = {}) =>
  resolveSettings(flags, { cwd: folderWith(files), env, nodeVersion: 'v24.0.0' })

async function problemsOf(...given: Parameters<typeof resolve>): Promise<string[]> {
  const error = await resolve(...given).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ConfigError)
  return (error as ConfigError).message.split('\n')
}

const YAML = {
  'handover-sim.config.yaml': 'port: 5001\nwebhook:\n  url: http://file.example.test/hook\n  retry: [1s]\n',
}

describe('memory_limit', () => {
  it('takes bytes, or a text with a unit, by flag, variable and file', async () => {
    const limit = async (...given: Parameters<typeof resolve>) => (await resolve(...given)).options.memoryLimit
    expect(await limit()).toBe(67_108_864)
    expect(await limit({ memoryLimit: '16mb' })).toBe('16mb')
    expect(await limit({}, { HANDOVER_SIM_MEMORY_LIMIT: '500kb' })).toBe('500kb')
    expect(await limit({}, {}, { 'handover-sim.config.yaml': 'memory_limit: 1000000' })).toBe(1_000_000)
  })
})

describe('precedence', () => {
  it('takes a flag before a variable, then the file and the default', async () => {
    const port = async (...given: Parameters<typeof resolve>) => {
      const { options, sources } = await resolve(...given)
      return [options.port, sources.port]
    }
    const env = { HANDOVER_SIM_PORT: '5002', PORT: '5003' } // Programs of many hosts read PORT; it is not for the simulator.
    expect(await port({ port: '0' }, env, YAML)).toEqual([0, '--port'])
    expect(await port({}, env, YAML)).toEqual([5002, 'HANDOVER_SIM_PORT'])
    expect(await port({}, { PORT: '5003' }, YAML)).toEqual(await port({}, {}, YAML))
    expect(await port({}, {}, YAML)).toEqual([5001, 'handover-sim.config.yaml:1'])
    expect(await port()).toEqual([4747, 'default'])
  })

  it('names the line of the file as the origin of a nested value', async () => {
    const { sources, values } = await resolve({}, {}, YAML)
    expect(sources['webhook.url']).toBe('handover-sim.config.yaml:3')
    expect(sources['webhook.retry']).toBe('handover-sim.config.yaml:4')
    expect(values['webhook.retry']).toEqual(['1s'])
  })

  it('ignores an empty variable', async () => {
    expect((await resolve({}, { HANDOVER_SIM_SEED: '', HANDOVER_SIM_PORT: '' })).options).toMatchObject({
      seed: 1,
      port: 4747,
    })
  })

  it('reads every variable', async () => {
    const { options } = await resolve(
      {},
      {
        HANDOVER_SIM_HOST: '0.0.0.0',
        HANDOVER_SIM_WEBHOOK_URL: 'https://desk.example.test/hook',
        HANDOVER_SIM_API_KEY: 'my-key',
        HANDOVER_SIM_BOT_API_KEY: 'my-bot-key',
        HANDOVER_SIM_BASE_URL: 'https://bot.example.test',
        HANDOVER_SIM_SEED: '7',
        HANDOVER_SIM_CLOCK: 'virtual',
      },
    )
    expect(options).toMatchObject({
      host: '0.0.0.0',
      webhook: { url: 'https://desk.example.test/hook' },
      knobs: { 'keys.handover': 'my-key', 'keys.bot': 'my-bot-key' },
      baseUrl: 'https://bot.example.test',
      seed: 7,
      clock: 'virtual',
    })
  })

  it('takes --set before the file, and the last --set of a knob', async () => {
    const { options, sources } = await resolve({ set: ['webhook.retry=9s', 'webhook.retry=1s,2s'] }, {}, YAML)
    expect(options.knobs?.['webhook.retry']).toEqual(['1s', '2s'])
    expect(sources['webhook.retry']).toBe('--set')
  })

  it('reads the file that a flag or a variable names', async () => {
    const files = { ...YAML, 'other.json': '{"port": 6001}' }
    expect((await resolve({ config: 'other.json' }, {}, files)).options.port).toBe(6001)
    expect((await resolve({}, { HANDOVER_SIM_CONFIG: 'other.json' }, files)).options.port).toBe(6001)
    expect((await resolve({}, { HANDOVER_SIM_CONFIG: 'other.json' }, files)).sources.port).toBe('other.json:1')
  })

  it('warns about a misspelt variable, and about no variable of the user', async () => {
    const env = {
      HANDOVER_SIM_WEBHOK_URL: 'http://127.0.0.1:3000',
      HANDOVER_SIM_TEST: '1',
      HANDOVER_SIM_MY_TENANT: 'a',
    }
    expect((await resolve({}, env)).warnings).toEqual([
      'HANDOVER_SIM_WEBHOK_URL is not read; did you mean HANDOVER_SIM_WEBHOOK_URL?',
    ])
    const given = { HANDOVER_SIM_URL: 'x', HANDOVER_SIM_BOT_API_KEY: 'x', HANDOVER_SIM_WEBHOOK_SECRET: 'x' }
    expect((await resolve({}, given)).warnings).toEqual([])
  })

  it('warns about a config file of another format', async () => {
    const { warnings, configFile } = await resolve({}, {}, { 'handover-sim.config.toml': 'port = 1' })
    expect([configFile, warnings]).toEqual([
      null,
      [expect.stringMatching(/config\.toml is not read: .* ends in \.yaml/)],
    ])
  })

  it.each([
    ['mts', 'export default { port: 5002 as number }'],
    ['cts', 'module.exports = { port: 5002 }'],
    ['cjs', 'module.exports = { port: 5002 }'],
  ])('reads a config file that ends in .%s, also in a CommonJS package', async (ending, text) => {
    const files = { 'package.json': '{"type":"commonjs"}', [`handover-sim.config.${ending}`]: text }
    expect((await resolve({}, {}, files)).options.port).toBe(5002)
  })

  it('warns about each config file that is not read', async () => {
    const { warnings, options } = await resolve({}, {}, { ...YAML, 'handover-sim.config.json': '{"port": 1}' })
    expect(options.port).toBe(5001)
    expect(warnings).toEqual(['handover-sim.config.json is not read, because handover-sim.config.yaml is used.'])
  })

  it('ignores the start of a virtual clock when a flag sets the clock to real', async () => {
    const files = { 'handover-sim.config.yaml': 'clock: { mode: virtual, start: 2024-05-01T09:00:00Z }' }
    expect((await resolve({}, {}, files)).options.clock).toEqual({ mode: 'virtual', start: '2024-05-01T09:00:00Z' })
    expect((await resolve({ clock: 'real' }, {}, files)).options.clock).toBe('real')
  })
})

describe('an invalid flag or variable', () => {
  it.each<[SettingFlags, Env, string]>([
    [{ port: '70000' }, {}, '--port: must be a whole number from 0 to 65535 (0 takes any free port), got "70000".'],
    [{ port: '' }, {}, '--port: must be a whole number from 0 to 65535'],
    [{ port: '-1' }, {}, '--port: must be a whole number from 0 to 65535'],
    [{}, { HANDOVER_SIM_PORT: 'abc' }, 'HANDOVER_SIM_PORT: must be a whole number from 0 to 65535'],
    [{ seed: '1.5' }, {}, '--seed: must be a whole number from 0, got "1.5".'],
    [{ clock: 'slow' }, {}, '--clock: must be real or virtual, got "slow".'],
    [{ host: 'a b' }, {}, '--host: must be an address or host name such as 127.0.0.1, got "a b".'],
    [{ webhookUrl: '127.0.0.1:3000' }, {}, '--webhook-url: must be an http or https URL such as'],
    [{}, { HANDOVER_SIM_BASE_URL: 'https://x.test/?a=1' }, 'HANDOVER_SIM_BASE_URL: must be an'],
    [{ apiKey: 'a b' }, {}, '--api-key: must be a key: printable characters without spaces, got a text of 3'],
    [{ set: ['x'] }, {}, '--set x: must be written knob=value, such as typing.webhook=off.'],
    [{ set: ['=x'] }, {}, '--set =x: must be written knob=value, such as typing.webhook=off.'],
    [{ set: ['webhok.retry=1s'] }, {}, 'webhok.retry is not a knob; did you mean webhook.retry?'],
    [{ set: ['webhook.retry=5'] }, {}, '--set webhook.retry=5: webhook.retry must be off | a list of'],
    [{ set: ['seed=3'] }, {}, '--set seed=3: seed is not a knob; use --seed.'],
    [{ config: 'missing.yaml' }, {}, 'missing.yaml: cannot be read: there is no such file.'],
    [{ config: 'config.toml' }, {}, '--config: "config.toml" must end in .yaml, .yml, .json, .js,'],
    ...['10', '64 MB', '1tb', '-1', ''].map((memoryLimit): [SettingFlags, Env, string] => [
      { memoryLimit },
      {},
      'must be a number of bytes from 65536, or a text such as 64mb or 500kb',
    ]),
  ])('is one problem: %j %j', async (flags, env, message) => {
    expect(await problemsOf(flags, env)).toEqual([expect.stringContaining(message)])
  })

  it('reports every problem at once', async () => {
    expect(await problemsOf({ port: 'x', seed: 'y', set: ['z'] }, { HANDOVER_SIM_CLOCK: 'w' })).toHaveLength(4)
  })
})
