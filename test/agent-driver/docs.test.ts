/** docs/reference/driver.md and what the program really does. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { knownKeys } from '../../src/base/schemas/definitions.ts'
import { createDriver } from '../../src/running/agent-driver/create-driver.ts'
import { loadDriver } from '../../src/running/agent-driver/load-driver.ts'
import { allowedNames, BUILT_IN_VERBS, DriverFile } from '../../src/running/agent-driver/read-driver.ts'
import { simulatorVariables } from '../../src/running/agent-driver/target.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, hasShell, inlineCode, read, rows, section } from '../docs/pages.ts'
import { around, context, never, openDesk, SIM, withError } from './desk.ts'

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
    expect(others).toEqual([])
  })

  it('has a table with every verb, and one with every key of the target', () => {
    const verbs = rows(section(PAGE, 'Verbs'))
      .slice(1)
      .flatMap(([cell]) => inlineCode(cell!))
    expect(verbs).toEqual([...BUILT_IN_VERBS, 'does: { NAME: ... }'])
    const keys = rows(section(PAGE, 'Target'))
      .slice(1)
      .flatMap(([cell]) => inlineCode(cell!))
    expect(keys.sort()).toEqual(knownKeys(DriverFile, ['target']).sort())
    for (const name of Object.keys(simulatorVariables(SIM))) expect(section(PAGE, 'Target')).toContain(`\`${name}\``)
  })

  it('lists the names of `$(...)`', () => {
    const received = inlineCode(section(PAGE, 'Names')).flatMap(text => /^\$\(([\w.]+)\)$/.exec(text)?.[1] ?? [])
    expect(received).toEqual([
      ...allowedNames('says').names.filter(name => !/^(text|sim)/.test(name)),
      'text',
      'team',
      ...allowedNames(null).names,
      'env.NAME',
    ])
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

  it('has an example of manual verbs, and of a help desk', async () => {
    expect(Object.keys((await load({ 'driver.yaml': person }, 'driver.yaml', true)).verbs)).toEqual(['accept'])
    const driver = await driverFrom({ 'driver.yaml': own })
    expect(driver.verbs).toEqual(['accept', 'says', 'leave', 'away', 'back'])
    expect(own.trim().split('\n').length).toBeLessThanOrEqual(10)
  })

  it('shows the message of a mistake', async () => {
    const shown = blocks(PAGE, '').at(-1)!.trimEnd()
    await expect(load({ 'driver.yaml': 'version: 1\nacept: { POST: /accept }\n' })).rejects.toThrow(shown)
  })

  it('shows the messages of failed calls', async () => {
    const desk = await openDesk((_, response) => void response.writeHead(409).end('{"error":"taken"}'))
    const driver = await driverFrom({ 'driver.yaml': `http: ${desk.url}\naccept: { POST: /a }` })
    const { error } = withError(await driver.call('accept', context(), never))
    expect(inlineCode(section(PAGE, 'Calls'))).toContain(error)
  })
})
