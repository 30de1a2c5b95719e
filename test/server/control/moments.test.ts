import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import type { PlatformServer } from '../../../src/server/start.ts'
import { type ControlClient, createControlClient } from '../../support/control-client.ts'

type Act = (sim: Simulation, at: string) => Promise<unknown>

interface Simulation {
  readonly server: PlatformServer
  readonly control: ControlClient
  /** Calls an endpoint of the platform. */
  readonly call: (path: string, body: object) => Promise<Response>
}

function simulate(server: PlatformServer): Simulation {
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' }
  const call = (path: string, body: object) =>
    fetch(`${server.baseUrl}/api/v2/handover/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ bot_id: 1042, ...body }),
    })
  return { server, control: createControlClient(server), call }
}

const SENDER = { name: 'Kari', avatar: 'https://desk.example.test/kari.png', language_codes: ['en'] }

const ofChat =
  (path: string, body: object = {}): Act =>
  ({ call }, chat_id) =>
    call(path, { chat_id, ...body })

const ACTS: Record<string, Act> = {
  'a message of the user': ({ control }, id) => control('POST', `/chats/${id}/messages`, { body: { text: 'Hi' } }),
  'a file of the user': ({ control }, id) =>
    control('POST', `/chats/${id}/messages`, { body: { attachments: [{ name: 'a b', type: 'a/b', size_kb: 1 }] } }),
  'a handover request': ({ control }, id) => control('POST', `/chats/${id}/press`, { body: { button: 'handover' } }),
  'a takeover': ofChat('start', { sender: SENDER }),
  'a message of the agent': ofChat('message', { message: 'Hello', sender: { name: 'Ola' } }),
  typing: ofChat('typing/start'),
  'no typing': ofChat('typing/stop'),
  'an end': ofChat('end'),
  'a refused call': ofChat('message'),
  'ten minutes': ({ control }) => control('POST', '/clock/advance', { body: { by: '10m' } }),
  'the end of the chat': ({ control }) => control('POST', '/clock/advance', { body: { by: '12h' } }),
  'a setting': ({ control }) => control('PATCH', '/config', { body: { 'bot.delay': '1s' } }),
  'business hours': ({ control }) =>
    control('PATCH', '/config', { body: { business_hours: { time_zone: 'UTC', 'mon-sun': '09:00-17:00' } } }),
  'no business hours': ({ control }) => control('PATCH', '/config', { body: { business_hours: null } }),
  closed: ({ control }) => control('PUT', '/availability', { body: { availability: 'CLOSED', reason: 'OTHER' } }),
  open: ({ control }) => control('PUT', '/availability', { body: { availability: 'OPEN' } }),
  'a fault': ({ control }) =>
    control('POST', '/faults', { body: { on: { api: 'message' }, respond: { status: 503 }, times: 2 } }),
  'no faults': ({ control }) => control('DELETE', '/faults'),
}

const WHOLE = ['/state', '/faults']

/** What the control API answers, without what only the present has. */
async function answersAt({ control }: Simulation, ids: readonly string[], query = ''): Promise<unknown> {
  const bodies: Record<string, unknown> = {}
  for (const path of [...WHOLE, ...ids.map(id => `/chats/${id}`)]) {
    const { status, body } = await control('GET', path + query)
    if (path === '/state') {
      body.clock.next_due = null
      body.journal = null
    }
    bodies[path] = status === 200 ? body : status
  }
  return bodies
}

describe('?at=SEQ', () => {
  it('answers what was answered at that moment', async () => {
    const act = fc.tuple(fc.constantFrom(...Object.keys(ACTS)), fc.nat(1))
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 15 }), async acts => {
        await using server = await startSimulator({
          port: 0,
          clock: { mode: 'virtual', start: '2024-01-01T08:00:00Z' },
        })
        const simulation = simulate(server)
        const ids: string[] = ['one', 'two']
        const answers = new Map<number, unknown>()
        const look = async () => {
          const { body } = await simulation.control('GET', '/journal')
          answers.set(body.next_seq - 1, await answersAt(simulation, ids))
        }
        await look()
        for (const id of ids) {
          await simulation.control('POST', '/chats', { body: { id, history: [{ user: 'Before' }] } })
          await look()
        }
        for (const [name, chat] of acts) {
          await ACTS[name]!(simulation, ids[chat]!)
          await simulation.control('POST', '/settle')
          await look()
        }
        for (const [seq, answer] of answers) {
          expect(await answersAt(simulation, ids, `?at=${seq}`), `after entry ${seq} of ${acts}`).toEqual(answer)
        }
      }),
      { numRuns: 5 },
    )
  }, 240_000)

  it('has the messages of an act from its first entry on', async () => {
    await using server = await startSimulator({ port: 0 })
    const chat = await server.chat()
    await chat.press('handover')
    const control = createControlClient(server)
    const [pressed] = server.journal.query({ kind: 'user' })
    const { body } = await control('GET', `/chats/${chat.id}?at=${pressed!.seq}`)
    expect(body).toMatchObject({ status: 'pending', agent: null, messages: [{ from: 'bot' }] })
  })

  it('names the agent who has the chat', async () => {
    await using server = await startSimulator({ port: 0 })
    const simulation = simulate(server)
    const chat = await server.chat()
    await simulation.call('start', { chat_id: chat.id, sender: SENDER })
    const taken = server.journal.nextSeq - 1
    await simulation.call('end', { chat_id: chat.id })
    const { body: then } = await simulation.control('GET', `/chats/${chat.id}?at=${taken}`)
    const { body: now } = await simulation.control('GET', `/chats/${chat.id}`)
    expect(then.agent).toEqual({ name: SENDER.name, avatar: SENDER.avatar })
    expect(now.agent).toBeNull()
  })

  it('answers for a chat that was created later with 404', async () => {
    await using server = await startSimulator({ port: 0 })
    const chat = await server.chat()
    const { status, body } = await createControlClient(server)('GET', `/chats/${chat.id}?at=0`)
    expect(status).toBe(404)
    expect(body.error).toMatchObject({ code: 'chat_not_found', message: expect.stringContaining('after entry 0') })
  })

  it('is refused for a moment whose entry the journal has dropped, with the first one that is known', async () => {
    await using server = await startSimulator({ port: 0, journalLimit: 5 })
    const chat = await server.chat()
    for (const text of 'abcdefgh') await chat.says(text)
    const control = createControlClient(server)
    const first = server.journal.firstSeq - 1
    const { status, body } = await control('GET', `/chats/${chat.id}?at=${first - 1}`)
    expect(status).toBe(410)
    expect(body.error).toMatchObject({ code: 'moment_dropped', message: expect.stringContaining(`at=${first}.`) })
    for (const path of [`/chats/${chat.id}`, '/state', '/faults'])
      expect((await control('GET', `${path}?at=${first}`)).status, path).toBe(200)
    for (const path of WHOLE) expect((await control('GET', `${path}?at=${first - 1}`)).status, path).toBe(410)
  })

  it('is refused for a moment before a restored snapshot', async () => {
    await using server = await startSimulator({ port: 0 })
    const chat = await server.chat()
    await chat.says('Hi')
    const seq = server.journal.nextSeq - 1
    await server.restore(await server.snapshot())
    await chat.says('Again')
    const control = createControlClient(server)
    expect((await control('GET', `/chats/${chat.id}?at=${seq}`)).body.messages).toHaveLength(2)
    expect((await control('GET', `/chats/${chat.id}?at=${seq - 1}`)).status).toBe(410)
  })

  it('works below a workspace', async () => {
    await using server = await startSimulator({ port: 0 })
    const workspace = await server.workspace({ name: 'one' })
    const chat = await workspace.chat()
    const created = workspace.journal.nextSeq - 1
    await chat.says('Hi')
    const control = createControlClient(server)
    const { body } = await control('GET', `/workspaces/one/chats/${chat.id}?at=${created}`)
    expect(body.messages).toEqual([])
  })
})
