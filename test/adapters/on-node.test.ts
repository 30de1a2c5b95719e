/** Runs the adapters, which depend on internals of Node and msw, on the pinned Node and on the installed one. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../architecture/files.ts'

const folder = mkdtempSync(join(tmpdir(), 'doors-'))
const place = (...parts: string[]) => join(folder, ...parts)

async function bundle(input: string, format: 'cjs' | 'esm'): Promise<string> {
  const build = await rolldown({ cwd: ROOT, input, platform: 'node', external: ['msw'], logLevel: 'silent' })
  const { output } = await build.generate({ format, codeSplitting: false })
  return output[0].code
}

const MSW_USER = `
import { setupServer } from 'msw/node'
import { handlers } from './msw.mjs'
const tell = text => process.stdout.write(text)
try {
  const fetch = async request => new Response('from ' + request.url)
  const server = setupServer(...handlers({ baseUrl: 'https://bot.example.test', fetch: request => fetch(request) }))
  server.listen()
  tell(await (await globalThis.fetch('https://bot.example.test/x')).text())
  server.close()
} catch (error) {
  tell(error.message)
}`

beforeAll(async () => {
  writeFileSync(place('interceptors.cjs'), await bundle('src/testing/interceptors/interceptors.ts', 'cjs'))
  cpSync(join(ROOT, 'node_modules/@mswjs/interceptors/lib/node/llhttp'), place('llhttp'), { recursive: true })
  const handlers = await bundle('src/testing/msw.ts', 'esm')
  for (const name of ['msw', 'msw3']) {
    mkdirSync(place(name, 'node_modules'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), place(name, 'node_modules/msw'))
    writeFileSync(place(name, 'msw.mjs'), handlers)
    writeFileSync(place(name, 'user.mjs'), MSW_USER)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const systemNode = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(path => !path.includes('node_modules'))
  .map(path => join(path, 'node'))
  .find(existsSync)

function run(node: string, ...args: string[]) {
  const { stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', timeout: 50_000 })
  return { stdout, stderr }
}

const nodes = new Map(
  [process.execPath, systemNode ?? process.execPath].map(node => [run(node, '--version').stdout.trim(), node]),
)

describe.each([...nodes])('on Node %s', (version, node) => {
  it('interceptors answer every client, also in another realm, or name the Node they need', () => {
    const { stdout, stderr } = run(node, join(ROOT, 'test/adapters/on-node.mjs'), place('interceptors.cjs'))
    const answers = ['200 /base/x over fetch', '200 /base/x over http', '200 /z over http', 'fetch failed']
    const refusal = `handover-sim/interceptors needs Node 22 or newer, and this is Node ${version.slice(1)}. Pass sim.fetch to your code, use msw 2 with handover-sim/msw, or a simulator with a port: startSimulator().`
    const expected = Number.parseInt(version.slice(1), 10) >= 22 ? answers : refusal
    expect({ stderr, received: stdout && JSON.parse(stdout) }).toEqual({ stderr: '', received: [expected, expected] })
  })

  it('handlers serve msw 2', () => {
    expect(run(node, place('msw/user.mjs'))).toEqual({ stdout: 'from https://bot.example.test/x', stderr: '' })
  })

  it('handlers serve msw 3, or name the Node it needs', () => {
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
    const served = major > 22 || (major === 22 && minor >= 12)
    const { stdout } = run(node, place('msw3/user.mjs'))
    if (served) expect(stdout).toBe('from https://bot.example.test/x')
    else expect(stdout).toMatch(/^msw 3\.\d+\.\d+ needs Node 22\.12\.0 or newer, and this is Node .*msw@2\.$/)
  })
})
