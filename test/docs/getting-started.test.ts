/** Runs the commands of docs/getting-started.md against a real server. */

import { expect, it } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { startWebhook } from '../support/network.ts'
import { blocks, hasShell, read, runInShell } from './pages.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of every endpoint
type Answers = any[]

/** Splits the concatenated answers of a block with several calls. */
const answersIn = (text: string): Answers =>
  text
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map(line => JSON.parse(line))

it.skipIf(!hasShell)('plays a whole handover (needs bash and curl)', async () => {
  await using webhook = await startWebhook()
  await using server = await startSimulator({ port: 0, webhook: { url: webhook.url } })
  let CHAT = ''
  const perform = async (block: string) => {
    const result = await runInShell(block, { SIM: server.url, CHAT })
    expect(result, block).toMatchObject({ code: 0, stderr: '' })
    return answersIn(result.stdout)
  }
  const [create, ask, start, write, answerAndEnd, transcript, journal, ...more] = blocks(
    read('docs/getting-started.md'),
    'sh',
  )
  expect(more).toEqual([])

  const [created] = await perform(create!)
  CHAT = created.chat_id
  const chat = server.findChat(CHAT)!
  expect(chat.transcript.length).toBeGreaterThan(3)

  expect(await perform(ask!)).toMatchObject([{ ack: { status: 200 } }])
  expect(chat.status).toBe('pending')
  expect(await perform(start!)).toMatchObject([{ event: 'TAKEOVER STARTED', chat_id: CHAT }])
  expect(chat.status).toBe('agent')
  expect(await perform(write!)).toMatchObject([{ ack: { status: 200 } }])
  expect(webhook.bodies.map(body => JSON.parse(body).event)).toEqual(['REQUESTING TAKEOVER', 'MESSAGE FROM USER'])
  expect(JSON.parse(webhook.bodies[1]!).message).toBe('My parcel is lost 😢')
  const ends = [{ event: 'MESSAGE SENT TO USER' }, { event: 'TAKEOVER ENDED' }]
  expect(await perform(answerAndEnd!)).toMatchObject(ends)
  expect(chat.status).toBe('bot')
  expect(chat.transcript.slice(-2).map(({ name, text }) => `${name}: ${text}`)).toEqual([
    'Anna: We will fix that!',
    'Poppy: Anna has left the chat.',
  ])

  const [{ chat: record }] = await perform(transcript!)
  expect(record.messages).toHaveLength(chat.transcript.length)
  const [{ entries }] = await perform(journal!)
  const calls = (entries as Answers)
    .filter(({ kind }) => kind === 'api')
    .map(({ endpoint, status }) => `${endpoint} ${status}`)
  expect(calls).toEqual(['start 200', 'message 200', 'end 200', 'chat 200'])
  expect((entries as Answers).flatMap(({ findings }) => findings ?? [])).toEqual([])
})

it('the commands use the default address', () => {
  const text = read('docs/getting-started.md')
  expect(blocks(text, '')).toContain('SIM=http://127.0.0.1:4747\n')
  expect(blocks(text, '')[0]).toContain('npx handover-sim start --open')
  expect(blocks(text, '')[1]).toContain('npx handover-sim start --webhook-url')
})
