/** Records long conversations, several at once, and checks that the server answers others meanwhile. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { AGENT } from '../support/chats.ts'
import { type AttackedServer, callPlatform, playHandover, startAttackedServer } from './attacked-server.ts'
import { rounds, startAttack } from './rounds.ts'

/** A text of it costs much when it is written, read and filled in. */
const PIECE = '- $(x) "\n'
/** Just below what a recording may have. */
const CHARS = 390_000
const MESSAGES = 40
const AT_ONCE = 3
/** With recordings that held up others, it was 20 to 70; on two busy cores it is more than 1,000. */
const ANSWERS = 250

async function holdConversation({ server }: AttackedServer): Promise<string> {
  const chat = await server.chat()
  await chat.press('handover')
  await callPlatform(server, 'start', { chat_id: chat.id, sender: AGENT })
  const text = PIECE.repeat(CHARS / MESSAGES / PIECE.length)
  for (let count = 0; count < MESSAGES / 2; count++) {
    await chat.says(text)
    await callPlatform(server, 'message/', { chat_id: chat.id, message: text, sender: AGENT })
  }
  await callPlatform(server, 'end', { chat_id: chat.id })
  return chat.id
}

const post = (url: string, body: object, signal: AbortSignal | null = null) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), signal })

async function record(url: string, chatId: string) {
  const response = await post(`${url}/_sim/record`, { chat_ids: [chatId] })
  const { tried } = (await response.json()) as { tried: { outcome: string; duration_ms: number } }
  return tried
}

/** Asks again and again until the work is done, and counts the answers. */
async function countAnswers(url: string, work: Promise<unknown>): Promise<number> {
  let answers = 0
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    await (await fetch(`${url}/_sim/livez`)).text()
    answers++
  }
  return answers
}

test('others are answered while long conversations are recorded, one after the other', {
  timeout: 600_000,
}, async () => {
  const attacked = await startAttackedServer()
  const { url } = attacked.server
  const attempt = startAttack('recordings', 'three recordings of 390,000 characters at once')
  const id = await holdConversation(attacked)
  for (let round = 0; round < rounds(1); round++) {
    const begun = performance.now()
    const recordings = attempt(() => Promise.all(Array.from({ length: AT_ONCE }, () => record(url, id))))
    expect(await countAnswers(url, recordings)).toBeGreaterThan(ANSWERS)
    const trials = await recordings
    expect(trials.map(({ outcome }) => outcome)).toEqual(['pass', 'pass', 'pass'])
    expect(trials.reduce((ms, { duration_ms }) => ms + duration_ms, 0)).toBeLessThan(performance.now() - begun)
  }
  await playHandover(attacked)
})

test('a recording whose client has gone while it waited does not run', { timeout: 120_000 }, async () => {
  const folder = join(folderWith(), 'recorded')
  const { url } = await started(['--scenarios', folder, '--output', 'quiet'])
  const { chat_id: id } = (await (await post(`${url}/_sim/chats`, {})).json()) as { chat_id: string }
  await post(`${url}/_sim/chats/${id}/press`, { button: 'handover' })
  const gone = new AbortController()
  const save = (name: string, signal: AbortSignal | null = null) =>
    post(`${url}/_sim/record`, { name, save: true }, signal)
  const first = save('first')
  const second = save('second', gone.signal)
  // An answer to a later request: the server has the recordings.
  await fetch(`${url}/_sim/livez`)
  gone.abort()
  await expect(second).rejects.toThrow()
  expect([(await first).status, (await save('third')).status]).toEqual([200, 200])
  expect(readdirSync(folder)).toEqual(['first.yaml', 'third.yaml'])
})
