/** How `wait`, `trigger`, `resend` and `stop` find a running simulator, and what they do when another server answers. */
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { type Env, runCommand, started } from './fake-io.ts'

const TOKEN = 'a-token'

/** A simulator with a delivery, a folder whose files name it, and commands that need it. */
async function serving(options: PlatformServerOptions = {}) {
  const server = await startSimulator({ port: 0, webhook: { fetch: () => new Response() }, ...options })
  onTestFinished(() => server.close())
  const { controlToken } = options
  const ready = JSON.stringify({ url: server.url, ...(controlToken && { controlToken }) })
  const config = `port: ${server.port}\n${controlToken === undefined ? '' : `control_token: ${controlToken}\n`}`
  const cwd = folderWith({ 'ready.json': ready, 'sim.yaml': config })
  await (await server.chat()).press('handover')
  const trigger = ['trigger', 'AGENT TYPING STOP']
  return { server, cwd, trigger, resend: ['resend', server.deliveries[0]!.delivery_id] }
}

it('wait, trigger and resend find the simulator in the same ways', async () => {
  const { server, cwd, trigger, resend } = await serving()
  const ways: [string[], Env?][] = [
    [['--url', server.url]],
    [['--port', String(server.port)]],
    [['--port', String(server.port)], { HANDOVER_SIM_URL: 'http://127.0.0.1:1' }],
    [['--ready-file', 'ready.json']],
    [['--config', 'sim.yaml']],
    [[], { HANDOVER_SIM_URL: server.url }],
    [[], { HANDOVER_SIM_PORT: String(server.port) }],
  ]
  for (const command of [['wait'], trigger, resend])
    for (const [flags, env = {}] of ways) {
      const { code, err } = await runCommand([...command, ...flags], { env, cwd })
      expect([...command, ...flags, code, err]).toEqual([...command, ...flags, 0, ''])
    }
})

it('sends the token of the flag, the variable, the config file or the ready file, and says how when it is missing', async () => {
  const { server, cwd, trigger, resend } = await serving({ controlToken: TOKEN })
  const at = ['--url', server.url]
  const right: [string[], Env?][] = [
    [[...at, '--token', TOKEN]],
    [at, { HANDOVER_SIM_TOKEN: TOKEN }],
    [['--ready-file', 'ready.json']],
    [['--config', 'sim.yaml']],
  ]
  for (const command of [trigger, resend]) {
    for (const [flags, env = {}] of right)
      expect((await runCommand([...command, ...flags], { env, cwd })).code, flags.join(' ')).toBe(0)
    const { code, err } = await runCommand([...command, ...at, '--token', 'wrong'])
    expect([code, err]).toEqual([2, expect.stringMatching(/pass --token TOKEN or set HANDOVER_SIM_TOKEN/)])
  }
})

it('wait ends with 0 when the simulator is ready, also when its ready file comes later', async () => {
  const { server } = await serving()
  const cwd = folderWith()
  const waiting = runCommand(['wait', '--ready-file', 'later.json', '--timeout', '30s'], { cwd })
  writeFileSync(join(cwd, 'later.json'), JSON.stringify({ url: server.url }))
  expect(await waiting).toMatchObject({ code: 0, out: `Ready: ${server.url}\n`, err: '' })
})

it('exits with 3 and one line when nothing listens, or there is no ready file', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const refused = `No simulator answers at ${url}: nothing listens`
  const rows: [string, string][] = [
    [`wait --url ${url} --timeout 1ms`, `${url} is not ready after 1ms: `],
    ['wait --ready-file none.json --timeout 1ms', 'The ready file "none.json" is not ready after 1ms: it is not there'],
    [`trigger X --unknown --url ${url}`, refused],
    [`resend d --url ${url}`, refused],
    [`record a.yaml --url ${url}`, refused],
    ['resend d --ready-file none.json', 'No simulator runs: its ready file "none.json" is not there. Start one with'],
  ]
  for (const [line, message] of rows) {
    const { code, out, err } = await runCommand(line.split(' '))
    expect([line, code, out, err]).toEqual([line, 3, '', expect.stringContaining(message)])
  }
  const stopped = await runCommand(['stop', '--url', url])
  expect(stopped).toMatchObject({ code: 0, out: `No simulator runs: ${url}\n`, err: '' })
})

it('stop ends a started simulator with exit code 0, and only a started one', async () => {
  const { url, code } = await started(['--export', 'state.json', '--token', TOKEN])
  const guarded = await runCommand(['stop', '--url', url])
  expect([guarded.code, guarded.err]).toEqual([2, expect.stringContaining('token')])
  // The simulator runs in this process, which does not end with it.
  expect((await runCommand(['stop', '--url', url, '--token', TOKEN, '--timeout', '1ms'])).code).toBe(3)
  expect(await code).toBe(0)

  const { server } = await serving()
  const other = await runCommand(['stop', '--url', server.url])
  expect([other.code, other.err]).toEqual([3, expect.stringMatching(/^Only a simulator that `npx handover-sim start`/)])
  expect((await fetch(`${server.url}/_sim/readyz`)).status).toBe(200)
})

/** A server in place of a simulator, which answers every request so. */
async function serverInPlace(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('exits with 3 when another server answers, or none does in time', async () => {
  const other = await serverInPlace(response => response.writeHead(404).end('<h1>Not here</h1>'))
  const err = `No simulator answers at ${other}: something else does, with status 404.\n`
  for (const command of [['trigger', 'X', '--unknown'], ['stop'], ['wait']])
    expect(await runCommand([...command, '--url', other])).toMatchObject({ code: 3, err })
  const silent = await runCommand(['stop', '--url', await serverInPlace(() => {}), '--timeout', '20ms'])
  expect([silent.code, silent.err]).toEqual([3, expect.stringContaining('no answer within 20ms')])
})

const HOSTILE = 'x\u001b[31m\u009b2J\u202e\r\n::error::owned'

it('no answer of a server writes control characters or workflow commands to the terminal', async () => {
  const json = (status: number, body: object) => (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const recorded = {
    ...{ name: HOSTILE, yaml: 'version: 1\n', notes: [{ code: 'x', message: HOSTILE, seq: null }], file: null },
    tried: { outcome: 'fail', calls: 1, left_out: 0, noticed: 0, failures: [HOSTILE] },
  }
  const runs: [string[], (response: ServerResponse) => void][] = [
    [['resend', 'a'], json(200, { delivery_id: HOSTILE, ack: { status: null, duration_ms: 1, error: HOSTILE } })],
    [['resend', 'a'], json(409, { error: { code: 'x', message: HOSTILE } })],
    [['record', '-'], json(200, recorded)],
  ]
  for (const [command, answer] of runs) {
    const { out, err } = await runCommand([...command, '--url', await serverInPlace(answer)])
    expect([...command, out + err].join(' ')).toContain('owned')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
    expect(out + err).not.toMatch(/[\u001b\u009b\u202e\r]/)
    expect(out + err).not.toMatch(/^::/m)
  }
})

it('an answer that does not end is given up, without keeping it', async () => {
  const url = await serverInPlace(response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(1_048_576, ' ')
    const more = () => {
      if (!response.destroyed) response.write(chunk, more)
    }
    more()
  })
  const err = `No simulator answers at ${url}: the answer has more than 16777216 bytes.\n`
  expect(await runCommand(['resend', 'a', '--url', url])).toMatchObject({ code: 3, out: '', err })
})
