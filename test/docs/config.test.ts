/** Compares docs/reference/config.md with the settings of the program. */
import { expect, it } from 'vitest'
import { parseSource } from '../../src/base/files/document.ts'
import { knownKeys } from '../../src/base/schemas/definitions.ts'
import { createPlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { resolveSettings } from '../../src/server/config/resolve.ts'
import { ConfigFile, layerOf } from '../../src/server/config/schema.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, read } from './pages.ts'

const PAGE = read('docs/reference/config.md')
const [example = '', ...others] = blocks(PAGE, 'yaml')

it('the example has every section and is valid', async () => {
  const source = parseSource('handover-sim.config.yaml', example, false)
  const layer = layerOf('handover-sim.config.yaml', source)
  expect(layer['typing.webhook']).toMatchObject({ value: 'off' })
  expect(layer['summarize.latency']).toMatchObject({ value: '2s' })
  const wanted = knownKeys(ConfigFile, []).filter(key => key !== '$schema')
  expect(Object.keys(source.value as object).sort()).toEqual(wanted.sort())
  expect(others).toEqual([])
})

it('a simulator starts with the example', async () => {
  const cwd = folderWith({ 'handover-sim.config.yaml': example })
  const { options, values, agentDriver } = await resolveSettings({}, { cwd, env: {}, nodeVersion: process.version })
  expect(values['webhook.retry']).toEqual(['1s', '5s'])
  expect(agentDriver).toBe('driver.yaml')
  const sim = createPlatformSimulator({ ...options, clock: 'virtual' })
  const chat = await sim.chat({ botId: 2002 })
  await chat.says('Where is my PARCEL?')
  expect(chat.transcript.at(-1)!.text).toBe('Let me look that up.')
  await sim.close()
})

it('the JavaScript example loads', async () => {
  const [code = ''] = blocks(PAGE, 'js')
  const cwd = folderWith({ 'mine.mjs': code })
  const { values } = await resolveSettings({ config: 'mine.mjs' }, { cwd, env: {}, nodeVersion: process.version })
  expect(values).toMatchObject({ port: 4747, 'webhook.retry': ['1s', '5s'] })
})

it('an invalid file gives the error on the page', () => {
  const shown = blocks(PAGE, '')[0]!.trimEnd()
  const parse = () =>
    layerOf('handover-sim.config.yaml', parseSource('handover-sim.config.yaml', 'version: 1\nprot: 5\n', false))
  expect(parse).toThrow(shown)
})
