/** docs/reference/driver.md and what the program really does. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { knownKeys } from '../../src/base/schemas/definitions.ts'
import { createDriver } from '../../src/running/agent-driver/create-driver.ts'
import { loadDriver } from '../../src/running/agent-driver/load-driver.ts'
import { BUILT_IN_VERBS, DriverFile } from '../../src/running/agent-driver/read-driver.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, hasShell, read } from '../docs/pages.ts'
import { around, context, never, openDesk, SIM } from './desk.ts'

const PAGE = read('docs/reference/driver.md')
const [example = '', commands = '', person = '', own = '', _verbsOfYourOwn, ...others] = blocks(PAGE, 'yaml')
const ENV = { PATH: process.env.PATH!, DESK_TOKEN: 's3cret' }

const load = (files: Readonly<Record<string, string>>, name = 'driver.yaml', isTTY = false) =>
  loadDriver(name, around({ cwd: folderWith(files), isTTY }))

const driverFrom = async (...given: Parameters<typeof load>) => {
  const driver = createDriver(await load(...given), { env: ENV, sim: SIM })
  onTestFinished(() => driver.close())
  return driver
}

describe('the page about drivers', () => {
  it('has an example with every key of a driver file', async () => {
    const driver = await driverFrom({ 'driver.yaml': example })
    expect(driver.verbs.slice(0, -4)).toEqual([...BUILT_IN_VERBS, 'does.transfer'])
    for (const key of knownKeys(DriverFile, []).filter(key => key !== '$schema'))
      expect(example).toMatch(new RegExp(`^${key}:`, 'm'))
    expect(Object.keys((await load({ 'driver.yaml': person }, 'driver.yaml', true)).verbs)).toEqual(['accept'])
    expect((await driverFrom({ 'driver.yaml': own })).verbs).toContain('leave')
    expect(others).toEqual([])
  })

  it.runIf(hasShell)('has commands that work', async () => {
    const script = blocks(PAGE, 'sh').find(text => text.startsWith('#!'))!
    const folder = folderWith({ 'driver.yaml': commands, 'agent.sh': script })
    chmodSync(join(folder, 'agent.sh'), 0o755)
    const driver = createDriver(await loadDriver('driver.yaml', around({ cwd: folder })), { env: ENV, sim: SIM })
    const here = context({ chat: { ...context().chat!, id: 'c1' } })
    expect(await driver.call('accept', here, never)).toMatchObject({ outcome: 'ok', how: './agent.sh accept c1' })
    expect((await driver.call('inbox', here, never)).items).toEqual([{ request: true }])
    await driver.close()
  })

  it('has functions that work', async () => {
    const desk = await openDesk(
      ({ url }, response) => void response.end(url.endsWith('inbox') ? '[{"text":"a"}]' : '{}'),
    )
    const code = blocks(PAGE, 'js')[0]!.replace("'http://127.0.0.1:3100'", `'${desk.url}'`)
    const driver = await driverFrom({ 'driver.mjs': code }, 'driver.mjs')
    await driver.call('accept', context(), never)
    await driver.call('says', context({ text: 'Hei' }), never)
    await driver.call('does.transfer', context({ with: { team: 'b' } }), never)
    expect((await driver.call('inbox', context(), never)).items).toEqual([{ text: 'a' }])
    expect(desk.asked.map(({ body }) => body)).toEqual(['{}', '{"text":"Hei"}', '{"team":"b"}', ''])
  })
})
