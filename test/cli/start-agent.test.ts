/** `start` with a help desk: an agent driver, or the demo. Each test asks the control API who plays, and plays. */
import { execFile } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDesk } from '../agent-driver/desk.ts'
import { folderWith } from '../config/folder.ts'
import { createControlClient } from '../support/control-client.ts'
import { fakeIo, started } from './fake-io.ts'

const DRIVER = (desk: string) => `version: 1
http: ${desk}
headers: { authorization: "Bearer $(env.DESK_TOKEN)" }
accept: { POST: "/desk/$(chat.id)/accept" }
says: { POST: "/desk/$(chat.id)/messages", json: { text: $(text) } }
away: { POST: /desk/away }
inbox: { GET: "/desk/$(chat.id)/inbox" }
does: { transfer: { POST: "/desk/$(chat.id)/transfer", json: { team: $(team) } } }
target: { start: [no-such-program], ready: "http://127.0.0.1:1/" }
`

const TOKEN = 'desk-token-4711'

async function startWith(flags: string[], files: Record<string, string>, env: Record<string, string> = {}) {
  const io = fakeIo(folderWith(files))
  const { url, ...rest } = await started([...flags, '--output', 'compact'], { DESK_TOKEN: TOKEN, ...env }, io)
  const ask = createControlClient({ url })
  return { ...rest, url, ask, chat: async () => String((await ask('POST', '/chats', { body: {} })).body.chat_id) }
}

const inboxDesk = () =>
  openDesk(({ url }, response) => {
    if (url.endsWith('/inbox')) response.end('[{"request":true},{"text":"Hi"}]')
    else if (url.endsWith('/accept')) response.writeHead(409).end('{"error":"taken"}')
    else response.end('{}')
  })

describe('start --agent-driver', () => {
  it('shows what the driver can do; the target stays out', async () => {
    const { ask, stop } = await startWith(['--agent-driver', 'd.yaml'], { 'd.yaml': DRIVER('http://127.0.0.1:9') })
    expect((await ask('GET', '/agent')).body).toEqual({
      plays: 'driver',
      name: 'd.yaml',
      verbs: ['accept', 'says', 'away', 'inbox', 'does.transfer'],
      problem: null,
      webhook_url: null,
    })
    expect(await stop()).toBe(130)
  })

  it('calls the help desk, and the journal has the calls without secrets', async () => {
    const desk = await inboxDesk()
    const { ask, chat } = await startWith(['--agent-driver', 'd.yaml'], { 'd.yaml': DRIVER(desk.url) })
    const id = await chat()
    const said = (await ask('POST', '/agent', { body: { verb: 'says', chat_id: id, text: 'Hello' } })).body
    expect(said).toMatchObject({ verb: 'says', outcome: 'ok', status: 200 })
    await ask('POST', '/agent', { body: { verb: 'away' } })
    await ask('POST', '/agent', { body: { verb: 'does.transfer', chat_id: id, with: { team: 'billing' } } })
    const refused = (await ask('POST', '/agent', { body: { verb: 'accept', chat_id: id } })).body
    expect(refused).toMatchObject({ outcome: 'failed', status: 409, error: 'answered 409: {"error":"taken"}' })
    expect(desk.asked.map(({ method, url, body }) => [method, url.replace(id, 'ID'), body])).toEqual([
      ['POST', '/desk/ID/messages', '{"text":"Hello"}'],
      ['POST', '/desk/away', ''],
      ['POST', '/desk/ID/transfer', '{"team":"billing"}'],
      ['POST', '/desk/ID/accept', ''],
    ])
    expect(desk.asked[0]!.headers.authorization).toBe(`Bearer ${TOKEN}`)
    const { entries } = (await ask('GET', '/journal?kind=driver')).body
    expect(entries).toMatchObject([
      { seq: said.seq, verb: 'says', chat_id: id, text: 'Hello', outcome: 'ok' },
      { verb: 'away', outcome: 'ok' },
      { verb: 'does.transfer', chat_id: id },
      { verb: 'accept', outcome: 'failed' },
    ])
    expect(JSON.stringify(entries)).not.toContain(TOKEN)
  })

  it('reads the inbox without an entry in the journal', async () => {
    const desk = await inboxDesk()
    const { ask, chat } = await startWith(['--agent-driver', 'd.yaml'], { 'd.yaml': DRIVER(desk.url) })
    const { body } = await ask('GET', `/agent/inbox?chat_id=${await chat()}`)
    expect(body).toMatchObject({ outcome: 'ok', items: [{ request: true }, { text: 'Hi' }] })
    expect((await ask('GET', '/journal?kind=driver')).body.entries).toEqual([])
  })

  it('a call that ends after a reset is a 409, and the new journal has no entry of it', async () => {
    const desk = await openDesk(async (_, response) => {
      await ask('POST', '/reset')
      response.end('{}')
    })
    const { ask } = await startWith(['--agent-driver', 'd.yaml'], { 'd.yaml': DRIVER(desk.url) })
    const { status, body } = await ask('POST', '/agent', { body: { verb: 'away' } })
    expect([status, body.error.code]).toEqual([409, 'reset'])
    expect((await ask('GET', '/journal?kind=driver')).body.entries).toEqual([])
  })

  it('Ctrl-C while a driver is read ends the request and keeps the exit code', async () => {
    const { promise: wasAsked, resolve: onAsked } = Promise.withResolvers<void>()
    const silent = await openDesk(() => onAsked())
    const { ask, stop } = await startWith([], { 'handover-sim.config.yaml': `agent_driver: ${silent.url}/d.yaml\n` })
    const asking = ask('GET', '/agent').catch(() => null)
    await wasAsked
    const begun = performance.now()
    expect(await stop()).toBe(130)
    expect(performance.now() - begun).toBeLessThan(3_000)
    await asking
  })

  it('refuses verbs and chats that do not exist, and names what does', async () => {
    const { ask, chat } = await startWith(['--agent-driver', 'd.yaml'], { 'd.yaml': DRIVER('http://127.0.0.1:9') })
    const id = await chat()
    const unknown = await ask('POST', '/agent', { body: { verb: 'leave', chat_id: id } })
    expect([unknown.status, unknown.body.error.issues[0].allowed]).toEqual([
      422,
      ['accept', 'says', 'away', 'inbox', 'does.transfer'],
    ])
    expect((await ask('POST', '/agent', { body: { verb: 'accept' } })).body.error.issues[0].field).toBe('chat_id')
    expect((await ask('POST', '/agent', { body: { verb: 'accept', chat_id: 'nobody' } })).status).toBe(404)
    const body = { verb: 'says', chat_id: id, text: 'x' }
    expect((await ask('POST', '/agent', { body })).body).toMatchObject({ outcome: 'unreachable' })
    await ask('POST', '/workspaces', { body: { name: 'other' } })
    expect((await ask('GET', '/workspaces/other/agent')).body).toMatchObject({ plays: 'page', verbs: [] })
    expect((await ask('POST', '/workspaces/other/agent', { body: { verb: 'away' } })).status).toBe(409)
  })

  it('reads a driver at an address when it is needed, and again after a failure', async () => {
    let isUp = false
    const server = createServer((_, response) => {
      response.writeHead(isUp ? 200 : 503).end('version: 1\naccept: { POST: /accept }\n')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const config = `agent_driver: http://127.0.0.1:${port}/driver.yaml\n`
    const { ask } = await startWith([], { 'handover-sim.config.yaml': config })
    const refused = (await ask('GET', '/agent')).body
    expect(refused).toMatchObject({ plays: 'driver', verbs: [], problem: expect.stringContaining('503') })
    isUp = true
    expect((await ask('GET', '/agent')).body).toMatchObject({ verbs: ['accept'], problem: null })
  })
})

it('without a help desk the page plays', async () => {
  const { ask, chat } = await startWith(['--webhook-url', 'http://me:secret@127.0.0.1:9/hook'], {})
  expect((await ask('GET', '/agent')).body).toEqual({
    plays: 'page',
    name: null,
    verbs: [],
    problem: null,
    webhook_url: 'http://***@127.0.0.1:9/hook',
  })
  const body = { verb: 'accept', chat_id: await chat() }
  expect((await ask('POST', '/agent', { body })).body.error.code).toBe('no_agent_driver')
})

it('start --demo plays in the desk of the reference intermediary', async () => {
  const { ask, chat } = await startWith(['--demo'], {})
  expect((await ask('GET', '/agent')).body).toMatchObject({
    plays: 'demo',
    verbs: expect.arrayContaining(['accept', 'says', 'type', 'stop', 'leave', 'away', 'back', 'inbox']),
    webhook_url: expect.stringMatching(/\/webhook$/),
  })
  const id = await chat()
  await ask('POST', `/chats/${id}/press?wait=ack`, { body: { button: 'handover' } })
  expect((await ask('GET', `/agent/inbox?chat_id=${id}`)).body.items).toMatchObject([{ request: true }])
  await ask('POST', '/agent', { body: { verb: 'accept', chat_id: id } })
  await ask('GET', `/wait?call=start&chat_id=${id}`)
  await ask('POST', '/agent', { body: { verb: 'says', chat_id: id, text: 'Hello' } })
  const sent = (await ask('GET', `/wait?call=message&chat_id=${id}`)).body
  expect(sent).toMatchObject({ endpoint: 'message', status: 200, request: { body: { message: 'Hello' } } })
})

describe.skipIf(process.platform === 'win32')('start --open', () => {
  const BIN = fileURLToPath(new URL('../../bin/handover-sim.js', import.meta.url))
  const command = (argv: string[], env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [BIN, ...argv], { cwd: folderWith(), env, timeout: 60_000 })
  /** A folder with an `xdg-open` and an `open` that run this script. */
  const withOpener = (script: string) => {
    const opener = `#!/bin/sh\n${script}\n`
    const folder = folderWith({ 'xdg-open': opener, open: opener })
    for (const name of ['xdg-open', 'open']) chmodSync(join(folder, name), 0o755)
    return folder
  }

  it('passes the address to the opener as one argument', async () => {
    const folder = withOpener('printf "%s\\n" "$#" "$1" > "$0.args"')
    const { url } = await started(['--open'], { PATH: `${folder}:${process.env.PATH}` })
    const name = process.platform === 'darwin' ? 'open' : 'xdg-open'
    const args = () => readFile(join(folder, `${name}.args`), 'utf8').catch(() => '')
    await expect.poll(args, { timeout: 20_000 }).toBe(`1\n${url}/\n`)
  })

  it('opens the page of a simulator in the background', async () => {
    const folder = withOpener('printf "%s" "$1" > "$0.args"')
    const env = { PATH: `${folder}:${process.env.PATH}` }
    const { stdout } = await command(['start', '--detach', '--open', '--port', '0'], env)
    const [url = ''] = /http:\/\/\S+/.exec(stdout) ?? []
    onTestFinished(async () => void (await command(['stop', '--url', url], env)))
    const name = process.platform === 'darwin' ? 'open' : 'xdg-open'
    const argument = () => readFile(join(folder, `${name}.args`), 'utf8').catch(() => '')
    await expect.poll(argument, { timeout: 20_000 }).toBe(`${url}/`)
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
  })

  it('keeps the token out of the arguments, in a file for the user alone that is removed at the end', async () => {
    const folder = withOpener('printf "%s" "$1" > "$0.args"')
    const secrets = { HANDOVER_SIM_TOKEN: 'page-token-4711' }
    const { stop } = await started(['--open'], { ...secrets, PATH: `${folder}:${process.env.PATH}` })
    const name = process.platform === 'darwin' ? 'open' : 'xdg-open'
    const argument = () => readFile(join(folder, `${name}.args`), 'utf8').catch(() => '')
    await expect.poll(argument, { timeout: 20_000 }).toMatch(/page\.html$/)
    const path = await argument()
    expect(await readFile(path, 'utf8')).toMatch(/url=http:\/\/127\.0\.0\.1:\d+\/#token=page-token-4711"/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await stop()
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })

  it('says in one line that there is no opener, and serves', async () => {
    const { io, url } = await started(['--open'], { PATH: folderWith() })
    expect(io.stderr.text).toMatch(
      new RegExp(`^--open: (xdg-)?open is not installed\\. Open the page yourself: ${url}/\\n`),
    )
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
  })

  it('says that the opener failed', async () => {
    const { io } = await started(['--open'], { PATH: `${withOpener('exit 3')}:${process.env.PATH}` })
    await io.stderr.until(/--open: (xdg-)?open ended with exit code 3\. Open the page yourself: http/)
  })

  it('opens nothing where CI is set', async () => {
    const folder = withOpener('touch "$0.ran"')
    const { io } = await started(['--open'], { PATH: folder, CI: 'true' })
    expect(io.stderr.text).toMatch(/^--open: no page is opened where CI is set\./)
    const { io: guarded } = await started(['--open', '--output', 'quiet', '--host', '0.0.0.0'], { CI: 'true' })
    expect(guarded.stderr.text).toContain('Open the page yourself: http')
    expect(guarded.stderr.text).not.toContain('token')
  })
})
