/** What is too long for a recording is refused after a moment. */
import { expect, it } from 'vitest'
import { startRecorder } from './recorded.ts'

const CALLS = 20_000

it('a range of 20,000 calls, each with a fault', { timeout: 120_000 }, async () => {
  const { sim, record } = await startRecorder({ webhook: {}, journalLimit: 100_000 })
  const chat = await sim.chat()
  await chat.press('handover')
  sim.faults.add({ on: { api: 'message' }, respond: { status: 500 } })
  const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, message: 'Hello' })
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const url = `${sim.url}/api/v2/handover/message/`
  for (let call = 0; call < CALLS; call++) {
    if (call % 2 === 0) await sim.fetch(url, { method: 'POST', headers, body })
    else await sim.fetch(`${sim.url}/api/v1/chats/${chat.id}`, { headers })
  }
  const begun = performance.now()
  const { status, body: answer } = await record({ reads: true })
  expect([status, answer.error.code]).toEqual([422, 'too_long'])
  // A second without other work; comparing each call with every other one took 10 s.
  expect(performance.now() - begun).toBeLessThan(4_000)
})
