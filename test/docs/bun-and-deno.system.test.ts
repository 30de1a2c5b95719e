/** Runs what docs/how-to/bun-and-deno.md shows, and what its table says, with the built package in Bun and Deno. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/port.ts'
import { findRuntime, titled } from '../support/runtimes.ts'
import { blocks, pathOf, read, section } from './pages.ts'

const page = read('docs/how-to/bun-and-deno.md')
const [app = ''] = blocks(read('docs/how-to/unit-tests.md'), 'ts')

/** Prints what each line of the table says. */
const PROGRAM = `
import { createSimulator } from 'handover-sim'
import { certify } from 'handover-sim/certify'
import { intercept } from 'handover-sim/interceptors'
import { handlers } from 'handover-sim/msw'
import { runScenario } from 'handover-sim/scenario'
import { setupServer } from 'msw/node'
import { createApp } from './app.ts'

const sim = createSimulator({ webhook: { fetch: request => app.webhook(request) } })
const app = createApp({ url: sim.baseUrl, key: sim.apiKey, botId: sim.botId, fetch: sim.fetch })
const run = await runScenario(sim, 'one.yaml')
const { checks } = await certify(sim, { only: ['SIG-01'] })
const server = setupServer(...handlers(sim))
server.listen()
const { status } = await fetch(sim.baseUrl + '/api/v1/chats/c1')
server.close()
let problem = null
try {
  intercept(sim)
} catch (error) {
  problem = error.message
}
console.log(JSON.stringify({ run: run.outcome, certified: checks[0].outcome, status, problem }))
process.exit(0)
`

const SCENARIO = 'version: 1\nname: Start\nsteps: [{ press: handover }, { expect: start }]\n'

const RUNTIMES = [
  { name: 'Bun', testFile: 'chat.test.ts', program: 'bun', command: 'bunx --bun handover-sim' },
  { name: 'Deno', testFile: 'chat_test.ts', program: 'deno run -A', command: 'deno run -A npm:handover-sim' },
].map(runtime => ({ ...runtime, path: findRuntime(runtime.name.toLowerCase()) }))

describe.each(RUNTIMES.map(one => ({ ...one, title: titled(one.name, one.path) })))('on $title', one => {
  const { name, path, testFile, program, command } = one
  const [test = ''] = blocks(section(page, name), 'ts')
  const [typed = ''] = blocks(section(page, name), '')
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-runtimes-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Installs a copy, because Deno checks the types of a linked package as those of the project. */
  beforeAll(() => {
    if (path === null) return
    const modules = join(folder, 'node_modules')
    for (const part of ['package.json', 'bin', 'dist', 'examples/intermediary', 'scenarios'])
      cpSync(pathOf(part), join(modules, 'handover-sim', part), { recursive: true })
    mkdirSync(join(modules, '.bin'))
    symlinkSync('../handover-sim/bin/handover-sim.js', join(modules, '.bin/handover-sim'))
    symlinkSync(pathOf('node_modules/msw'), join(modules, 'msw'))
    const dependencies = { 'handover-sim': '*', msw: '*' }
    const files = {
      'package.json': JSON.stringify({ private: true, type: 'module', dependencies }),
      'app.ts': app,
      [testFile]: test,
      'one.yaml': SCENARIO,
      'table.ts': PROGRAM,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  })

  function type(line: string) {
    const [file = '', ...args] = line.split(' ')
    const PATH = `${dirname(path!)}:${process.env.PATH}`
    const env = { ...process.env, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', PATH }
    const { status, stdout, stderr } = spawnSync(file, args, { cwd: folder, env, encoding: 'utf8', timeout: 100_000 })
    return { status, output: stdout + stderr }
  }

  it.skipIf(path === null)('the test passes, and the commands work', () => {
    for (const line of typed.trim().split('\n')) {
      const { status, output } = type(line)
      expect(status, `${line}\n${output}`).toBe(0)
      expect(output).toMatch(line.includes(' test') ? /\b2 pass/ : /1 passed/)
    }
  })

  it.skipIf(path === null)('the table is right', () => {
    const { status, output } = type(`${program} table.ts`)
    expect(status, output).toBe(0)
    expect(JSON.parse(output.trim().split('\n').at(-1)!)).toEqual({
      run: 'pass',
      certified: 'pass',
      status: 401,
      problem: expect.stringMatching(
        new RegExp(
          `^handover-sim/interceptors needs Node 22 or newer, and this is ${name} \\d.* startSimulator\\(\\)\\.$`,
        ),
      ),
    })
  })

  it.skipIf(path === null)('a server starts with the demo, in the background, and stops', async () => {
    const address = `--port ${await freePort()}`
    const started = type(`${command} start --demo --detach ${address}`)
    expect(started, started.output).toMatchObject({ status: 0, output: expect.stringContaining('Ready: http') })
    expect(type(`${command} stop ${address}`)).toMatchObject({
      status: 0,
      output: expect.stringContaining('Stopped: '),
    })
    expect(type(`${command} stop ${address}`)).toMatchObject({
      status: 0,
      output: expect.stringContaining('No simulator'),
    })
  })
})
