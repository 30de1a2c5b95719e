/** Tests the published bundle in dist/; `npm test` builds it first. */

import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import { VERSION } from '../../src/platform/contract/version.ts'
import { receiver } from '../webhooks/receiver.ts'
import { loadedWith, specifiersOf } from './built-modules.ts'
import { filesIn, ROOT, read } from './files.ts'
import { NODES } from './nodes.ts'

describe.each(NODES)('on Node %s', (_, node) => {
  it.skipIf(node === null)('answers all nine endpoints in-process', () => {
    const script = join(ROOT, 'test/architecture/nine-endpoints.mjs')
    const { status, stdout, stderr } = spawnSync(node!, [script], { encoding: 'utf8', timeout: 50_000 })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const { version, answers, events } = JSON.parse(stdout)
    expect(version).toBe(VERSION)
    expect(Object.keys(answers).sort()).toEqual(Object.keys(ENDPOINTS).sort())
    for (const [name, answer] of Object.entries(answers)) expect(answer, name).toMatchObject({ status: 200 })
    expect(Object.values<{ event?: string }>(answers).map(({ event }) => event)).toEqual([
      'TRANSCRIPT',
      'SUMMARIZED',
      'TAKEOVER STARTED',
      undefined,
      undefined,
      'MESSAGE SENT TO USER',
      'TAKEOVER ENDED',
      'HANDOVER AVAILABILITY UPDATED',
      undefined,
    ])
    expect(answers.chat.fields).toEqual(['chat'])
    expect(events).toEqual(['REQUESTING TAKEOVER', 'AGENT TYPING START', 'AGENT TYPING STOP'])
  })

  it.skipIf(node === null)('has no syntax that this Node does not know', () => {
    const files = filesIn('dist', '.cjs').map(file => join(ROOT, 'dist', file))
    expect(files.length).toBeGreaterThan(50)
    const script =
      'for (const file of process.argv.slice(1)) try { require("node:vm").compileFunction(require("node:fs").readFileSync(file, "utf8")) } catch (error) { console.log(file, error.message) }'
    const { stdout, stderr } = spawnSync(node!, ['-e', script, ...files], { encoding: 'utf8', timeout: 50_000 })
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: '' })
  })

  it.skipIf(node === null)('prints an uncaught error in less than one screen', () => {
    const wrong = `import { createSimulator } from ${JSON.stringify(join(ROOT, 'dist/index.js'))}; createSimulator({ sed: 1 })`
    const { stderr } = spawnSync(node!, ['--input-type=module', '-e', wrong], { encoding: 'utf8' })
    expect(stderr).toContain('InvalidOptionError: createSimulator takes no sed; did you mean seed?')
    expect(stderr.length).toBeLessThan(2_000)
  })

  it.skipIf(node === null)('exits after a reset while a webhook function is pending', () => {
    const program = `import { createSimulator } from ${JSON.stringify(join(ROOT, 'dist/index.js'))}
const sim = createSimulator({ webhook: { fetch: () => new Promise(() => {}) } })
await (await sim.chat()).press('handover', { async: true })
await new Promise(setImmediate)
sim.reset()`
    const { status, stderr } = spawnSync(node!, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 8_000, // Less than the 10 s of the webhook timeout.
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.skipIf(node === null)('prints its version and its help', () => {
    const run = (flag: string) => spawnSync(node!, [join(ROOT, 'bin/handover-sim.js'), flag], { encoding: 'utf8' })
    expect(run('--version')).toMatchObject({ status: 0, stdout: `${VERSION}\n`, stderr: '' })
    expect(run('--help').stdout).toContain('Usage: handover-sim')
  })
})

it('the bundle imports only files that were built', () => {
  const files = filesIn('dist', 'js').map(file => `dist/${file}`)
  expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.cjs', 'dist/cli.cjs']))
  const own = files.flatMap(file =>
    specifiersOf(file)
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => ({ file, target: normalize(join(dirname(file), specifier)) })),
  )
  expect(own.length).toBeGreaterThan(30)
  expect(own.filter(({ target }) => !files.includes(target))).toEqual([])
})

it('Preact is in one file, which loads for an HTML report only', () => {
  const files = filesIn('dist', '.cjs').map(file => `dist/${file}`)
  const rendering = files.filter(file => read(file).includes('renderToString'))
  expect(rendering).toHaveLength(1)
  expect(loadedWith('dist/cli.cjs', 'at once')).not.toContain(rendering[0])
  expect(loadedWith('dist/cli.cjs', 'ever')).toContain(rendering[0])
})

it('start loads nothing of the certifier', () => {
  const files = filesIn('dist', '.cjs').map(file => `dist/${file}`)
  const filesWith = (text: string) => files.filter(file => read(file).includes(text))
  const start = filesWith('start in the background; ends when the simulator serves')
  expect(start).toHaveLength(1)
  const checks = filesWith('"SIG-01"')
  expect(checks).not.toEqual([])
  const loaded = loadedWith('dist/cli.cjs', 'at once')
  expect(loaded).toContain(start[0])
  expect(checks.filter(file => loaded.includes(file))).toEqual([])
})

it('fast-check is in one file, which loads for explore only', () => {
  const files = filesIn('dist', '.cjs').map(file => `dist/${file}`)
  const generating = files.filter(file => read(file).includes('xoroshiro128plus'))
  expect(generating).toHaveLength(1)
  expect(loadedWith('dist/cli.cjs', 'at once')).not.toContain(generating[0])
  expect(loadedWith('dist/cli.cjs', 'ever')).toContain(generating[0])
  expect(loadedWith('dist/certify.cjs', 'at once')).not.toContain(generating[0])
  for (const entry of ['index', 'scenario'])
    expect(loadedWith(`dist/${entry}.cjs`, 'ever')).not.toContain(generating[0])
})

it('the bundle for browsers, whose parts run in Node too, delivers a signed event to a URL', async () => {
  const { url, got } = await receiver()
  const file = join(ROOT, 'dist/browser/index.js')
  const { createSimulator: forBrowsers }: typeof import('../../src/index.ts') = await import(file)
  const sim = forBrowsers({ webhook: { url } })
  await (await sim.chat()).press('handover')
  await sim.settled()
  expect(sim.deliveries).toMatchObject([{ event: 'REQUESTING TAKEOVER', outcome: 'delivered' }])
  const expected = createHmac('sha256', sim.apiKey).update(got[0]!.bytes).digest('base64')
  expect(got[0]!.headers['kindly-hmac']).toBe(expected)
})

it('a stack trace names the functions of the bundle, without source maps', () => {
  expect(filesIn('dist', '.map')).toEqual([])
  const wrong = `require('handover-sim').createSimulator({ sed: 1 })`
  const { stderr } = spawnSync(process.execPath, ['-e', wrong], { cwd: ROOT, encoding: 'utf8' })
  expect(stderr).toMatch(/at \S*validateOptions .*\n +at \S*createSimulator /)
})

it.each(['en', 'nb', 'de', 'ar'])(
  'the bundle, which has only the names of faker, draws the same personas: %s',
  async language => {
    const { createSimulator: built }: typeof import('../../src/index.ts') = createRequire(import.meta.url)(
      'handover-sim',
    )
    const drawn = async (create: typeof createSimulator) => {
      const sim = create({ seed: 11 })
      await Promise.all(Array.from({ length: 40 }, () => sim.chat({ language })))
      return sim.snapshot().chats
    }
    expect(await drawn(built)).toEqual(await drawn(createSimulator))
  },
)
