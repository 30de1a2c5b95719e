/** What the control API answers for an earlier moment: `?at=SEQ`. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../../support/test-server.ts'

type Act = (started: TestServer, chatId: string) => Promise<unknown>

const SENDER = { name: 'Kari', avatar: 'https://desk.example.test/kari.png', language_codes: ['en'] }
const calls =
  (endpoint: string, body: object = {}): Act =>
  ({ call }, chat_id) =>
    call(endpoint, { chat_id, ...body })
const controls =
  (route: string, body?: object): Act =>
  ({ control }, id) => {
    const [method = '', path = ''] = route.replace(':id', id).split(' ')
    return control(method, path, { body })
  }

const HOURS = { time_zone: 'UTC', 'mon-sun': ['09:00-12:00', '13:00-17:00'], '2024-01-02': 'closed' }
const ACTS: readonly Act[] = [
  controls('POST /chats/:id/messages', { text: 'Hi' }),
  controls('POST /chats/:id/messages', { attachments: [{ name: 'a b', type: 'a/b', size_kb: 1 }] }),
  controls('POST /chats/:id/press', { button: 'handover' }),
  calls('start', { sender: SENDER }),
  calls('message', { message: 'Hello', sender: { name: 'Ola' } }),
  calls('typing/start'),
  calls('typing/stop'),
  calls('end'),
  calls('message'),
  controls('POST /clock/advance', { by: '10m' }),
  controls('POST /clock/advance', { by: '12h' }),
  controls('PATCH /config', { 'bot.delay': '1s' }),
  controls('PATCH /config', { business_hours: HOURS }),
  controls('PATCH /config', { business_hours: null }),
  controls('PUT /availability', { availability: 'CLOSED', reason: 'OTHER' }),
  controls('PUT /availability', { availability: 'OPEN' }),
  controls('POST /faults', { on: { api: 'message' }, respond: { status: 503 }, times: 2 }),
  controls('DELETE /faults'),
]

const WHOLE = ['/state', '/faults']

/** What the control API answers, without what only the present has. */
async function answersAt({ control }: TestServer, ids: readonly string[], query = ''): Promise<unknown> {
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

test('answers what was answered at that moment', async () => {
  const act = fc.tuple(fc.nat(ACTS.length - 1), fc.nat(1))
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 15 }), async acts => {
      const started = await startTestServer({ clock: { mode: 'virtual', start: '2024-01-01T08:00:00Z' } })
      const { control } = started
      const ids = ['one', 'two']
      const answers = new Map<number, unknown>()
      const read = async () => {
        const { body } = await control('GET', '/journal')
        answers.set(body.next_seq - 1, await answersAt(started, ids))
      }
      await read()
      for (const id of ids) {
        await control('POST', '/chats', { body: { id, history: [{ user: 'Before' }] } })
        await read()
      }
      for (const [which, chat] of acts) {
        await ACTS[which]!(started, ids[chat]!)
        await control('POST', '/settle')
        await read()
      }
      for (const [seq, answer] of answers)
        expect(await answersAt(started, ids, `?at=${seq}`), `after entry ${seq} of ${acts}`).toEqual(answer)
    }),
    { numRuns: 5 },
  )
})

test('has the messages of an act from its first entry on, and the agent who has the chat; also in a workspace', async () => {
  const { server, control, call } = await startTestServer()
  const chat = await server.chat()
  await chat.press('handover')
  const at = async (seq: number) => (await control('GET', `/chats/${chat.id}?at=${seq}`)).body
  const [pressed] = server.journal.query({ kind: 'user' })
  expect(await at(pressed!.seq)).toMatchObject({ status: 'pending', agent: null, messages: [{ from: 'bot' }] })
  await call('start', { chat_id: chat.id, sender: SENDER })
  const taken = server.journal.nextSeq - 1
  await call('end', { chat_id: chat.id })
  expect((await at(taken)).agent).toEqual({ name: SENDER.name, avatar: SENDER.avatar })
  expect((await control('GET', `/chats/${chat.id}`)).body.agent).toBeNull()

  const workspace = await server.workspace({ name: 'one' })
  const other = await workspace.chat()
  const created = workspace.journal.nextSeq - 1
  await other.says('Hi')
  const { body } = await control('GET', `/workspaces/one/chats/${other.id}?at=${created}`)
  expect(body.messages).toEqual([])
})

test('is refused for a moment that the journal has dropped, or before a restored snapshot', async () => {
  const { server, control } = await startTestServer({ journalLimit: 5 })
  const chat = await server.chat()
  const says = async (texts: string) => {
    for (const text of texts) await chat.says(text)
  }
  const expectFirst = async (first: number) => {
    for (const path of [`/chats/${chat.id}`, ...WHOLE]) {
      expect((await control('GET', `${path}?at=${first}`)).status).toBe(200)
      const { status, body } = await control('GET', `${path}?at=${first - 1}`)
      expect([status, body.error.code]).toEqual([410, 'moment_dropped'])
      expect(body.error.message).toContain(`at=${first}.`)
    }
  }
  await says('abcdefgh')
  await expectFirst(server.journal.firstSeq - 1)
  const restored = server.journal.nextSeq - 1
  await server.restore(server.snapshot())
  await says('i')
  await expectFirst(restored)
})
