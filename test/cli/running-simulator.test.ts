/** The address flags that `wait`, `trigger`, `resend` and `stop` share, and the control token. */

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { startSimulator } from '../../src/index.ts'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { fakeIo } from './fake-io.ts'

async function result(argv: string[], env: Record<string, string> = {}, cwd = folderWith()) {
  const io = fakeIo(cwd)
  const code = await main(argv, env, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

async function serving(options: PlatformServerOptions = {}) {
  const server = await startSimulator({ port: 0, webhook: { fetch: () => new Response() }, ...options })
  onTestFinished(() => server.close())
  const ready = JSON.stringify({ url: server.url, ...(options.controlToken && { controlToken: options.controlToken }) })
  const cwd = folderWith({ 'ready.json': ready, 'sim.yaml': `port: ${server.port}\n` })
  const chat = await server.chat()
  await chat.press('handover')
  const commands = [
    ['wait', '--timeout', '1s'],
    ['trigger', 'AGENT TYPING STOP'],
    ['resend', server.deliveries[0]!.delivery_id],
  ]
  return { server, cwd, commands }
}

const TOKEN = 'a-token'

it('wait, trigger and resend find the simulator in the same ways', async () => {
  const { server, cwd, commands } = await serving()
  const ways: [string[], Record<string, string>?][] = [
    [['--url', server.url]],
    [['--port', String(server.port)]],
    [['--port', String(server.port)], { HANDOVER_SIM_URL: 'http://127.0.0.1:1' }],
    [['--ready-file', 'ready.json']],
    [['--config', 'sim.yaml']],
    [[], { HANDOVER_SIM_URL: server.url }],
    [[], { HANDOVER_SIM_PORT: String(server.port) }],
  ]
  for (const command of commands) {
    for (const [flags, env] of ways)
      expect(await result([...command, ...flags], env, cwd), [...command, ...flags].join(' ')).toMatchObject({
        code: 0,
        err: '',
      })
  }
})

it('sends the token of --token, HANDOVER_SIM_TOKEN, the config file or the ready file, and says how when it is missing', async () => {
  const { server, cwd, commands } = await serving({ controlToken: TOKEN })
  writeFileSync(join(cwd, 'sim.yaml'), `port: ${server.port}\ncontrol_token: ${TOKEN}\n`)
  const at = ['--url', server.url]
  for (const command of commands.slice(1)) {
    expect((await result([...command, ...at, '--token', TOKEN])).code).toBe(0)
    expect((await result([...command, ...at], { HANDOVER_SIM_TOKEN: TOKEN })).code).toBe(0)
    expect((await result([...command, '--ready-file', 'ready.json'], {}, cwd)).code).toBe(0)
    expect((await result([...command, '--config', 'sim.yaml'], {}, cwd)).code).toBe(0)
    const { code, err } = await result([...command, ...at, '--token', 'wrong'])
    expect(code).toBe(2)
    expect(err).toMatch(/pass --token TOKEN or set HANDOVER_SIM_TOKEN.* or pass --ready-file FILE\.\n$/)
  }
})

it.each([
  [['--url', 'http://127.0.0.1:1', '--port', '1'], /^--url and --port name the simulator more than once: give one/],
  [['--ready-file', 'none.json'], /^No simulator runs: its ready file "none\.json" is not there\. Start one with/],
  [['--ready-file', 'bad.json'], /^--ready-file: "bad\.json" has no ready line of a simulator\.\n$/],
])('trigger %s: an error that names the flags', async (flags, expected) => {
  const { code, err } = await result(['trigger', 'AGENT TYPING STOP', ...flags], {}, folderWith({ 'bad.json': '{}' }))
  expect(err).toMatch(expected)
  expect(code).toBe(flags.includes('none.json') ? 3 : 2)
})

it('wait --ready-file waits until the file is there', async () => {
  const { server } = await serving()
  const cwd = folderWith()
  const waiting = result(['wait', '--ready-file', 'later.json', '--timeout', '30s'], {}, cwd)
  writeFileSync(join(cwd, 'later.json'), JSON.stringify({ url: server.url }))
  expect(await waiting).toEqual({ code: 0, out: `Ready: ${server.url}\n`, err: '' })
  expect(await result(['wait', '--ready-file', 'none.json', '--timeout', '1ms'])).toEqual({
    code: 3,
    out: '',
    err: 'The ready file "none.json" is not ready after 1ms: it is not there.\n',
  })
})

it('start --token sets the token, also from the environment and the config file; a token with spaces is refused', async () => {
  const files = { 'handover-sim.config.yaml': 'control_token: from-file\n' }
  const config = async (argv: string[], env = {}) =>
    (await result(['config', '--json', ...argv], env, folderWith(files))).out
  expect(JSON.parse(await config(['--show-keys'])).settings.control_token).toEqual({
    value: 'from-file',
    from: 'handover-sim.config.yaml:1',
  })
  expect(await config([], { HANDOVER_SIM_TOKEN: 'from-env' })).not.toContain('from-env')
  expect(await result(['start', '--port', '0', '--token', 'two words'])).toMatchObject({
    code: 2,
    err: '--token: must be a text of visible ASCII characters without spaces, got a text of 9 characters, of which character 4 is U+0020.\n',
  })
  const io = fakeIo(folderWith())
  const code = main(['start', '--port', '0', '--token', TOKEN, '--ready-file', 'ready.json'], {}, io)
  const url = (await io.stdout.until(/\n/)).slice('Ready: '.length, -1)
  expect((await fetch(`${url}/_sim/state`)).status).toBe(401)
  const headers = { authorization: `Bearer ${TOKEN}` }
  expect((await fetch(`${url}/_sim/state`, { headers })).status).toBe(200)
  io.signal('SIGTERM')
  expect(await code).toBe(143)
})

it('stop ends a started simulator with exit code 0, and only a started one', async () => {
  const io = fakeIo(folderWith())
  const started = main(['start', '--port', '0', '--export', 'state.json', '--token', TOKEN], {}, io)
  const url = (await io.stdout.until(/\n/)).slice('Ready: '.length, -1)
  expect(await result(['stop', '--url', url])).toMatchObject({ code: 2, out: '', err: /control token/ })
  // The simulator runs in this process, which does not end with it.
  const flags = ['--url', url, '--token', TOKEN, '--timeout', '1ms']
  expect((await result(['stop', ...flags])).code).toBe(3)
  expect(await started).toBe(0)
  expect(await result(['stop', '--url', url])).toEqual({ code: 0, out: `No simulator runs: ${url}\n`, err: '' })

  const { server } = await serving()
  const { code, err } = await result(['stop', '--url', server.url])
  expect(code).toBe(3)
  expect(err).toMatch(/^Only a simulator that `npx handover-sim start` started stops on request/)
  expect((await fetch(`${server.url}/_sim/readyz`)).status).toBe(200)
})

it('stop says when another program has the port, or the simulator does not answer', async () => {
  const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise(resolve => other.once('listening', resolve))
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  expect(await result(['stop', '--url', url])).toMatchObject({
    code: 3,
    err: `No simulator answers at ${url}: something else does, with status 200.\n`,
  })
  const mute = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(() => mute.closeAllConnections())
  onTestFinished(() => void mute.close())
  await new Promise(resolve => mute.once('listening', resolve))
  const at = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`
  const { code, err } = await result(['stop', '--url', at, '--timeout', '20ms'])
  expect(code).toBe(3)
  expect(err).toContain('no answer within 20ms')
})

it('trigger and stop without a simulator', async () => {
  const port = String(await freePort())
  expect(await result(['stop', '--port', port])).toEqual({
    code: 0,
    out: `No simulator runs: http://127.0.0.1:${port}\n`,
    err: '',
  })
  expect((await result(['trigger', 'AGENT TYPING STOP', '--port', port])).code).toBe(3)
})

/** A server in place of a simulator, which answers every request so. */
async function inPlaceOfSimulator(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const HOSTILE = 'x\u001b[31m\u009b2J\u202e\r\n::error::owned'

it('no answer of a server writes control characters or workflow commands to the terminal', async () => {
  const json = (status: number, body: object) => (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const failures = [HOSTILE]
  const recorded = {
    name: HOSTILE,
    yaml: 'version: 1\n',
    notes: [{ code: 'x', message: HOSTILE, seq: null }],
    tried: { outcome: 'fail', calls: 1, left_out: 0, noticed: 0, failures },
    file: null,
  }
  const runs: [string[], (response: ServerResponse) => void][] = [
    [['resend', 'a'], json(200, { delivery_id: HOSTILE, ack: { status: null, duration_ms: 1, error: HOSTILE } })],
    [['resend', 'a'], json(404, { error: { code: 'x', message: HOSTILE } })],
    [['resend', 'a'], json(409, { error: { code: 'x', message: HOSTILE } })],
    [['record', '-'], json(200, recorded)],
  ]
  for (const [command, answer] of runs) {
    const { out, err } = await result([...command, '--url', await inPlaceOfSimulator(answer)])
    expect([...command, out + err].join(' ')).toContain('owned')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
    expect(out + err).not.toMatch(/[\u001b\u009b\u202e\r]/)
    expect(out + err).not.toMatch(/^::/m)
  }
})

it('an answer that does not end is given up, without keeping it', async () => {
  const url = await inPlaceOfSimulator(response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(1_048_576, ' ')
    const more = () => {
      if (!response.destroyed) response.write(chunk, more)
    }
    more()
  })
  const { code, out, err } = await result(['resend', 'a', '--url', url])
  expect({ code, out }).toEqual({ code: 3, out: '' })
  expect(err).toBe(`No simulator answers at ${url}: the answer has more than 16777216 bytes.\n`)
})

it('an answer that does not come is given up after two minutes', async () => {
  const url = await inPlaceOfSimulator(() => {})
  // The limit of the command, a thousand times as fast.
  const { timeout } = AbortSignal
  const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation(ms => timeout.call(AbortSignal, ms / 1_000))
  onTestFinished(() => limit.mockRestore())
  const { code, out, err } = await result(['resend', 'a', '--url', url])
  expect({ code, out, err }).toEqual({ code: 3, out: '', err: `${url} did not answer within 2m.\n` })
  expect(limit).toHaveBeenCalledWith(120_000)
})
