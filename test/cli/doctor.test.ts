/** `handover-sim doctor`: each thing that stops a first try is named, with what repairs it. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { runCommand, started } from './fake-io.ts'

async function doctor(flags: readonly string[] = [], env: Record<string, string> = {}, cwd = folderWith()) {
  const port = flags.includes('--port') ? [] : ['--port', '0']
  const { code, out } = await runCommand(['doctor', '--json', ...port, ...flags], { env, cwd })
  const findings = out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  return { code, of: (id: string) => findings.filter(one => one.id === id) }
}

type Answer = (request: IncomingMessage, body: Buffer) => number

async function serve(answer: Answer, headers = {}): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    response.writeHead(answer(request, body), headers).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/webhook`
}

const signature = (body: Buffer | string) => createHmac('sha256', 'sim-handover-key').update(body).digest('base64')
const verified: Answer = ({ headers }, body) => (headers['kindly-hmac'] === signature(body) ? 200 : 401)

describe('doctor', () => {
  it('finds nothing wrong with a service that verifies raw bytes', async () => {
    const { code, of } = await doctor(['--webhook-url', await serve(verified)])
    expect(code).toBe(0)
    for (const id of ['node', 'copies', 'proxy', 'folder', 'config', 'port', 'webhook', 'raw-bytes', 'signature'])
      expect(of(id), id).toMatchObject([{ state: 'ok', fix: null }])
    expect(of('clock')).toEqual([])
  })

  it('tells a body that was parsed and written again from the raw bytes, and measures the clock of the service', async () => {
    const reparsed: Answer = ({ headers }, body) =>
      headers['kindly-hmac'] === signature(JSON.stringify(JSON.parse(body.toString()))) ? 200 : 401
    const headers = { date: 'Tue, 01 Jan 2030 00:00:00 GMT' }
    const { code, of } = await doctor(['--webhook-url', await serve(reparsed, headers)])
    expect([code, of('webhook'), of('clock')]).toMatchObject([1, [{ state: 'ok' }], [{ state: 'warning' }]])
    expect(of('raw-bytes')).toMatchObject([{ state: 'problem', fix: expect.stringContaining('express.raw') }])
  })

  it.each([
    [404, 'webhook', 'address of the webhook'],
    [307, 'webhook', 'address of the webhook'],
    [401, 'webhook', 'signed event (401). None of'],
    [500, 'webhook', 'Your service failed: it answered 500'],
    [200, 'signature', 'wrong key'],
  ])('says why the webhook always answers %i', async (status, id, text) => {
    const { code, of } = await doctor(['--webhook-url', await serve(() => status)])
    expect([code, of(id)]).toMatchObject([1, [{ state: 'problem', text: expect.stringContaining(text) }]])
    expect(of('raw-bytes')).toEqual([])
  })

  it('reads the driver that the config file names, and tries each verb of one that a flag names', async () => {
    const cwd = folderWith({
      'handover-sim.config.yaml': 'agent_driver: driver.yaml\n',
      'driver.yaml': 'version: 1\naccept: { POST: "http://127.0.0.1:9/" }\nsayz: { POST: "http://127.0.0.1:9/" }\n',
      'driver.mjs': `const call = (path, { chat, sim }, body = {}) => fetch(sim.url + '/api/v2/handover/' + path, {
        method: 'POST',
        headers: { authorization: 'Bearer ' + sim.api_key, 'content-type': 'application/json' },
        body: JSON.stringify({ bot_id: sim.bot_id, chat_id: chat.id, ...body }),
      })
      export const accept = it => call('start', it)
      let reads = 0
      export const inbox = () => reads++ === 0 ? [] : [{ text: 'Where is my parcel?' }]
      export const type = () => { throw new Error('no such ticket') }
      export const leave = it => call('end', it)
      export const does = { transfer() {} }`,
    })
    const named = await doctor([], {}, cwd)
    expect([named.code, named.of('driver')]).toMatchObject([1, [{ text: expect.stringContaining('sayz') }]])
    const flags = ['--agent-driver', 'driver.mjs', '--clock', 'virtual', '--webhook-url']
    const { code, of } = await doctor([...flags, await serve(verified)], {}, cwd)
    expect(code).toBe(1)
    for (const verb of ['accept', 'inbox', 'leave'])
      expect(of(`driver.${verb}`)).toMatchObject([{ state: 'ok', text: `${verb}: function ${verb}.` }])
    expect(of('driver.type')).toMatchObject([{ state: 'problem', text: expect.stringContaining('no such ticket') }])
    expect(of('driver.does.transfer')).toMatchObject([{ state: 'skipped' }])
    // Nothing after a verb that the rest of the chat needs.
    const deaf = await doctor([...flags, await serve(() => 500)], {}, cwd)
    expect([deaf.of('driver.handover'), deaf.of('driver.accept')]).toMatchObject([
      [{ state: 'problem' }],
      [{ state: 'skipped' }],
    ])
  })

  it('says that nothing serves there, and that another machine is not asked', async () => {
    const { code, of } = await doctor(['--webhook-url', `http://127.0.0.1:${await freePort()}/`])
    const text = expect.stringContaining('ECONNREFUSED')
    expect([code, of('webhook')]).toMatchObject([1, [{ state: 'problem', text }]])
    const remote = await doctor(['--webhook-url', 'https://service.example.test/webhook'])
    expect([remote.code, remote.of('webhook')]).toMatchObject([0, [{ state: 'skipped', fix: 'add --allow-remote' }]])
    expect((await doctor()).of('webhook')).toMatchObject([{ state: 'skipped' }])
  })

  it('names who holds the port, and a simulator there', async () => {
    const port = new URL(await serve(() => 500)).port
    const { code, of } = await doctor(['--port', port])
    expect(code).toBe(1)
    const text = expect.stringMatching(/held by .*, which is no simulator/)
    expect(of('port')).toMatchObject([{ state: 'problem', text }])
    const { url } = await started(['--token', 'secret-token'])
    const running = ['--port', new URL(url).port]
    expect((await doctor([...running, '--token', 'secret-token'])).of('port')).toMatchObject([{ state: 'ok' }])
    expect((await doctor([...running, '--token', 'wrong'])).of('token')).toMatchObject([{ state: 'problem' }])
  })

  it('names variables that swallow calls to this machine', async () => {
    const proxied = { HTTP_PROXY: 'http://proxy.example.test:3128' }
    // What the command itself adds does not count.
    const added = 'localhost,127.0.0.1,::1,[::1]'
    expect((await doctor([], { ...proxied, no_proxy: added })).of('proxy')).toMatchObject([{ state: 'warning' }])
    const named = { ...proxied, no_proxy: `127.0.0.1,${added}` }
    expect((await doctor([], named)).of('proxy')).toMatchObject([{ state: 'ok' }])
  })

  it('names misspelt settings, a broken config file, and another copy of the package', async () => {
    const misspelt = await doctor([], { HANDOVER_SIM_WEBHOK_URL: 'http://127.0.0.1:1/' })
    expect(misspelt.of('config')).toMatchObject([{ state: 'warning' }])
    const broken = await doctor([], {}, folderWith({ 'handover-sim.config.yaml': 'version: 1\nprt: 1\n' }))
    expect(broken.code).toBe(1)
    expect(broken.of('config')).toMatchObject([{ state: 'problem', text: expect.stringContaining('prt') }])
    const name = 'node_modules/handover-sim'
    const copy = folderWith({ node_modules: null, [name]: null, [`${name}/package.json`]: '{"version":"0.0.1"}' })
    const text = expect.stringContaining('0.0.1')
    expect((await doctor([], {}, copy)).of('copies')).toMatchObject([{ state: 'problem', text }])
  })

  it('prints marks and fixes for people', async () => {
    const { code, out } = await runCommand(['doctor', '--port', '0', '--webhook-url', await serve(() => 200)])
    expect(code).toBe(1)
    expect(out).toMatch(/^✓ handover-sim \S+ runs with Node/)
    expect(out).toMatch(/^✗ The webhook answered 200 to an event .*\n {2}Fix: Compare Kindly-HMAC/m)
  })
})
