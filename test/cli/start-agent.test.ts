/** `start` with an agent driver: the control API says what the agent can do, and calls the help desk. */
import { describe, expect, it } from 'vitest'
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

async function startWith(flags: string[], files: Record<string, string>) {
  const io = fakeIo(folderWith(files))
  const { url, ...rest } = await started([...flags, '--output', 'compact'], { DESK_TOKEN: TOKEN }, io)
  const ask = createControlClient({ url })
  return { ...rest, url, ask, chat: async () => String((await ask('POST', '/chats', { body: {} })).body.chat_id) }
}

const startWithDriver = (desk: string) => startWith(['--agent-driver', 'd.yaml'], { 'd.yaml': DRIVER(desk) })

const inboxDesk = () =>
  openDesk(({ url }, response) => {
    if (url.endsWith('/inbox')) response.end('[{"request":true},{"text":"Hi"}]')
    else if (url.endsWith('/accept')) response.writeHead(409).end('{"error":"taken"}')
    else response.end('{}')
  })

describe('start --agent-driver', () => {
  it('shows what the driver can do, calls the help desk, and journals the calls without secrets', async () => {
    const desk = await inboxDesk()
    const { ask, chat } = await startWithDriver(desk.url)
    const verbs = ['accept', 'says', 'away', 'inbox', 'does.transfer']
    const expected = { plays: 'driver', name: 'd.yaml', verbs, problem: null, webhook_url: null }
    expect((await ask('GET', '/agent')).body).toEqual(expected)
    const id = await chat()
    const act = async (verb: string, more: object = { chat_id: id }) =>
      (await ask('POST', '/agent', { body: { verb, ...more } })).body
    const said = await act('says', { chat_id: id, text: 'Hello' })
    expect(said).toMatchObject({ verb: 'says', outcome: 'ok', status: 200 })
    await act('away', {})
    await act('does.transfer', { chat_id: id, with: { team: 'billing' } })
    const error = 'answered 409: {"error":"taken"}'
    expect(await act('accept')).toMatchObject({ outcome: 'failed', status: 409, error })
    const inbox = await ask('GET', `/agent/inbox?chat_id=${id}`)
    expect(inbox.body).toMatchObject({ outcome: 'ok', items: [{ request: true }, { text: 'Hi' }] })
    expect(desk.asked.map(({ url, body }) => [url.replace(id, 'ID'), body])).toEqual([
      ['/desk/ID/messages', '{"text":"Hello"}'],
      ['/desk/away', ''],
      ['/desk/ID/transfer', '{"team":"billing"}'],
      ['/desk/ID/accept', ''],
      ['/desk/ID/inbox', ''],
    ])
    expect(desk.asked[0]!.headers.authorization).toBe(`Bearer ${TOKEN}`)
    // Reading the inbox leaves no entry.
    const { entries } = (await ask('GET', '/journal?kind=driver')).body
    expect(entries.map((entry: { verb: string }) => entry.verb)).toEqual(['says', 'away', 'does.transfer', 'accept'])
    expect(entries[0]).toMatchObject({ seq: said.seq, chat_id: id, text: 'Hello', outcome: 'ok' })
    expect(JSON.stringify(entries)).not.toContain(TOKEN)
  })

  it('a call that ends after a reset is a 409, and the new journal has no entry of it', async () => {
    const desk = await openDesk(async (_, response) => {
      await ask('POST', '/reset')
      response.end('{}')
    })
    const { ask } = await startWithDriver(desk.url)
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
    expect(await stop()).toBe(130)
    await asking
  })

  it('refuses verbs and chats that do not exist, and names what does', async () => {
    const { ask, chat } = await startWithDriver('http://127.0.0.1:9')
    const id = await chat()
    const unknown = await ask('POST', '/agent', { body: { verb: 'leave', chat_id: id } })
    expect([unknown.status, unknown.body.error.issues[0].allowed]).toEqual([
      422,
      expect.arrayContaining(['does.transfer']),
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
    const server = await openDesk((_, response) => {
      response.writeHead(isUp ? 200 : 503).end('version: 1\naccept: { POST: /accept }\n')
    })
    const config = `agent_driver: ${server.url}/driver.yaml\n`
    const { ask } = await startWith([], { 'handover-sim.config.yaml': config })
    const refused = (await ask('GET', '/agent')).body
    expect(refused).toMatchObject({ plays: 'driver', verbs: [], problem: expect.stringContaining('503') })
    isUp = true
    expect((await ask('GET', '/agent')).body).toMatchObject({ verbs: ['accept'], problem: null })
  })
})

it('without a help desk the page plays', async () => {
  const { ask, chat } = await startWith(['--webhook-url', 'http://me:secret@127.0.0.1:9/hook'], {})
  const expected = { plays: 'page', name: null, verbs: [], webhook_url: 'http://***@127.0.0.1:9/hook' }
  expect((await ask('GET', '/agent')).body).toMatchObject(expected)
  const body = { verb: 'accept', chat_id: await chat() }
  expect((await ask('POST', '/agent', { body })).body.error.code).toBe('no_agent_driver')
})

it('start --open opens nothing where CI is set, and shows no token', async () => {
  const { io } = await started(['--open'], { CI: 'true' })
  expect(io.stderr.text).toMatch(/^--open: no page is opened where CI is set\./)
  const { io: guarded } = await started(['--open', '--output', 'quiet', '--host', '0.0.0.0'], { CI: 'true' })
  expect(guarded.stderr.text).toContain('Open the page yourself: http')
  expect(guarded.stderr.text).not.toContain('token')
})
