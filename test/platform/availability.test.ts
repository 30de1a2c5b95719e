import { expect, it } from 'vitest'
import { lastMessage, takenOver } from '../support/chats.ts'
import { inProcess, setUp, setUpChat } from '../support/test-simulator.ts'

const OPEN_TEXT = 'One moment, I am passing you on to a human colleague.'
const CLOSED_TEXT = 'Our team is not available right now. Please try again later.'

it.each([
  ['ST18', 'OPEN'],
  ['ST21', 'CLOSED'],
])('%s ST24 EV12 E3.1 E3.5 R-AVL.1 R-AVL.4 makes it %s and says so', async (_, availability) => {
  const { api } = await setUp()
  const { status, body } = await api.availability({ availability, queue: 'DEFAULT', reason: 'OTHER' })
  expect(status).toBe(200)
  expect(body).toMatchObject({ event: 'HANDOVER AVAILABILITY UPDATED', availability, queue: 'DEFAULT' })
  expect(body.updated_at).toMatch(/^2024-01-01T09:00:00\.\d{6}Z$/)
})

it.each([
  ['ST18', 'OPEN', 'OPEN'],
  ['ST18', 'CLOSED', 'OPEN'],
  ['ST21', 'OPEN', 'CLOSED'],
  ['ST21', 'CLOSED', 'CLOSED'],
])('%s E3.7 from %s the update %s decides what a press does', async (_, before, after) => {
  const { sim, api, hook } = await setUp()
  await api.availability({ availability: before })
  await api.availability({ availability: after })
  await (await sim.chat()).press('handover')
  expect(hook.events()).toEqual(after === 'OPEN' ? ['REQUESTING TAKEOVER'] : [])
})

it.each([{}, { availability: 'Open' }, { availability: null }])('E3.2 %j sets nothing', async body => {
  const { sim, api, hook } = await setUp()
  await api.availability({ availability: 'CLOSED' })
  const refused = await api.availability(body)
  expect([refused.status, refused.body.error?.field]).toEqual([400, 'availability'])
  await (await sim.chat()).press('handover')
  expect(hook.events()).toEqual([])
})

it('E3.6 bot_id in the answer is a string', async () => {
  const { sim, api } = await setUp()
  const { body } = await api.availability({ availability: 'OPEN' })
  expect(body.bot_id).toBe(String(sim.botId))
})

it('ST19 ST20 while open a press is accepted and shows the open content', async () => {
  const { hook, chat } = await setUpChat()
  await chat.press('handover')
  expect(lastMessage(chat)).toMatchObject({ from: 'bot', text: OPEN_TEXT })
  expect([chat.status, hook.events()]).toEqual(['pending', ['REQUESTING TAKEOVER']])
})

it('ST22 ST23 while closed a press shows the closed content and sends no request', async () => {
  const { sim, api, hook } = await setUp()
  await api.availability({ availability: 'CLOSED' })
  const chat = await sim.chat()
  expect((await chat.press('handover')).ack).toBeNull()
  expect(lastMessage(chat)).toMatchObject({ from: 'bot', text: CLOSED_TEXT })
  expect([chat.status, hook.events()]).toEqual(['bot', []])
})

it('ST20 ST23 the contents are those of the workspace', async () => {
  const knobs = { 'messages.open': 'Coming!', 'messages.closed': 'Closed, sorry.' }
  const { api, chat } = await setUpChat({ knobs })
  await chat.press('handover')
  expect(lastMessage(chat).text).toBe('Coming!')
  await api.availability({ availability: 'CLOSED' })
  await chat.press('handover')
  expect(lastMessage(chat).text).toBe('Closed, sorry.')
})

it('ST25 L4 time never reopens a closed handover', async () => {
  const { sim, api, hook } = await setUp()
  await api.availability({ availability: 'CLOSED' })
  const chat = await sim.chat()
  for (let day = 0; day < 30; day++) {
    await sim.clock.advance('24h')
    await chat.press('handover')
  }
  expect(hook.events()).toEqual([])
})

it('ST26 the endpoint that closed it reopens it', async () => {
  const { sim, api, hook } = await setUp()
  await api.availability({ availability: 'CLOSED' })
  await api.availability({ availability: 'OPEN' })
  await (await sim.chat()).press('handover')
  expect(hook.events()).toEqual(['REQUESTING TAKEOVER'])
})

it('ST22 closing does not change active handovers and pending requests', async () => {
  const harness = await setUp()
  const [running, waiting] = [await takenOver(harness), await harness.sim.chat()]
  await waiting.press('handover')
  await harness.api.availability({ availability: 'CLOSED' })
  await running.says('still with me?')
  expect([running.status, waiting.status]).toEqual(['agent', 'pending'])
  expect(harness.hook.payloadsOf('MESSAGE FROM USER')).toHaveLength(1)
  const started = await harness.api.start({ chat_id: waiting.id })
  expect([started.status, started.headers.get('x-handover-sim-unspecified')]).toEqual([
    200,
    'availability.closedBlocksStart',
  ])
})

it('ST17 each bot has an availability of its own', async () => {
  const { sim, api, hook } = await setUp(inProcess, { knobs: { 'keys.more': ['second-key:2002'] } })
  const { body } = await api.availability({ availability: 'CLOSED' }, { key: 'second-key' })
  expect(body.bot_id).toBe('2002')
  await (await sim.chat({ botId: 2002 })).press('handover')
  expect(hook.events()).toEqual([])
  await (await sim.chat()).press('handover')
  expect(hook.events()).toEqual(['REQUESTING TAKEOVER'])
})

it('ST17 ST21 each queue has an availability of its own', async () => {
  const { sim, api, hook } = await setUp(inProcess, { knobs: { 'availability.otherQueues': 'accept' } })
  const { body } = await api.availability({ availability: 'CLOSED', queue: 'VIP' })
  expect(body).toMatchObject({ queue: 'VIP', availability: 'CLOSED' })
  await (await sim.chat()).press('handover')
  expect(hook.events()).toEqual(['REQUESTING TAKEOVER'])
})

it('L3 R-AVL.2 E3.3 DEFAULT is the only queue, and the default of a missing one', async () => {
  const { api } = await setUp()
  const refused = await api.availability({ availability: 'CLOSED', queue: 'VIP' })
  expect([refused.status, refused.body.error?.field]).toEqual([400, 'queue'])
  expect((await api.availability({ availability: 'CLOSED' })).body.queue).toBe('DEFAULT')
})

it.each(['AGENT_AVAILABILITY', 'BUSINESS_HOURS', 'OTHER', undefined])(
  'R-AVL.3 E3.4 reason %s is accepted',
  async reason => {
    const { sim, api } = await setUp()
    expect((await api.availability({ availability: 'OPEN', ...(reason ? { reason } : {}) })).status).toBe(200)
    const notes = sim.journal.query({ kind: 'note' }).filter(note => 'note' in note && note.note === 'availability')
    expect((notes.at(-1) as { reason?: string }).reason).toBe(reason)
  },
)

it('E3.4 an answer to a call without queue or reason names the assumption', async () => {
  const { api } = await setUp()
  const marks = async (body: object) =>
    (await api.availability({ availability: 'OPEN', ...body })).headers.get('x-handover-sim-unspecified')
  expect(await marks({ queue: 'DEFAULT', reason: 'OTHER' })).toBe('keys.more, time.format')
  expect(await marks({ reason: 'OTHER' })).toBe('availability.missingQueue, keys.more, time.format')
  expect(await marks({ queue: 'DEFAULT' })).toBe('availability.missingReason, keys.more, time.format')
})

it('R-AVL.4 updated_at is the time of the update, in the chosen format', async () => {
  const clock = { mode: 'virtual', start: '2025-06-01T10:00:00Z' } as const
  const { sim, api } = await setUp(inProcess, { clock })
  await sim.clock.advance('90s')
  const at = async (format: 'epoch' | 'iso' | 'offset') => {
    await sim.configure({ 'time.format': format })
    return (await api.availability({ availability: 'OPEN' })).body.updated_at
  }
  expect(await at('epoch')).toBe(String(Date.UTC(2025, 5, 1, 10, 1, 30) / 1000))
  expect(await at('offset')).toMatch(/^2025-06-01T10:01:30\.\d{6}\+00:00$/)
})

it('ST17 availability.initial=CLOSED starts closed', async () => {
  const { sim, hook } = await setUp(inProcess, { knobs: { 'availability.initial': 'CLOSED' } })
  await (await sim.chat()).press('handover')
  expect(hook.events()).toEqual([])
})

it('ST21 availability.closedBlocksStart=on refuses a start while closed', async () => {
  const { api, chat } = await setUpChat({ knobs: { 'availability.closedBlocksStart': 'on' } })
  await api.availability({ availability: 'CLOSED' })
  expect((await api.start({ chat_id: chat.id })).status).toBe(409)
  expect(chat.status).toBe('bot')
})
