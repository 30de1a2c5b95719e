/** The built-in reference intermediary with its driver: a whole conversation, also across a hard restart. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { DriverContext } from '../../src/running/agent-driver/driver.ts'
import { referenceDriver } from '../../src/running/agent-driver/read-driver.ts'
import { never } from './desk.ts'

async function scene() {
  const sim = await startSimulator({ port: 0 })
  onTestFinished(() => sim.close())
  const { url, apiKey, botApiKey, botId } = sim
  const env = { PATH: process.env.PATH!, AGENT_NAME: 'Somebody else', STATE_FILE: '/nowhere/at/all' }
  const driver = await referenceDriver({ env, sim: { url, apiKey, botApiKey, botId } })
  onTestFinished(() => driver.close())
  await sim.configure({ 'webhook.url': driver.webhookUrl })
  const chat = await sim.chat({ language: 'en' })
  const about = { id: chat.id, user_id: 'u', language: 'en', source: 'web', name: '' }
  const context: DriverContext = { chat: about, sim: { url, api_key: apiKey, bot_id: botId } }
  return { sim, driver, chat, context }
}

/** Nothing when it is not there, or no longer: those of other tests come and go. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Where the intermediary that knows a chat keeps its state. */
function folderOf(chatId: string): string | undefined {
  const folders = readdirSync(tmpdir()).filter(name => name.startsWith('handover-sim-reference-'))
  const knows = (file: string) => textOf(file).includes(chatId)
  return folders.map(name => join(tmpdir(), name)).find(folder => knows(join(folder, 'state.json')))
}

it('handles a conversation, and after kill -9 has the same port and its chats', async () => {
  const { sim, driver, chat, context } = await scene()
  const does = async (verb: string, more: Partial<DriverContext> = {}) =>
    expect(await driver.call(verb, { ...context, ...more }, never)).toMatchObject({ outcome: 'ok' })
  const called = (endpoint: string) =>
    sim.journal.waitFor(entry => entry.kind === 'api' && (entry as { endpoint?: string }).endpoint === endpoint, {
      withinMs: 30_000,
    })
  await chat.press('handover')
  await does('accept')
  await called('start')
  await chat.says('Hello')
  const { url } = driver
  await driver.target!.kill()
  await driver.target!.start()
  expect(driver.url).toBe(url)
  // Between them is what was written before, if the transcript was read before the end.
  const { items = [] } = await driver.call('inbox', context, never)
  expect([items[0], items.at(-1)]).toMatchObject([{ request: true }, { text: 'Hello' }])
  await does('says', { text: 'Hi!' })
  await called('message')
  await does('leave')
  await called('end')
  expect(chat.transcript.map(({ text }) => text)).toContain('Hi!')
  expect(chat.transcript.map(({ name }) => name)).not.toContain('Somebody else')
})

it('leaves no process and no folder', async () => {
  const { driver, chat } = await scene()
  await chat.press('handover')
  const folder = folderOf(chat.id)!
  expect(existsSync(folder)).toBe(true)
  await driver.close()
  expect(driver.target!.running).toBe(false)
  expect(existsSync(folder)).toBe(false)
  await expect(fetch(driver.url)).rejects.toThrow()
})
