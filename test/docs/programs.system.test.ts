/** Runs the programs and commands of README.md and three pages with the built package. */
import { describe, expect, it } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { blocks, hasShell, pathOf, read, run } from './pages.ts'
import { createProject, moduleFolder, promisedOutput, runModule } from './project.ts'

describe.each(['docs/reference/library.md', 'docs/how-to/workspaces.md'])('%s', page => {
  it.each(blocks(read(page), 'js'))('program %# prints the output in its comments', async program => {
    const { code, stdout, stderr } = await runModule(program)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toEqual(promisedOutput(program))
  })
})

/** The `app` of the README program: it starts a handover for every request. */
const APP = `
const app = {
  async webhook(request) {
    const { chat } = await request.json()
    const headers = { authorization: 'Bearer ' + sim.apiKey, 'content-type': 'application/json' }
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })
    void sim.fetch(new Request(sim.baseUrl + '/api/v2/handover/start', { method: 'POST', headers, body }))
    return new Response()
  },
}
`

it.each([
  ['passes with an app that starts the handover', APP, 0, ''],
  ['fails with another app', 'const app = { webhook: () => new Response() }', 1, 'start was not called within 1800ms'],
])('the program of README %s', async (_, app, code, error) => {
  const [program = ''] = blocks(read('README.md'), 'js')
  const ended = await runModule(`${app}\n${program}`)
  expect(ended).toEqual({ code, stdout: '', stderr: expect.stringContaining(error) })
})

it.skipIf(!hasShell)('the commands of docs/how-to/workspaces.md succeed in order (needs bash and curl)', async () => {
  await using server = await startSimulator({ port: 0 })
  const [make = '', use = '', keep = ''] = blocks(read('docs/how-to/workspaces.md'), 'sh')
  const typed = [make, use, make, keep].join('\n').replaceAll('curl -s', 'curl -sf')
  const { code, stdout } = await createProject().type(typed, { SIM: server.url })
  expect(code).toBe(0)
  expect(stdout).toContain('"name":"checkout"')
  expect(stdout).toContain('"restored":true')
})

it('the test of docs/how-to/unit-tests.md compiles without the types of a browser', () => {
  const [app = '', example = ''] = blocks(read('docs/how-to/unit-tests.md'), 'ts')
  const compilerOptions = {
    ...{ module: 'nodenext', lib: ['es2023'], types: ['node'], strict: true, noEmit: true, skipLibCheck: true },
    allowImportingTsExtensions: true,
  }
  const files = { 'app.ts': app, 'example.test.ts': example, 'tsconfig.json': JSON.stringify({ compilerOptions }) }
  const compiled = run(process.execPath, [pathOf('node_modules/typescript/bin/tsc'), '-p', moduleFolder(files)])
  return expect(compiled).resolves.toEqual({ code: 0, stdout: '', stderr: '' })
})
