/** Checks that a long transcript, which is answered in pieces, differs from a short one in nothing but its length. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { shortEntry } from '../../src/platform/journal/short-entry.ts'
import { setUpChat } from '../support/test-simulator.ts'

it('E1 E9 a transcript of 1 MB has all messages, is in the journal, and is cut in half by a fault', async () => {
  const history = Array.from({ length: 700 }, (_, at) => ({ user: `${at} æ👩‍👩‍👧`.padEnd(1500, 'x') }))
  const { sim, send, chat } = await setUpChat({ chat: { history } })
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })
  const transcript = () => send('/api/v2/handover/transcript', { method: 'POST', headers, body })
  const read = () => send(`/api/v1/chats/${chat.id}`, { headers: { authorization: `Bearer ${sim.botApiKey}` } })
  const texts: string[] = []
  for (const answer of [await read(), await transcript()]) {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(answer.headers.get('x-handover-sim-unspecified')).toContain('transcript.state')
    const text = await answer.text()
    texts.push(text)
    const record = JSON.parse(text)
    expect(record.chat.messages.map(({ message }: { message: string }) => ({ user: message }))).toEqual(history)
    expect(JSON.stringify(record)).toBe(text)
  }
  const [text] = texts.slice(-1) as [string]
  const call = sim.journal.query({ kind: 'api' }).at(-1)!
  expect(JSON.stringify(call.response)).toBe(text)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const bytes = Buffer.byteLength(text)
  expect(shortEntry(call)).toMatchObject({ response_truncated_from: { bytes, sha256 } })
  sim.faults.add({ on: { api: 'transcript' }, malformed: true, times: 1 })
  expect((await (await transcript()).arrayBuffer()).byteLength).toBe(Math.floor(bytes / 2))
})
