/** Runs the programs of docs/reference/signature.md on their frameworks, and checks the list of mistakes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { signatureHeaders } from '../../src/platform/signature/index.ts'
import { blocks, pathOf, read, run, section } from '../docs/pages.ts'
import { bundled } from './bundle.ts'

const PAGE = read('docs/reference/signature.md')
const KEY = 'the-key-of-the-page'

/** Inside the repository, so that Node finds the frameworks; git ignores it. */
let folder = ''
beforeAll(async () => {
  mkdirSync(pathOf('.handover-sim'), { recursive: true })
  folder = mkdtempSync(join(pathOf('.handover-sim'), 'signature-page-'))
  // A package of its own: within ours, its name would lead to what was built before.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const installed = join(folder, 'node_modules/handover-sim')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'package.json'), '{"type":"module","exports":{"./signature":"./signature.js"}}')
  writeFileSync(join(installed, 'signature.js'), await bundled())
  writeFileSync(join(folder, 'print-port.mjs'), PRINT_PORT)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PRINT_PORT = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log('port ' + this.address().port))
  return listen.apply(this, args)
}`

const ROUTE_HANDLER = `
import { serve } from '@hono/node-server'
import { POST } from './NAME'
serve({ fetch: POST, port: 3000 })`

/** Starts the program of a section; `said` resolves when it has written the text. */
async function served(name: string, code: string) {
  const file = `${name.replace(/\W/g, '')}.mjs`
  writeFileSync(join(folder, file), code.replace(/\b3000\b/, '0'))
  const entry = code.includes('export async function POST') ? `serve-${file}` : file
  if (entry !== file) writeFileSync(join(folder, entry), ROUTE_HANDLER.replace('NAME', file).replace('3000', '0'))
  const env = { PATH: process.env.PATH, HANDOVER_API_KEY: KEY }
  const args = ['--import', './print-port.mjs', entry]
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', more => {
    output += more
  })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The program ended.')))
  ended.catch(() => {})
  const said = async (text: string) => {
    while (!output.includes(text)) await Promise.race([once(child.stdout, 'data'), ended])
  }
  await said('port ')
  return { port: Number(/port (\d+)/.exec(output)![1]), said }
}

/** The status; without `fetch`, which adds headers to a request that has no body. */
const post = (port: number, headers: Record<string, string>, body?: string | Uint8Array) =>
  new Promise<number>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: '/webhook', method: 'POST', headers }, response => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.on('error', reject)
    if (body === undefined) for (const name of ['transfer-encoding', 'content-length']) sent.removeHeader(name)
    sent.end(body)
  })

const JSON_TYPE = { 'content-type': 'application/json' }
const AWKWARD = '{ "event": "MESSAGE FROM USER", "message": "Bl\\u00e5bær 🫐 \\/" }\r\n'
const FRAMEWORKS = ['Express', 'Fastify', 'Next.js', 'Hono', 'node:http']
it.each(FRAMEWORKS)('%s accepts valid signatures, refuses all other requests, and continues after them', async name => {
  const [code = '', ...more] = blocks(section(PAGE, name), 'js')
  expect(more).toEqual([])
  const { port, said } = await served(name, code)
  const signed = { ...JSON_TYPE, ...(await signatureHeaders(AWKWARD, KEY)) }
  expect(await post(port, signed, AWKWARD)).toBe(200)
  await said('MESSAGE FROM USER')
  const others = { ...JSON_TYPE, ...(await signatureHeaders(AWKWARD, 'another')) }
  const refused: [headers: Record<string, string>, body?: string | Uint8Array][] = [
    [signed, AWKWARD.trim()],
    [signed, JSON.stringify(JSON.parse(AWKWARD))],
    [others, AWKWARD],
    [{ ...JSON_TYPE, 'kindly-hmac': 'x' }, AWKWARD],
    [{}],
    [JSON_TYPE],
    [{ ...JSON_TYPE, 'content-length': '0' }, ''],
    [JSON_TYPE, '{"not": JSON'],
    [{ 'content-type': 'text/plain' }, 'x'],
    [{ ...JSON_TYPE, get: 'x', headers: 'y' }, Uint8Array.of(0xff, 0)],
  ]
  for (const [headers, body] of refused)
    expect([headers, body, await post(port, headers, body)]).toEqual([headers, body, 401])
  expect(await post(port, signed, AWKWARD)).toBe(200)
})

const programs = ['In your tests', 'Why is a signature invalid?'].flatMap(heading =>
  blocks(section(PAGE, heading), 'js'),
)

it.each(programs.map((text, index) => [index + 1, text] as const))(
  'program %i prints the output in its comments',
  async (index, text) => {
    writeFileSync(join(folder, `program-${index}.mjs`), text)
    const promised = [...text.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, said]) => said)
    const { code, stdout, stderr } = await run(process.execPath, [join(folder, `program-${index}.mjs`)])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toEqual(promised)
    expect(promised.length).toBeGreaterThan(2)
  },
)
