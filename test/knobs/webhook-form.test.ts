/** How a delivery looks: its signature, its JSON, its id. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Delivered, takenOver, world } from './support.ts'

const KEY = 'sim-handover-key'
const hmac = (hash: string, content: string, encoding: 'base64' | 'hex') =>
  createHmac(hash, KEY).update(content).digest(encoding)

/** Delivers one event with the default, one after `patch`. */
async function twoDeliveries(patch: Record<string, unknown>): Promise<[Delivered, Delivered]> {
  const { sim, inbox } = world()
  const chat = await takenOver(sim)
  await chat.says('Blåbær / سلام 🫐')
  await sim.configure(patch)
  await chat.says('Blåbær / سلام 🫐')
  return [inbox[0]!, inbox[1]!]
}

test('webhook.signature: encodes as base64, or as hex', async () => {
  const [first, second] = await twoDeliveries({ 'webhook.signature': 'hex' })
  expect(first.headers.get('Kindly-HMAC')).toBe(hmac('sha256', first.text, 'base64'))
  expect(first.headers.get('Kindly-HMAC-algorithm')).toBe('HMAC-SHA-256 (base64 encoded)')
  expect(second.headers.get('Kindly-HMAC')).toBe(hmac('sha256', second.text, 'hex'))
  expect(second.headers.get('Kindly-HMAC-algorithm')).toBe('HMAC-SHA-256 (hex encoded)')
})

test('webhook.signature: off omits both headers', async () => {
  const [, second] = await twoDeliveries({ 'webhook.signature': 'off' })
  expect([...second.headers.keys()].filter(name => name.includes('hmac'))).toEqual([])
})

test('webhook.signatureHeader: names the header of the signature', async () => {
  const [first, second] = await twoDeliveries({ 'webhook.signatureHeader': 'X-Hub-Signature' })
  expect(first.headers.get('X-Hub-Signature')).toBeNull()
  expect(second.headers.get('X-Hub-Signature')).toBe(hmac('sha256', second.text, 'base64'))
  expect(second.headers.get('Kindly-HMAC')).toBeNull()
})

test('webhook.algorithmHeader: names the header of the algorithm', async () => {
  const [first, second] = await twoDeliveries({ 'webhook.algorithmHeader': 'X-Algorithm' })
  expect(first.headers.get('X-Algorithm')).toBeNull()
  expect(second.headers.get('X-Algorithm')).toBe('HMAC-SHA-256 (base64 encoded)')
  expect(second.headers.get('Kindly-HMAC-algorithm')).toBeNull()
})

test.each([
  ['sha1', 'HMAC-SHA-1'],
  ['sha512', 'HMAC-SHA-512'],
])('webhook.algorithm: %s instead of sha256', async (algorithm, name) => {
  const [first, second] = await twoDeliveries({ 'webhook.algorithm': algorithm })
  expect(first.headers.get('Kindly-HMAC')).toBe(hmac('sha256', first.text, 'base64'))
  expect(second.headers.get('Kindly-HMAC')).toBe(hmac(algorithm, second.text, 'base64'))
  expect(second.headers.get('Kindly-HMAC-algorithm')).toBe(`${name} (base64 encoded)`)
})

test('webhook.signedContent: signs the body, or the URL and the body', async () => {
  const [first, second] = await twoDeliveries({ 'webhook.signedContent': 'url-and-body' })
  expect(first.headers.get('Kindly-HMAC')).toBe(hmac('sha256', first.text, 'base64'))
  expect(second.headers.get('Kindly-HMAC')).toBe(hmac('sha256', second.url + second.text, 'base64'))
})

const asciiOnly = (text: string) => [...text].every(char => char.charCodeAt(0) < 128)
const SHAPES: [form: string, looksLike: (text: string, compact: string) => boolean][] = [
  ['spaced', (text, compact) => text.startsWith('{"event": "MESSAGE FROM USER", "bot": {"id": ') && text !== compact],
  ['ascii', text => asciiOnly(text) && text.includes('Bl\\u00e5b\\u00e6r') && text.includes('\\ud83e\\uded0')],
  ['slashes', text => text.includes('https:\\/\\/') && !text.includes('https://')],
  ['pretty', (text, compact) => text === JSON.stringify(JSON.parse(compact), null, 2)],
  ['newline', (text, compact) => text === `${compact}\n`],
  ['reordered', text => text.startsWith('{"message":') && text.endsWith('"event":"MESSAGE FROM USER"}')],
]

test.each(SHAPES)('webhook.json: %s is the same value in other bytes, signed as sent', async (form, looksLike) => {
  const [compact, other] = await twoDeliveries({ 'webhook.json': form })
  expect(compact.text).toBe(JSON.stringify(compact.json))
  expect(compact.text).toContain('Blåbær / سلام 🫐')
  expect(other.json).toEqual(compact.json)
  expect(looksLike(other.text, compact.text)).toBe(true)
  expect(other.headers.get('Kindly-HMAC')).toBe(hmac('sha256', other.text, 'base64'))
})

test('webhook.idHeader: sends no delivery id, or that of the journal in the named header', async () => {
  const { sim, inbox } = world()
  const chat = await takenOver(sim)
  const without = await chat.says('One')
  await sim.configure({ 'webhook.idHeader': 'X-Delivery-Id' })
  const withId = await chat.says('Two')
  expect([...inbox[0]!.headers.values()]).not.toContain(without.deliveryId)
  expect(inbox[1]!.headers.get('X-Delivery-Id')).toBe(withId.deliveryId)
})
