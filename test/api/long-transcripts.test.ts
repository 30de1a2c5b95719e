/** Checks that a long transcript, which is answered in pieces, differs from a short one in nothing but its length. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { shortEntry } from '../../src/platform/journal/short-entry.ts'
import { type SimulatorSetup, setUp } from '../support/test-simulator.ts'

const COUNT = 700

/** A chat whose transcript has about 1 MB. */
async function longChat({ sim }: SimulatorSetup) {
  const history = Array.from({ length: COUNT }, (_, at) => ({ user: `${at} æ👩‍👩‍👧`.padEnd(1500, 'x') }))
  const chat = await sim.chat({ id: 'c1', history })
  const post = { bot_id: sim.botId, chat_id: chat.id }
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  return {
    chat,
    transcript: { method: 'POST', headers, body: JSON.stringify(post) },
    get: { headers: { authorization: `Bearer ${sim.botApiKey}` } },
  }
}

const TRANSCRIPT = '/api/v2/handover/transcript'

it('E1 E9 has all messages, and says what it assumes', async () => {
  const harness = await setUp()
  const { chat, transcript, get } = await longChat(harness)
  const texts = chat.transcript.map(({ text }) => text)
  for (const answer of [await harness.send(TRANSCRIPT, transcript), await harness.send('/api/v1/chats/c1', get)]) {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(answer.headers.get('x-handover-sim-unspecified')).toContain('transcript.state')
    const text = await answer.text()
    const body = JSON.parse(text)
    expect(body.chat.messages.map(({ message }: { message: string }) => message)).toEqual(texts)
    expect(JSON.stringify(body)).toBe(text)
  }
})

it('E1 is in the journal, and shown as its beginning with length and hash', async () => {
  const harness = await setUp()
  const { transcript } = await longChat(harness)
  const text = await (await harness.send(TRANSCRIPT, transcript)).text()
  const [call] = harness.sim.journal.query({ kind: 'api' })
  expect(JSON.stringify(call!.response)).toBe(text)
  const hash = createHash('sha256').update(text).digest('hex')
  const bytes = Buffer.byteLength(text)
  expect(shortEntry(call!)).toMatchObject({ response_truncated_from: { bytes, sha256: hash } })
})

it('E1 is cut in half by a fault', async () => {
  const harness = await setUp()
  const { transcript } = await longChat(harness)
  const whole = await (await harness.send(TRANSCRIPT, transcript)).arrayBuffer()
  harness.sim.faults.add({ on: { api: 'transcript' }, malformed: true, times: 1 })
  const half = await (await harness.send(TRANSCRIPT, transcript)).arrayBuffer()
  expect(half.byteLength).toBe(Math.floor(whole.byteLength / 2))
})
