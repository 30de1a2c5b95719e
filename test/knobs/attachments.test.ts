/** Attachment links and the key `attachments`. */
import { expect, test } from 'vitest'
import { assumedBy, call, takenOver, world } from './support.ts'

const FILE = { name: 'receipt.png', type: 'image/png', size_kb: 2 }

async function withFile() {
  const { sim, inbox } = world()
  const chat = await takenOver(sim, { supports_attachment: true })
  await chat.says('Here', { attach: [FILE] })
  return { sim, chat, inbox, path: new URL(inbox[0]!.json.attachments[0].url).pathname }
}

test('attachments.auth: opens the link without a key, or only with it', async () => {
  const { sim, path } = await withFile()
  const open = (key: string | null) => call(sim, path, { key })
  const free = await open(null)
  expect([free.status, free.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(assumedBy(free)).toEqual(['attachments.auth', 'attachments.ttl'])
  await sim.configure({ 'attachments.auth': 'on' })
  expect((await open(null)).status).toBe(401)
  expect((await open('wrong')).status).toBe(401)
  expect((await open(sim.apiKey)).status).toBe(200)
})

test('attachments.ttl: the link never expires, or after that time', async () => {
  const { sim, path } = await withFile()
  const status = async () => (await call(sim, path, { key: null })).status
  await sim.clock.advance('9000h')
  expect(await status()).toBe(200)
  await sim.configure({ 'attachments.ttl': '9001h' })
  expect(await status()).toBe(200)
  await sim.clock.advance('1h')
  expect(await status()).toBe(404)
})

test('attachments.whenEmpty: sends an empty list after a start with support, or omits the key', async () => {
  const { sim, chat, inbox } = await withFile()
  await chat.says('No file')
  await sim.configure({ 'attachments.whenEmpty': 'absent' })
  await chat.says('No file')
  expect(inbox[1]!.json.attachments).toEqual([])
  expect(inbox[2]!.json).not.toHaveProperty('attachments')
})

test('attachments.whenEmpty: omits the key without support, and sends an empty text with files alone', async () => {
  const { sim, inbox } = world()
  const chat = await takenOver(sim)
  await chat.says('', { attach: [FILE] })
  expect(inbox[0]!.json.message).toBe('')
  expect(inbox[0]!.json).not.toHaveProperty('attachments')
})
