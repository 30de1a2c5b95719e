import { describe, expect, it } from 'vitest'
import { parseSource } from '../../src/base/files/document.ts'
import { knownKeys } from '../../src/base/schemas/definitions.ts'
import { importCommand, main } from '../../src/commands/main.ts'
import { readyLine } from '../../src/commands/start.ts'
import { startSimulator } from '../../src/index.ts'
import { EVENT_EXAMPLES } from '../../src/platform/contract/examples.ts'
import { defaultKnobs } from '../../src/platform/contract/knobs.ts'
import { createPlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { signingHeaders } from '../../src/platform/webhooks/request.ts'
import { resolveSettings } from '../../src/server/config/resolve.ts'
import { ConfigFile, layerOf } from '../../src/server/config/schema.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { complaints, HEAD, load } from '../scenario/format/written.ts'
import { blocks, inlineCode, read } from './pages.ts'

it('docs/reference/cli.md shows the fields of the ready line', async () => {
  await using server = await startSimulator({ port: 0 })
  const [shown = ''] = blocks(read('docs/reference/cli.md'), 'json')
  expect(Object.keys(JSON.parse(shown))).toEqual(Object.keys(readyLine(server)))
})

it.each(['start', 'run', 'certify'] as const)('the help of %s lists all its flags, the most used first', async name => {
  const io = fakeIo(folderWith())
  expect(await main([name, '--help'], {}, io)).toBe(0)
  const listed = [...io.stdout.text.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag!)
  expect(listed[0]).toBe(name === 'start' ? '--webhook-url' : '--target')
  const { flags } = await importCommand(name)
  const visible = Object.entries(flags).filter(([, about]) => typeof about !== 'object' || !about.hidden)
  expect(listed.sort()).toEqual(visible.map(([flag]) => flag.split(' ')[0]!).sort())
})

describe('docs/reference/config.md', () => {
  const PAGE = read('docs/reference/config.md')
  const [example = ''] = blocks(PAGE, 'yaml')
  const around = (cwd: string) => ({ cwd, env: {}, nodeVersion: process.version })

  it('has an example with every section, with which a simulator starts', async () => {
    const sections = Object.keys(parseSource('config.yaml', example, false).value as object)
    expect(['$schema', ...sections].sort()).toEqual([...knownKeys(ConfigFile, [])].sort())
    const cwd = folderWith({ 'handover-sim.config.yaml': example })
    const { options, values, agentDriver } = await resolveSettings({}, around(cwd))
    expect(values).toMatchObject({ 'webhook.retry': ['1s', '5s'], 'typing.webhook': 'off', 'summarize.latency': '2s' })
    expect(agentDriver).toBe('driver.yaml')
    const sim = createPlatformSimulator({ ...options, clock: 'virtual' })
    const chat = await sim.chat({ botId: 2002 })
    await chat.says('Where is my PARCEL?')
    expect(chat.transcript.at(-1)!.text).toBe('Let me look that up.')
    await sim.close()
  })

  it('has an example in JavaScript that loads', async () => {
    const cwd = folderWith({ 'mine.mjs': blocks(PAGE, 'js')[0]! })
    const { values } = await resolveSettings({ config: 'mine.mjs' }, around(cwd))
    expect(values).toMatchObject({ port: 4747, 'webhook.retry': ['1s', '5s'] })
  })

  it('shows the error of an invalid file', () => {
    const name = 'handover-sim.config.yaml'
    const parse = () => layerOf(name, parseSource(name, 'version: 1\nprot: 5\n', false))
    expect(parse).toThrow(blocks(PAGE, '')[0]!.trimEnd())
  })
})

describe('docs/reference/scenarios.md', () => {
  const PAGE = read('docs/reference/scenarios.md')
  const yaml = blocks(PAGE, 'yaml')
  const [part = ''] = yaml.filter(text => text.includes('kind: partial'))
  const asFile = (text: string) => (text.startsWith('- ') ? `${HEAD}steps:\n${text.replace(/^/gm, '  ')}` : text)

  it.each(yaml.filter(text => text !== part))('example %# loads', async text => {
    const [loaded, ...others] = await load({ 's.yaml': asFile(text), 'parts/accept.yaml': part }, ['s.yaml'])
    expect([loaded?.warnings, others]).toEqual([[], []])
  })

  it('has an example in TypeScript that loads', async () => {
    const build = new URL('../../src/evaluation/scenario/build/index.ts', import.meta.url).href
    const code = blocks(PAGE, 'ts')[0]!.replace("'handover-sim/scenario'", JSON.stringify(build))
    const [loaded] = await load({ 's.mjs': code }, ['s.mjs'])
    expect([loaded!.name, loaded!.value.steps]).toEqual(['Lost parcel', expect.objectContaining({ length: 6 })])
  })

  it('shows the error of the program', async () => {
    expect(`${await complaints(`${HEAD}steps:\n  - wait: 5\n`)}\n`).toBe(blocks(PAGE, '')[0])
  })
})

it('docs/reference/webhooks.md has the JSON of every event, and the signature headers', () => {
  const page = read('docs/reference/webhooks.md')
  expect(blocks(page, 'json').map(text => JSON.parse(text))).toEqual(Object.values(EVENT_EXAMPLES))
  const headers = signingHeaders('examplekey', '{"foo":1,"bar":2}', '', defaultKnobs())
  expect(inlineCode(page)).toEqual(expect.arrayContaining(Object.entries(headers).flat()))
})
