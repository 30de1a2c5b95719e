/** Readiness: what the traffic and trials of single checks show, over HTTP, with an intermediary whose mistakes can be switched. */

import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DriverCall } from '../../src/evaluation/scenario/run-events.ts'
import type { Driver, DriverContext } from '../../src/running/agent-driver/driver.ts'
import { LazyReadiness } from '../../src/running/certifier/load.ts'
import { startServer } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { shouting, simulatorWith } from '../testing/desk.ts'

type Bug = 'reserialises' | 'accepts-unsigned' | 'no-sender' | 'loses-messages' | 'ends-twice' | 'answers-500'
interface State {
  readonly bugs: Set<Bug>
  readonly inbox: Map<string, { request?: boolean; text?: string }[]>
}

/** Verifies, stores what the agent sees, and calls the platform when the agent acts. */
async function intermediary(platform: () => string): Promise<{ url: string; state: State; driver: Driver }> {
  const state: State = { bugs: new Set(), inbox: new Map() }
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray())
    const event = JSON.parse(bytes.toString())
    // As Python writes JSON, here without a separator in a text.
    const python = JSON.stringify(event).replace(/("[^"]*")|([,:])/g, (_, text, mark) => text ?? `${mark} `)
    const signed = state.bugs.has('reserialises') ? python : bytes
    const right = createHmac('sha256', 'sim-handover-key').update(signed).digest('base64')
    const given = request.headers['kindly-hmac']
    const isValid = given === right || (given === undefined && state.bugs.has('accepts-unsigned'))
    if (!isValid) return response.writeHead(401).end('bad signature')
    if (state.bugs.has('answers-500')) return response.writeHead(500).end()
    const items = state.inbox.get(event.chat?.id) ?? []
    if (event.event === 'REQUESTING TAKEOVER') items.push({ request: true })
    if (event.event === 'MESSAGE FROM USER' && !state.bugs.has('loses-messages')) items.push({ text: event.message })
    if (event.chat !== undefined) state.inbox.set(event.chat.id, items)
    return response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const call = (chatId: string, path: string, body: object) =>
    fetch(`${platform()}/api/v2/handover/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' },
      body: JSON.stringify({ bot_id: 1042, chat_id: chatId, ...body }),
    })
  const sender = () => (state.bugs.has('no-sender') ? {} : { sender: { name: 'Anna', avatar: 'https://a.test/a.png' } })
  async function act(verb: string, { chat, text }: DriverContext): Promise<void> {
    const id = chat?.id ?? ''
    if (verb === 'accept') await call(id, 'start', { supports_attachment: true, ...sender() })
    if (verb === 'says') await call(id, 'message/', { message: text, ...sender() })
    if (verb === 'leave') await call(id, 'end', {})
    if (verb === 'leave' && state.bugs.has('ends-twice')) await call(id, 'end', {})
  }
  const driver: Driver = {
    name: 'the driver of this test',
    verbs: ['accept', 'says', 'leave', 'inbox'],
    target: null,
    async call(verb, context) {
      await act(verb, context)
      const items = verb === 'inbox' ? { items: [...(state.inbox.get(context.chat?.id ?? '') ?? [])] } : {}
      return { verb, how: 'a function', outcome: 'ok', duration_ms: 0, ...items } as DriverCall
    },
    close: async () => {},
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, state, driver }
}

async function setUp({ withDriver = true } = {}) {
  let platform = ''
  const { url, state, driver } = await intermediary(() => platform)
  const readiness = new LazyReadiness(() => (withDriver ? async () => driver : null))
  const player = {
    plays: 'driver' as const,
    name: driver.name,
    verbs: async () => driver.verbs,
    call: ({ verb, chat, text = '' }: { verb: string; chat: { id: string } | null; text?: string | undefined }) =>
      driver.call(verb, { chat, text } as unknown as DriverContext, new AbortController().signal),
  }
  const options = { port: 0, bot: { id: 1042, name: 'Nora' }, webhook: { url } }
  const more = { loadReadiness: readiness.load, agent: () => player }
  const server = await startServer(options, undefined, undefined, more)
  onTestFinished(() => server.close())
  platform = server.url
  const ask = createControlClient(server)
  const states = async () => {
    const { status, body } = await ask('GET', '/readiness')
    expect(status).toBe(200)
    const found: Record<string, string> = {}
    for (const { id, state: one } of body.checks) if (one !== 'not_seen') found[id] = one
    return { found, body }
  }
  return { server, state, ask, states, readiness }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

/** A whole handover by the control API, as the page plays it. */
async function playHandover({ server, ask }: SetUp): Promise<string> {
  const chat = await server.chat()
  await chat.press('handover')
  const agent = (verb: string, text?: string) =>
    ask('POST', '/agent', { body: { verb, chat_id: chat.id, ...(text && { text }) } })
  await agent('accept')
  await agent('says', 'Hello')
  await chat.says('Where is my parcel?')
  await ask('GET', `/agent/inbox?chat_id=${chat.id}`)
  await agent('leave')
  return chat.id
}

describe('traffic', () => {
  test('what was written before start is right where the inbox shows it, and not seen before', async () => {
    const { server, state, ask, states } = await setUp()
    const chat = await server.chat()
    await chat.says('My number is 4711')
    await chat.press('handover')
    await chat.says('It is urgent')
    await ask('POST', '/agent', { body: { verb: 'accept', chat_id: chat.id } })
    const readInbox = () => ask('GET', `/agent/inbox?chat_id=${chat.id}`)
    await readInbox()
    expect((await states()).found).not.toHaveProperty('FLW-08')
    state.inbox.get(chat.id)?.push({ text: chat.transcript.map(({ text }) => text).join('\n') })
    await readInbox()
    expect((await states()).found).toMatchObject({ 'FLW-08': 'right' })
  })

  test('nothing is seen before anything happened; one handover shows eight checks right', async () => {
    const parts = await setUp()
    expect((await parts.states()).body.text).toBe('0 of 48 seen right, none wrong')
    await playHandover(parts)
    const { found, body } = await parts.states()
    const right = ['SIG-01', 'ACK-01', 'ACK-04', 'FLW-01', 'FLW-02', 'FLW-03', 'FLW-04', 'FLW-05']
    expect(found).toEqual(Object.fromEntries(right.map(id => [id, 'right'])))
    expect(body).toMatchObject({ text: '8 of 48 seen right, none wrong', right: 8, wrong: 0, not_seen: 40 })
  })

  test('a change that breaks something turns its check wrong, and the mend turns it right again', async () => {
    const parts = await setUp()
    await playHandover(parts)
    parts.state.bugs.add('no-sender')
    const chatId = await playHandover(parts)
    const wrong = await parts.states()
    expect(wrong.found['FLW-03']).toBe('wrong')
    const check = wrong.body.checks.find(({ id }: { id: string }) => id === 'FLW-03')
    expect(check).toMatchObject({ by: 'traffic', chat_id: chatId, finding: { code: 'sender-incomplete' } })
    expect(check.finding.happened).toMatch(/^message .*sender\S* is missing/)
    parts.state.bugs.clear()
    await playHandover(parts)
    expect((await parts.states()).found['FLW-03']).toBe('right')
  })

  test('a second end is seen wrong in FLW-04 alone', async () => {
    const parts = await setUp()
    parts.state.bugs.add('ends-twice')
    await playHandover(parts)
    const { found } = await parts.states()
    expect(Object.entries(found).filter(([, state]) => state === 'wrong')).toEqual([['FLW-04', 'wrong']])
  })

  test('a status that is not 200 is seen wrong in ACK-01, a refused signature in SIG-01', async () => {
    const parts = await setUp()
    parts.state.bugs.add('answers-500')
    await (await parts.server.chat()).press('handover')
    expect((await parts.states()).found).toEqual({ 'ACK-01': 'wrong' })
    parts.state.bugs.clear()
    parts.state.bugs.add('reserialises')
    await (await parts.server.chat()).press('handover')
    const { found, body } = await parts.states()
    expect(found).toEqual({ 'ACK-01': 'wrong', 'SIG-01': 'wrong' })
    expect(body.checks[0].delivery_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('a forged event that is accepted is wrong, and one that is refused is right', async () => {
    const parts = await setUp()
    await parts.server.chat()
    const forge = (sign: string) => parts.ask('POST', '/trigger', { body: { event: 'AGENT TYPING STOP', sign } })
    await forge('none')
    await forge('wrong-key')
    expect((await parts.states()).found).toEqual({ 'SIG-02': 'right', 'SIG-03': 'right' })
    parts.state.bugs.add('accepts-unsigned')
    await forge('none')
    expect((await parts.states()).found).toEqual({ 'SIG-02': 'wrong', 'SIG-03': 'right' })
  })

  test('a diagnosis that finds the mistake turns SIG-07 wrong', async () => {
    const parts = await setUp()
    parts.state.bugs.add('reserialises')
    await (await parts.server.chat()).press('handover')
    await parts.ask('POST', '/deliveries/latest/diagnose', { body: {} })
    // The cause is said once: a refused signature whose body is read wrongly is the matter of SIG-07.
    expect((await parts.states()).found).toEqual({ 'SIG-02': 'right', 'SIG-07': 'wrong' })
    expect((await parts.states()).body.text).toBe('1 of 48 seen right, 1 wrong: SIG-07')
  })

  test('a reset forgets what was seen', async () => {
    const parts = await setUp()
    await playHandover(parts)
    await parts.states()
    await parts.ask('POST', '/reset', { body: {} })
    expect((await parts.states()).found).toEqual({})
  })

  test('the stream says what has changed, each check once', async () => {
    const parts = await setUp()
    const stream = await fetch(`${parts.server.url}/_sim/events?readiness=on`)
    const changed: string[] = []
    const played = playHandover(parts)
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of stream.body!) {
      text += decoder.decode(chunk, { stream: true })
      changed.length = 0
      for (const [, data] of text.matchAll(/event: readiness\ndata: (.*)\n/g)) {
        const { id, state } = JSON.parse(data!)
        if (state === 'right') changed.push(id)
      }
      if (changed.includes('FLW-04')) break
    }
    await played
    expect(new Set(changed)).toContain('SIG-01')
  })
})

describe('a trial', () => {
  test('runs one check beside the simulator, whose journal and chats stay as they are', async () => {
    const parts = await setUp()
    const chatId = await playHandover(parts)
    const before = parts.server.journal.query().length
    const { status, body } = await parts.ask('POST', '/readiness/FLW-06/try')
    expect(body.findings).toEqual([])
    expect([status, body.outcome, body.check.state, body.check.by]).toEqual([200, 'pass', 'right', 'trial'])
    expect(body.entries.filter(({ kind }: { kind: string }) => kind === 'api').length).toBeGreaterThan(3)
    expect(Object.values(body.chats)).not.toContain(chatId)
    expect(parts.server.journal.query().length).toBe(before)
    expect(parts.server.chats().map(one => one.chatId)).toEqual([chatId])
    // Calls about the chats of the simulator still reach it.
    await playHandover(parts)
    expect((await parts.states()).body.wrong).toBe(0)
  })

  test('a mistake that no traffic shows is found by trying', async () => {
    const parts = await setUp()
    parts.state.bugs.add('loses-messages')
    const { body } = await parts.ask('POST', '/readiness/EVT-05/try')
    expect(body).toMatchObject({ outcome: 'fail', check: { state: 'wrong', by: 'trial' } })
    expect(body.findings[0]).toMatchObject({ code: 'attachments-lose-text' })
    expect((await parts.states()).found).toMatchObject({ 'EVT-05': 'wrong' })
    expect((await parts.states()).body.text).toContain('1 wrong: EVT-05')
  }, 30_000)

  test('says why a check cannot be tried', async () => {
    const parts = await setUp({ withDriver: false })
    const { body } = await parts.states()
    const reasonOf = (id: string) => body.checks.find((one: { id: string }) => one.id === id).cannot_try
    expect(reasonOf('SIG-01')).toBeNull()
    expect(reasonOf('FLW-01')).toContain('--agent-driver FILE')
    const refused = await parts.ask('POST', '/readiness/FLW-01/try')
    expect([refused.status, refused.body.error.code]).toEqual([409, 'cannot_try'])
    expect((await parts.ask('POST', '/readiness/XYZ-01/try')).status).toBe(404)
    await parts.ask('PATCH', '/config', { body: { 'webhook.url': null } })
    expect((await parts.states()).body.checks[0].cannot_try).toContain('No webhook')
  })
})

test('each check says how to fix what it finds, in the languages of its help page', async () => {
  const { ask } = await setUp()
  const { body } = await ask('GET', '/readiness')
  for (const { id } of body.checks) {
    const fix = (await ask('GET', `/readiness/${id}/fix`)).body
    expect([id, fix.text.length > 20, fix.text.includes('```')]).toEqual([id, true, false])
    expect([id, Object.keys(fix.code)]).toEqual([id, expect.arrayContaining(['js', 'python'])])
  }
  expect((await ask('GET', '/readiness/SIG-07/fix')).body.code.python).toContain('get_data()')
  expect((await ask('GET', '/readiness/SIG-77/fix')).status).toBe(404)
})

describe('a played scenario', () => {
  const yaml = (text: string) => `version: 1
name: The agent answers
timeouts: { expect: 500ms, settle: 50ms }
steps:
  - press: handover
  - agent: accept
  - expect: start
  - agent: { says: ${text} }
  - expect: { message: { message: Hello } }
`

  test('names the line that failed, what was expected and what happened', async () => {
    const { ask } = await setUp()
    const { body } = await ask('POST', '/plays', { body: { yaml: yaml('Goodbye') } })
    expect(body.outcome).toBe('fail')
    expect(body.failures[0]).toMatchObject({ line: 9, step: 5 })
    expect(body.failures[0].expected).toContain('Hello')
  })

  test('needs a webhook', async () => {
    const { server, ask } = await setUp()
    await server.configure({ 'webhook.url': null })
    const none = await ask('POST', '/plays', { body: { yaml: yaml('Hello') } })
    expect([none.status, none.body.error.code]).toEqual([409, 'cannot_try'])
  })
})

test('sim.readiness() judges the traffic of a test', async () => {
  const { sim } = simulatorWith(shouting)
  const ada = await sim.chat()
  await ada.press('handover')
  await ada.says('hello')
  await sim.settled()
  const { text, checks } = await sim.readiness()
  const right = checks.filter(({ state }) => state === 'right').map(({ id }) => id)
  expect(right).toEqual(expect.arrayContaining(['SIG-01', 'ACK-01', 'FLW-01', 'FLW-03']))
  // It calls before it answers, which counts when the call takes a millisecond or more.
  const wrong = checks.filter(({ state, id }) => state === 'wrong' && id !== 'ACK-04')
  expect(wrong).toEqual([])
  expect(text).toMatch(new RegExp(`^${right.length} of 48 seen right`))
  expect(checks.find(({ id }) => id === 'FLW-01')).toMatchObject({ chatId: ada.id, finding: null })
})
