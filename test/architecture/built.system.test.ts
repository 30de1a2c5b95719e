/** Tests the built package in dist/: its entries, what each file loads, and its behaviour on the installed versions of Node. */
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { delimiter, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import { VERSION } from '../../src/platform/contract/version.ts'
import { startWebhook } from '../support/network.ts'
import { loadedWith, moduleOf } from './built-modules.ts'
import { filesIn, importsOf, ROOT, read, readJson } from './files.ts'

type Entry = { types: string; default: string; require?: Omit<Entry, 'require'>; browser?: string }
const manifest = readJson<{ exports: Record<string, Entry | string> }>('package.json')
const ENTRIES = Object.entries(manifest.exports).filter((one): one is [string, Entry] => typeof one[1] !== 'string')
const inRoot = (path: string) => path.replace('./', '')
const BUILT = filesIn('dist', 'js').map(file => `dist/${file}`)
const COMMONJS = BUILT.filter(file => file.endsWith('.cjs'))

/** Package -> the built files that may import it. */
const IMPORTABLE: Readonly<Record<string, RegExp>> = {
  zod: /^dist\/(contract\.c?js$|types\/)/,
  msw: /^dist\/(browser\/)?(msw\.c?js$|types\/testing\/msw\.d\.[cm]ts$)/,
  vitest: /^dist\/(vitest\.js$|types\/testing\/vitest\/)/,
}
const packagesIn = (specifiers: readonly string[]) => specifiers.filter(one => !one.startsWith('.'))
/** Returns the imports of packages that this file may not import. */
const misplaced = (file: string, specifiers: readonly string[]) =>
  packagesIn(specifiers)
    .filter(one => !isBuiltin(one) && !IMPORTABLE[/^(@[^/]+\/)?[^/]+/.exec(one)![0]]?.test(file))
    .map(one => `${file}: ${one}`)

describe.each(ENTRIES)('the entry %s', (_, { default: main, browser, require }) => {
  /** The chunk that imports files of the user. */
  const loadsUserModules = (file: string) => read(file).includes('ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG')

  it.skipIf(require === undefined)('has a CommonJS form that jest can load: without import() and import.meta', () => {
    const files = loadedWith(inRoot(require!.default), 'ever')
    expect(files.filter(file => !file.endsWith('.cjs'))).toEqual([])
    expect(files.filter(file => moduleOf(file).usesModuleSyntax && !loadsUserModules(file))).toEqual([])
  })

  it('has an ES form without a top-level await', () => {
    expect(loadedWith(inRoot(main), 'atOnce').filter(file => moduleOf(file).hasTopLevelAwait)).toEqual([])
  })

  it.skipIf(browser === undefined)('imports nothing of Node in a browser', () => {
    const files = loadedWith(inRoot(browser!), 'ever')
    expect(files.flatMap(file => packagesIn(moduleOf(file).ever)).filter(one => one !== 'msw')).toEqual([])
  })
})

describe('the files', () => {
  it('import only files that were built, and msw, vitest and zod only in their entries', () => {
    expect(BUILT.length).toBeGreaterThan(30)
    const targets = BUILT.flatMap(file =>
      moduleOf(file)
        .ever.filter(specifier => specifier.startsWith('.'))
        .map(specifier => normalize(join(dirname(file), specifier))),
    )
    expect(targets.filter(target => !BUILT.includes(target))).toEqual([])
    expect(BUILT.flatMap(file => misplaced(file, moduleOf(file).ever))).toEqual([])
    expect(filesIn('dist', '.map')).toEqual([])
  })

  it.each(['dist/signature.js', 'dist/signature.cjs'])('%s is one file without imports', file => {
    expect(moduleOf(file).ever).toEqual([])
  })

  /** A text that only the files of one part contain, and how the command loads these. */
  it.each([
    ['Preact, for an HTML report', 'renderToString', 'cli'],
    ['fast-check, for explore', 'xoroshiro128plus', 'cli,certify'],
    ['the checks, for certify', '"SIG-01"', 'cli,certify,index,scenario'],
  ])('the command loads %s, only when it is used', (_, text, loading) => {
    const files = COMMONJS.filter(file => read(file).includes(text))
    expect(files).not.toEqual([])
    const loads = (entry: string, when: 'atOnce' | 'ever') =>
      loadedWith(`dist/${entry}.cjs`, when).some(file => files.includes(file))
    expect(loads('cli', 'atOnce')).toBe(false)
    for (const entry of ['cli', 'certify', 'index', 'scenario'])
      expect(loads(entry, 'ever'), entry).toBe(loading.split(',').includes(entry))
  })
})

describe('the published types', () => {
  const files = filesIn('dist', '.d.cts', '.d.mts').map(file => `dist/${file}`)

  it('name zod, and msw and vitest only in their entries', () => {
    expect(files.length).toBeGreaterThan(50)
    expect(files.flatMap(file => misplaced(file, importsOf(read(file))))).toEqual([])
  })
})

it.each(['schema/scenario.v1.json', 'fixtures/signatures/vectors.json', 'scenarios/happy-path.yaml', 'package.json'])(
  'handover-sim/%s resolves',
  path => expect(new URL(import.meta.resolve(`handover-sim/${path}`)).pathname).toBe(join(ROOT, path)),
)

/** Every entry but that for vitest, which is an ES module itself. */
const REQUIRABLE = ENTRIES.map(([name]) => name.replace('.', 'handover-sim')).filter(name => !name.endsWith('/vitest'))

const versionOf = (node: string) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''
/** The Node on PATH, when its version differs from that of the development dependency. */
const systemNode = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(folder => !folder.includes('node_modules'))
  .map(folder => join(folder, 'node'))
  .find(existsSync)
const NODES = [process.execPath, systemNode ?? process.execPath].filter(
  (node, index) => index === 0 || !['', process.version].includes(versionOf(node)),
)

describe.each(NODES.map(node => [versionOf(node), node] as const))('on Node %s', (_, node) => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(node, args, { cwd: ROOT, encoding: 'utf8', timeout: 50_000 })
    return { status, stdout, stderr }
  }
  const printed = (script: string) => {
    const { stdout, ...ended } = run('--no-warnings', '-e', script)
    expect(ended).toEqual({ status: 0, stderr: '' })
    return JSON.parse(stdout)
  }

  it('answers all nine endpoints in-process', () => {
    const { stdout, ...ended } = run('test/architecture/nine-endpoints.mjs')
    expect(ended).toEqual({ status: 0, stderr: '' })
    const { version, answers, events } = JSON.parse(stdout)
    expect(version).toBe(VERSION)
    expect(Object.keys(answers).sort()).toEqual(Object.keys(ENDPOINTS).sort())
    for (const [name, answer] of Object.entries(answers)) expect(answer, name).toMatchObject({ status: 200 })
    expect(answers).toMatchObject({ start: { event: 'TAKEOVER STARTED' }, chat: { fields: ['chat'] } })
    expect(events).toEqual(['REQUESTING TAKEOVER', 'AGENT TYPING START', 'AGENT TYPING STOP'])
  })

  it('knows the syntax of every file', () => {
    const script = `const { readFileSync } = require('node:fs')
for (const file of process.argv.slice(1))
  try { require('node:vm').compileFunction(readFileSync(file, 'utf8')) } catch (error) { console.log(file, error.message) }`
    expect(COMMONJS.length).toBeGreaterThan(50)
    expect(run('-e', script, ...COMMONJS)).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('prints an uncaught error in less than one screen, with the names of functions', () => {
    const { stderr } = run('-e', `require('handover-sim').createSimulator({ sed: 1 })`)
    expect(stderr).toContain('InvalidOptionError: createSimulator takes no sed; did you mean seed?')
    expect(stderr).toMatch(/at \S*validateOptions .*\n +at \S*createSimulator /)
    expect(stderr.length).toBeLessThan(2_000)
  })

  it('exits after a reset while a webhook function is pending, without waiting for the timeout of the webhook', () => {
    const program = `import { createSimulator } from 'handover-sim'
const sim = createSimulator({ knobs: { 'webhook.timeout': '10m' }, webhook: { fetch: () => new Promise(() => {}) } })
await (await sim.chat()).press('handover', { async: true })
await new Promise(setImmediate)
sim.reset()`
    expect(run('--input-type=module', '-e', program)).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('require() loads every entry', () => {
    const script = `const entries = ${JSON.stringify(REQUIRABLE)}.map(name => require(name))
console.log(JSON.stringify(entries.map(one => Object.keys(one).length > 0)))`
    expect(printed(script)).toEqual(REQUIRABLE.map(() => true))
  })

  it('import and require share simulators, interceptions and error classes', () => {
    const script = `const names = ['handover-sim', 'handover-sim/scenario', 'handover-sim/interceptors']
Promise.all(names.map(name => import(name))).then(imported => {
  const different = names.flatMap((name, index) => {
    const required = require(name)
    const both = new Set([...Object.keys(required), ...Object.keys(imported[index])])
    return [...both].filter(key => required[key] !== imported[index][key])
  })
  console.log(JSON.stringify(different))
})`
    expect(printed(script)).toEqual([])
  })
})

it('the bundle for browsers, whose parts run in Node too, delivers a signed event to a URL', async () => {
  const signatures: unknown[] = []
  await using webhook = await startWebhook((request, response) => {
    signatures.push(request.headers['kindly-hmac'])
    response.end()
  })
  const file = join(ROOT, 'dist/browser/index.js')
  const { createSimulator: forBrowsers }: typeof import('../../src/index.ts') = await import(file)
  const sim = forBrowsers({ webhook: { url: webhook.url } })
  await (await sim.chat()).press('handover')
  await sim.settled()
  expect(sim.deliveries).toMatchObject([{ event: 'REQUESTING TAKEOVER', outcome: 'delivered' }])
  expect(signatures).toEqual([createHmac('sha256', sim.apiKey).update(webhook.bodies[0]!).digest('base64')])
})

it('the bundle, which has only the names of faker, draws the same personas', async () => {
  const built: typeof import('../../src/index.ts') = createRequire(import.meta.url)('handover-sim')
  const drawn = async (create: typeof createSimulator) => {
    const sim = create({ seed: 11 })
    for (const language of ['en', 'nb', 'de', 'ar'])
      await Promise.all(Array.from({ length: 40 }, () => sim.chat({ language })))
    return sim.snapshot().chats
  }
  expect(await drawn(built.createSimulator)).toEqual(await drawn(createSimulator))
})
