/** Limits the platform does not publish: none of them is there unless set. */
import { expect, test } from 'vitest'
import { assumedBy, call, post, takenOver, world } from './support.ts'

test('limits.rate: sets no limit, or answers 429 with Retry-After after that many calls per key and window', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const stop = async () => (await post(sim, 'typing_stop', chat)).status
  for (let i = 0; i < 50; i++) expect(await stop()).toBe(200)

  await sim.configure({ 'limits.rate': '2/10s' })
  await sim.clock.advance('1h')
  expect([await stop(), await stop(), await stop()]).toEqual([200, 200, 429])
  await sim.clock.advance('6500ms')
  const refused = await post(sim, 'typing_stop', chat)
  expect(refused.headers.get('retry-after')).toBe('4')
  expect(assumedBy(refused)).toEqual(['errors.body', 'limits.rate'])
  const otherKey = await call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey })
  expect(otherKey.status).toBe(200)
  await sim.clock.advance('3500ms')
  expect(await stop()).toBe(200)
})

test('limits.rate: a reset starts a new window', async () => {
  const { sim } = world({ knobs: { 'limits.rate': '1/1m' } })
  await sim.clock.advance('10m')
  await takenOver(sim)
  sim.reset()
  const chat = await sim.chat()
  expect((await post(sim, 'start', chat)).status).toBe(200)
})

test('limits.attachmentKb: accepts files up to 100 MiB, or up to that many kilobytes', async () => {
  const { sim, inbox } = world()
  const chat = await takenOver(sim, { supports_attachment: true })
  const attach = (size_kb: number) => chat.says('', { attach: [{ name: 'a.bin', type: 'application/zip', size_kb }] })
  await attach(20_000)
  await sim.configure({ 'limits.attachmentKb': 100 })
  await attach(100)
  await expect(attach(101)).rejects.toThrow('more than the 100 KB allowed')
  expect(inbox.map(one => one.json.attachments[0].size_kb)).toEqual([20_000, 100])
})

test('limits.nesting: accepts 200 levels, and refuses one more', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const nested = (levels: number) =>
    `{"bot_id":${chat.botId},"chat_id":"${chat.id}","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  const stop = (levels: number) => call(sim, '/api/v2/handover/typing_stop', { body: nested(levels) })
  expect((await stop(200)).status).toBe(200)
  const refused = await stop(201)
  expect([refused.status, assumedBy(refused)]).toEqual([400, ['errors.body', 'limits.nesting']])
})
