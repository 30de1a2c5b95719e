import { expect, it } from 'vitest'
import { lastMessage, takenOver } from '../support/chats.ts'
import { setUpChat } from '../support/test-simulator.ts'

const OPEN_TEXT = 'One moment, I am passing you on to a human colleague.'
const CLOSED_TEXT = 'Our team is not available right now. Please try again later.'
const OPEN = { availability: 'OPEN' }
const CLOSED = { availability: 'CLOSED' }

it.each([
  ['ST18', 'OPEN'],
  ['ST21', 'CLOSED'],
])('%s ST24 EV12 E3.1 E3.5 E3.6 R-AVL.1 R-AVL.4 makes it %s and says so', async (_, availability) => {
  const { sim, api } = await setUpChat()
  const { status, body } = await api.availability({ availability, queue: 'DEFAULT', reason: 'OTHER' })
  const bot_id = String(sim.botId)
  expect([status, body]).toMatchObject([
    200,
    { event: 'HANDOVER AVAILABILITY UPDATED', availability, queue: 'DEFAULT', bot_id },
  ])
  expect(body.updated_at).toMatch(/^2024-01-01T09:00:00\.\d{6}Z$/)
})

it.each([
  [[], 'open'],
  [[OPEN, OPEN], 'open'],
  [[CLOSED, OPEN], 'open'],
  [[CLOSED], 'closed'],
  [[OPEN, CLOSED], 'closed'],
  [[CLOSED, CLOSED], 'closed'],
  [[CLOSED, {}], 'closed'],
  [[CLOSED, { availability: 'Open' }], 'closed'],
  [[CLOSED, { availability: null }], 'closed'],
] as const)('ST18 ST19 ST20 ST21 ST22 ST23 ST26 E3.2 E3.7 after %j it is %s', async (updates, expected) => {
  const { api, hook, chat } = await setUpChat()
  for (const update of updates) await api.availability(update)
  const { ack } = await chat.press('handover')
  const open = expected === 'open'
  expect([ack?.status, chat.status, hook.events()]).toEqual(
    open ? [200, 'pending', ['REQUESTING TAKEOVER']] : [undefined, 'bot', []],
  )
  expect(lastMessage(chat)).toMatchObject({ from: 'bot', text: open ? OPEN_TEXT : CLOSED_TEXT })
})

it('ST25 L4 time never reopens a closed handover', async () => {
  const { sim, api, hook, chat } = await setUpChat()
  await api.availability(CLOSED)
  for (let day = 0; day < 30; day++) {
    await sim.clock.advance('24h')
    await chat.press('handover')
  }
  expect(hook.events()).toEqual([])
})

it('ST22 closing does not change active handovers and pending requests', async () => {
  const { chat: waiting, ...setup } = await setUpChat()
  const running = await takenOver(setup)
  await waiting.press('handover')
  await setup.api.availability(CLOSED)
  await running.says('still with me?')
  expect([running.status, waiting.status]).toEqual(['agent', 'pending'])
  expect(setup.hook.payloadsOf('MESSAGE FROM USER')).toHaveLength(1)
  const { status, headers } = await setup.api.start({ chat_id: waiting.id })
  expect([status, headers.get('x-handover-sim-unspecified')]).toEqual([200, 'availability.closedBlocksStart'])
})

it('ST17 each bot has an availability of its own', async () => {
  const { sim, api, hook, chat } = await setUpChat({ knobs: { 'keys.more': ['second-key:2002'] } })
  expect((await api.availability(CLOSED, { key: 'second-key' })).body.bot_id).toBe('2002')
  await (await sim.chat({ botId: 2002 })).press('handover')
  expect(hook.events()).toEqual([])
  await chat.press('handover')
  expect(hook.events()).toEqual(['REQUESTING TAKEOVER'])
})

it('L3 R-AVL.2 E3.3 DEFAULT is the only queue, and the default of a missing one', async () => {
  const { api } = await setUpChat()
  const refused = await api.availability({ ...CLOSED, queue: 'VIP' })
  expect([refused.status, refused.body.error?.field]).toEqual([400, 'queue'])
  expect((await api.availability(CLOSED)).body.queue).toBe('DEFAULT')
})

it.each([
  [{ queue: 'DEFAULT', reason: 'AGENT_AVAILABILITY' }, 'keys.more, time.format'],
  [{ queue: 'DEFAULT', reason: 'BUSINESS_HOURS' }, 'keys.more, time.format'],
  [{ reason: 'OTHER' }, 'availability.missingQueue, keys.more, time.format'],
  [{ queue: 'DEFAULT' }, 'availability.missingReason, keys.more, time.format'],
] as [{ queue?: string; reason?: string }, string][])(
  'R-AVL.3 E3.4 %j is accepted, and a default is marked',
  async (body, marks) => {
    const { sim, api } = await setUpChat()
    const { status, headers } = await api.availability({ ...OPEN, ...body })
    expect([status, headers.get('x-handover-sim-unspecified')]).toEqual([200, marks])
    expect((sim.journal.query({ kind: 'note' }).at(-1) as { reason?: string }).reason).toBe(body.reason)
  },
)
