/** Summaries: when they are refused, how long they take, what they say. */
import { expect, test } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { assumedBy, call, post, world } from './support.ts'

const LONG = ['My parcel has not arrived', 'It was due on Monday']
const written = (sim: PlatformSimulator, messages: readonly string[], language = 'en') =>
  sim.chat({ language, history: messages.map(user => ({ user })) })
const summarize = (sim: PlatformSimulator, chat: ChatHandle) => post(sim, 'summarize', chat)
const summaryOf = async (sim: PlatformSimulator, chat: ChatHandle) => (await summarize(sim, chat)).json.summary

test('summarize.errorStatus: answers 400, 409 or 422 for a chat that is too short', async () => {
  const { sim } = world()
  const chat = await written(sim, ['Hello'])
  const refused = await summarize(sim, chat)
  expect([refused.status, refused.json.error.code]).toEqual([400, 'precondition_failed'])
  expect(assumedBy(refused)).toEqual(['errors.body', 'summarize.count', 'summarize.errorStatus'])
  await sim.configure({ 'summarize.errorStatus': '409' })
  expect((await summarize(sim, chat)).status).toBe(409)
  await sim.configure({ 'summarize.errorStatus': '422' })
  expect((await summarize(sim, chat)).status).toBe(422)
})

test('summarize.count: counts code points of the trimmed texts, or UTF-16 units', async () => {
  const { sim } = world()
  const short = await written(sim, ['🙂'.repeat(15), `  ${'🙂'.repeat(15)}\n\n`])
  const enough = await written(sim, ['🙂'.repeat(15), '🙂'.repeat(16)])
  const statuses = async () => [(await summarize(sim, short)).status, (await summarize(sim, enough)).status]
  expect(await statuses()).toEqual([400, 200])
  await sim.configure({ 'summarize.count': 'utf16' })
  expect(await statuses()).toEqual([200, 200])
})

test('summarize.text: fills the template in the language of the chat, or returns the configured text', async () => {
  const { sim } = world()
  const english = await written(sim, LONG)
  const norwegian = await written(sim, LONG, 'nb-NO')
  expect(await summaryOf(sim, english)).toBe(
    'The user wrote 2 messages. It began with "My parcel has not arrived" and the latest is "It was due on Monday".',
  )
  expect(await summaryOf(sim, norwegian)).toMatch(/^Brukeren skrev 2 meldinger/)
  await sim.configure({ 'summarize.text': '{count}: {first} -> {last} {other}' })
  expect(await summaryOf(sim, english)).toBe('2: My parcel has not arrived -> It was due on Monday {other}')
})

test('summarize.latency: answers at once, or after that time; other answers do not wait', async () => {
  const { sim } = world()
  const chat = await written(sim, LONG)
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const body = new TextEncoder().encode(JSON.stringify({ bot_id: chat.botId, chat_id: chat.id }))
  const handled = () => sim.handle({ method: 'POST', target: '/api/v2/handover/summarize', headers, body })
  // The first call loads the API.
  expect(await handled()).toMatchObject({ status: 200 })
  expect(handled()).toMatchObject({ status: 200 })

  await sim.configure({ 'summarize.latency': '80ms' })
  const slow = handled()
  await post(sim, 'typing_stop', chat)
  expect(sim.journal.query({ kind: 'api' })).toHaveLength(3)
  expect(await slow).toMatchObject({ status: 200 })
  const { duration_ms } = sim.journal.query({ kind: 'api' }).at(-1)!
  expect(duration_ms).toBeGreaterThanOrEqual(75)
})

test('summarize.vary: returns the same text each time, or another one', async () => {
  const { sim } = world()
  const chat = await written(sim, LONG)
  expect(await summaryOf(sim, chat)).toBe(await summaryOf(sim, chat))
  await sim.configure({ 'summarize.vary': 'on' })
  const [one, two] = [await summaryOf(sim, chat), await summaryOf(sim, chat)]
  expect(one).not.toBe(two)
})

test('summarize.prompt: shows no prompt, or the prompt of the workspace', async () => {
  const { sim } = world()
  const chat = await written(sim, LONG)
  const plain = await summaryOf(sim, chat)
  expect(plain).not.toContain('prompt')
  await sim.configure({ 'summarize.prompt': 'In one line' })
  expect(await summaryOf(sim, chat)).toBe(`[prompt: In one line] ${plain}`)
})

test('summarize.count: refuses 30 characters and accepts 31, in at least two messages', async () => {
  const { sim } = world()
  const status = async (...messages: string[]) => (await summarize(sim, await written(sim, messages))).status
  expect(await status('x'.repeat(15), 'y'.repeat(15))).toBe(400)
  expect(await status('x'.repeat(15), 'y'.repeat(16))).toBe(200)
  expect(await status('x'.repeat(500))).toBe(400)
})

test('summarize.text: the answer names the assumption about text and language', async () => {
  const { sim } = world()
  const reply = await summarize(sim, await written(sim, LONG))
  expect(assumedBy(reply)).toEqual(['summarize.text'])
  const unmarked = world({ markers: false }).sim
  const bare = await call(unmarked, '/api/v2/handover/summarize', { body: { bot_id: 1042, chat_id: 'x' } })
  expect(assumedBy(bare)).toEqual([])
})
