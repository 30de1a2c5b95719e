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

it('more text than a recording may have is refused at once, with the way to choose less', async () => {
  const { sim, record } = await startRecorder({ webhook: {} })
  const chat = await sim.chat()
  const text = 'Hello "$(x)": - a\n'.repeat(6_000)
  for (let count = 0; count < 4; count++) await chat.says(text)
  const { status, body } = await record()
  expect([status, body.error.code]).toEqual([422, 'too_long'])
  expect(body.error.message).toMatch(/have \d+ characters, and a recording has at most 400000: choose fewer chats/)
  // A part of them is recorded.
  const { seq } = sim.journal.query({ kind: 'user' }).at(-3)!
  expect((await record({ after: seq })).status).toBe(200)
})

it('so are long messages before the range, and other long parts', async () => {
  const { sim, record } = await startRecorder({ webhook: {} })
  const history = [{ user: 'x'.repeat(410_000) }]
  const chat = await sim.chat({ history })
  await chat.press('handover')
  const { status, body } = await record()
  expect([status, body.error.message]).toEqual([
    422,
    expect.stringMatching(/^The messages before the range have 410000/),
  ])
  const other = await sim.chat({ context: { order: 'x'.repeat(1_700_000) } })
  await other.press('handover')
  const { body: answer } = await record({ chat_ids: [other.id] })
  expect(answer.error.message).toMatch(
    /^The scenario has 17\d+ characters, and a recording has at most 1600000: choose/,
  )
})
