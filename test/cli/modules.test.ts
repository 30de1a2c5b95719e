/** Data never runs code: which files, flags and requests can load a module of the user, and which cannot. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSimulator, startSimulator } from '../../src/index.ts'
import { type Files, folderOf } from '../scenario/format/written.ts'
import { createControlClient } from '../support/control-client.ts'
import { fakeIo, runCommand, started } from './fake-io.ts'

/** A module that leaves a file beside itself when it is loaded. */
const spy = (exported: string) =>
  `import { writeFileSync } from 'node:fs'\nwriteFileSync(new URL('./loaded.txt', import.meta.url), '')\n${exported}\n`
const ENGINE = spy('export const translate = text => text.toUpperCase()')
const scenario = (more = '', steps = '  - press: handover\n  - expect: start\n') =>
  `version: 1\nname: A\n${more}steps:\n${steps}`

async function cli(files: Files, ...argv: string[]) {
  const { cwd, ...ended } = await runCommand(argv, { cwd: folderOf(files) })
  return { ...ended, loaded: existsSync(join(cwd, 'loaded.txt')) }
}

describe('validate', () => {
  const MODULES = {
    's.mjs': spy(`export default ${JSON.stringify({ version: 1, name: 'M', steps: [{ expect: 'start' }] })}`),
    'driver.mjs': spy('export const accept = async () => {}'),
    'handover-sim.config.mjs': spy('export default { port: 1 }'),
  }

  test.each(Object.keys(MODULES))('loads %s only with --allow-modules, and says that it is not checked', async file => {
    const without = await cli(MODULES, 'validate', file)
    expect(without).toMatchObject({ code: 4, out: '', loaded: false })
    expect(without.err).toMatch(/: warning: not checked: it is a module; pass --allow-modules \(module-not-checked\)\n/)
    expect(await cli(MODULES, 'validate', file, '--allow-modules')).toMatchObject({ code: 0, err: '', loaded: true })
  })

  test('reports a module in JSON as not ok, and problems of other files win', async () => {
    const files = { ...MODULES, 'a.yaml': 'version: 1\n' }
    const { out } = await cli(files, 'validate', 's.mjs', '--json')
    expect(JSON.parse(out)).toMatchObject({ ok: false, kind: null, warnings: [{ rule: 'module-not-checked' }] })
    expect(await cli(files, 'validate', 's.mjs', 'a.yaml')).toMatchObject({ code: 2, loaded: false })
  })

  test('refuses to include a module in a data file, also with --allow-modules', async () => {
    for (const part of ['part.mjs', './part.MJS', 'part.ts', 'part.cjs', 'part']) {
      const including = scenario('', `  - include: ${part}\n  - expect: start\n`)
      const files = { 'a.yaml': including, 'part.mjs': spy(''), part: '' }
      const { code, err, loaded } = await cli(files, 'validate', 'a.yaml', '--allow-modules')
      expect([code, loaded]).toEqual([2, false])
      expect(err).toMatch(/^a\.yaml:4:14: steps\[0\]\.include: must end in \.yaml, \.yml or \.json: data/)
    }
  })
})

describe('translation.engine', () => {
  const REFUSED = /translation\.engine.* must be marker \| identity \(a module is named only by --set/

  async function startedServer(knobs = {}) {
    const server = await startSimulator({ port: 0, clock: 'virtual', knobs })
    onTestFinished(() => server.close())
    return { server, ask: createControlClient(server) }
  }
  const engineFile = () => {
    const folder = folderOf({ 'engine.mjs': ENGINE })
    return { engine: join(folder, 'engine.mjs'), loaded: () => existsSync(join(folder, 'loaded.txt')) }
  }

  test('is no module in PATCH config, PUT snapshot and POST workspaces', async () => {
    const { engine, loaded } = engineFile()
    const { server, ask } = await startedServer()
    const knobs = { 'translation.engine': engine }
    const { body: snapshot } = await ask('GET', '/snapshot')
    const answers = [
      await ask('PATCH', '/config', { body: knobs }),
      await ask('PUT', '/snapshot', { body: { ...snapshot, config: { ...snapshot.config, ...knobs } } }),
      await ask('POST', '/workspaces', { body: { knobs } }),
    ]
    for (const { status, body } of answers)
      expect([status, body.error.message]).toEqual([422, expect.stringMatching(REFUSED)])
    expect(server.config()['translation.engine']).toBe('marker')
    expect(loaded()).toBe(false)
    expect((await ask('PATCH', '/config', { body: { 'translation.engine': 'identity' } })).status).toBe(200)
  })

  test('is restored where the user has named the same module, and nowhere else', async () => {
    const { engine, loaded } = engineFile()
    const first = createSimulator({ knobs: { 'translation.engine': engine } })
    onTestFinished(() => first.close())
    const snapshot = first.snapshot()
    expect(loaded()).toBe(false)
    const other = await startedServer()
    expect((await other.ask('PUT', '/snapshot', { body: snapshot })).body.error.message).toMatch(REFUSED)
    expect(loaded()).toBe(false)
    const same = await startedServer({ 'translation.engine': engine })
    await same.server.configure({ 'translation.engine': 'marker' })
    expect((await same.ask('PUT', '/snapshot', { body: snapshot })).status).toBe(200)
    expect(same.server.config()['translation.engine']).toBe(engine)
  })

  test('is no module in --import, unless a flag or the config file names it too', async () => {
    const { engine, loaded } = engineFile()
    const sim = createSimulator({ clock: 'real', knobs: { 'translation.engine': engine } })
    onTestFinished(() => sim.close())
    const files = { 'state.json': JSON.stringify(sim.snapshot()) }
    const refused = await cli(files, 'start', '--port', '0', '--import', 'state.json')
    expect([refused.code, refused.err, loaded()]).toEqual([2, expect.stringMatching(REFUSED), false])
    const config = JSON.stringify({ knobs: { 'translation.engine': engine } })
    const io = fakeIo(folderOf({ ...files, 'handover-sim.config.json': config }))
    const { stop } = await started(['--import', 'state.json'], {}, io)
    expect(await stop()).toBe(130)
    expect(loaded()).toBe(true)
  })

  test('is no module in a scenario', async () => {
    const heads = [
      'config: { translation.engine: ./engine.mjs }\n',
      'config: { translation: { engine: ./engine.mjs } }\n',
      'vars: { it: ./engine.mjs }\nconfig: { translation.engine: $(it) }\n',
    ]
    for (const head of heads) {
      const files = { 'a.yaml': scenario(head), 'engine.mjs': ENGINE }
      const { code, err, loaded } = await cli(files, 'run', 'a.yaml', '--dry-run')
      expect([code, loaded]).toEqual([2, false])
      expect(err).toMatch(/^a\.yaml:\d+:\d+: config\.translation\.engine: must be marker \| identity/)
    }
  })
})
