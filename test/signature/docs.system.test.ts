/** Runs the programs of docs/reference/signature.md on their frameworks, and checks the list of mistakes. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { signatureHeaders } from '../../src/platform/signature/index.ts'
import { blocks, pathOf, read, run, section } from '../docs/pages.ts'
import { bundled } from './bundle.ts'

const PAGE = read('docs/reference/signature.md')
const KEY = 'the-key-of-the-page'

/** Inside the repository, so that Node finds the frameworks; git ignores it. */
let folder = ''
function install(name: string, files: Readonly<Record<string, string>>): void {
  const at = join(folder, 'node_modules', name)
  mkdirSync(at, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(at, file), text)
}

beforeAll(async () => {
  mkdirSync(pathOf('.handover-sim'), { recursive: true })
  folder = mkdtempSync(join(pathOf('.handover-sim'), 'signature-page-'))
  // A package of its own: within ours, its name would lead to what was built before.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const exported = JSON.stringify({ type: 'module', exports: { './signature': './signature.js' } })
  install('handover-sim', { 'package.json': exported, 'signature.js': await bundled() })
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

interface Served {
  readonly port: number
  /** Resolves when stdout has the text. */
  said(text: string): Promise<void>
}

async function served(name: string, code: string): Promise<Served> {
  const file = `${name.replace(/\W/g, '')}.mjs`
  writeFileSync(join(folder, file), code.replace(/\b3000\b/, '0'))
  const entry = code.includes('export async function POST') ? `serve-${file}` : file
  if (entry !== file) writeFileSync(join(folder, entry), ROUTE_HANDLER.replace('NAME', file).replace('3000', '0'))
  const env = { PATH: process.env.PATH, HANDOVER_API_KEY: KEY }
  const child = spawn(process.execPath, ['--import', './print-port.mjs', entry], { cwd: folder, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  const out = listening(child.stdout)
  const err = listening(child.stderr)
  const ended = new Promise<never>((_, reject) =>
    child.on('exit', () => reject(new Error(`The program ended: ${err.text()}`))),
  )
  ended.catch(() => {})
  const said = (pattern: string) => Promise.race([out.until(pattern), ended])
  await said('port ')
  return { port: Number(/port (\d+)/.exec(out.text())![1]), said }
}

function listening(stream: NodeJS.ReadableStream) {
  let text = ''
  const waiting = new Set<() => void>()
  stream.setEncoding('utf8').on('data', more => {
    text += more
    for (const look of waiting) look()
  })
  const until = (expected: string) =>
    new Promise<void>(resolve => {
      const look = () => {
        if (!text.includes(expected)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { text: () => text, until }
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
describe.each(FRAMEWORKS)('%s', name => {
  const [code = '', ...more] = blocks(section(PAGE, name), 'js')

  it('accepts valid signatures and refuses all other requests', async () => {
    expect(more).toEqual([])
    const { port, said } = await served(name, code)
    const signed = { ...JSON_TYPE, ...(await signatureHeaders(AWKWARD, KEY)) }
    expect(await post(port, signed, AWKWARD)).toBe(200)
    await said('MESSAGE FROM USER')
    expect(await post(port, signed, AWKWARD.trim())).toBe(401)
    expect(await post(port, signed, JSON.stringify(JSON.parse(AWKWARD)))).toBe(401)
    expect(await post(port, JSON_TYPE, AWKWARD)).toBe(401)
    expect(await post(port, { ...JSON_TYPE, 'kindly-hmac': 'x' }, AWKWARD)).toBe(401)
    expect(await post(port, { ...JSON_TYPE, ...(await signatureHeaders(AWKWARD, 'another')) }, AWKWARD)).toBe(401)
    expect(await post(port, signed, AWKWARD)).toBe(200)
  })

  it('continues after malformed requests', async () => {
    const { port } = await served(`${name} malformed`, code)
    expect(await post(port, {})).toBe(401)
    expect(await post(port, JSON_TYPE)).toBe(401)
    expect(await post(port, { ...JSON_TYPE, 'content-length': '0' }, '')).toBe(401)
    expect(await post(port, JSON_TYPE, '{"not": JSON')).toBe(401)
    expect(await post(port, { ...JSON_TYPE, 'content-type': 'text/plain' }, 'x')).toBe(401)
    expect(await post(port, { ...JSON_TYPE, get: 'x', headers: 'y' }, Uint8Array.of(0xff, 0))).toBe(401)
    const signed = { ...JSON_TYPE, ...(await signatureHeaders('{"event":"X"}', KEY)) }
    expect(await post(port, signed, '{"event":"X"}')).toBe(200)
  })
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
