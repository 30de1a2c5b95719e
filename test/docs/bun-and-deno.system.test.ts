/** Runs what docs/how-to/bun-and-deno.md shows, and what its table says, with the built package in Bun and Deno. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { findRuntime } from '../support/runtimes.ts'
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
]

it.for(RUNTIMES)('the page is right on $name', async ({ name, testFile, program, command }, { skip }) => {
  const path = findRuntime(name.toLowerCase())
  if (path === null) skip(`${name} is not installed`)
  const files = { 'app.ts': app, 'one.yaml': SCENARIO, 'table.ts': PROGRAM }
  const dependencies = { 'handover-sim': '*', msw: '*' }
  const folder = folderWith({
    'package.json': JSON.stringify({ private: true, type: 'module', dependencies }),
    ...{ ...files, [testFile]: blocks(section(page, name), 'ts')[0]! },
  })
  // Installs a copy, because Deno checks the types of a linked package as those of the project.
  const modules = join(folder, 'node_modules')
  for (const part of ['package.json', 'bin', 'dist', 'examples/intermediary', 'scenarios'])
    cpSync(pathOf(part), join(modules, 'handover-sim', part), { recursive: true })
  mkdirSync(join(modules, '.bin'))
  symlinkSync('../handover-sim/bin/handover-sim.js', join(modules, '.bin/handover-sim'))
  symlinkSync(pathOf('node_modules/msw'), join(modules, 'msw'))
  const type = (line: string) => {
    const [file = '', ...args] = line.split(' ')
    const PATH = `${dirname(path!)}:${process.env.PATH}`
    const env = { ...process.env, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', PATH }
    const { status, stdout, stderr } = spawnSync(file, args, { cwd: folder, env, encoding: 'utf8', timeout: 100_000 })
    return { status, output: stdout + stderr }
  }

  for (const line of blocks(section(page, name), '')[0]!.trim().split('\n')) {
    const passed = line.includes(' test') ? /\b2 pass/ : /1 passed/
    expect(type(line), line).toEqual({ status: 0, output: expect.stringMatching(passed) })
  }

  const { status, output } = type(`${program} table.ts`)
  expect(status, output).toBe(0)
  expect(JSON.parse(output.trim().split('\n').at(-1)!)).toEqual({
    ...{ run: 'pass', certified: 'pass', status: 401 },
    problem: expect.stringMatching(`^handover-sim/interceptors needs Node 22 or newer, and this is ${name} \\d`),
  })

  const address = `--port ${await freePort()}`
  const expectOutput = (line: string, text: string) =>
    expect(type(line)).toEqual({ status: 0, output: expect.stringContaining(text) })
  expectOutput(`${command} start --demo --detach ${address}`, 'Ready: http')
  expectOutput(`${command} stop ${address}`, 'Stopped: ')
  expectOutput(`${command} stop ${address}`, 'No simulator')
})
