/** What `start` shows of many calls, and that its end loses none of them. */
import { expect, it } from 'vitest'
import { receiver } from '../webhooks/receiver.ts'
import { started } from './fake-io.ts'

const CALLS = 300

/** Starts a chat with an agent, makes calls that are accepted at once, and then three calls for an unknown chat. */
async function startWithCalls(...flags: string[]) {
  const simulator = await started(flags)
  const headers = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' }
  const post = (path: string, body: object) =>
    fetch(simulator.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const { chat_id } = (await (await post('/_sim/chats', {})).json()) as { chat_id: string }
  await post('/api/v2/handover/start', { bot_id: 1042, chat_id, sender: { name: 'Anna' } })
  const stop = (id: string) => post('/api/v2/handover/typing_stop', { bot_id: 1042, chat_id: id })
  const statuses = await Promise.all(Array.from({ length: CALLS }, async () => (await stop(chat_id)).status))
  expect(new Set(statuses)).toEqual(new Set([200]))
  for (let count = 0; count < 3; count++) expect((await stop('none')).status).toBe(404)
  return { ...simulator, post, chat_id }
}

/** The numbers before `calls` in the lines of what is not shown. */
const hiddenCalls = (text: string): number =>
  [...text.matchAll(/not shown +([\d,]+) calls?/g)].reduce((sum, [, count]) => sum + Number(count!.replace(',', '')), 0)
const shownCalls = (text: string): number => text.match(/POST typing_stop/g)?.length ?? 0

it.each(['pretty', 'compact'])('%s counts what it does not show, and shows every refused call', async style => {
  const { io, stop } = await startWithCalls('--output', style)
  expect(await stop()).toBe(130)
  const { text } = io.stderr
  expect(hiddenCalls(text)).toBeGreaterThan(0)
  expect(hiddenCalls(text) + shownCalls(text)).toBe(CALLS + 3)
  expect(text.match(/404 +chat_not_found/g)).toHaveLength(3)
  expect(io.stdout.lines).toHaveLength(1)
})

it('a second signal loses no count', async () => {
  const silent = await receiver(() => {})
  const { io, post, chat_id, code } = await startWithCalls('--webhook-url', silent.url)
  await post(`/_sim/chats/${chat_id}/messages`, { text: 'Hello' })
  io.signal('SIGINT')
  io.signal('SIGINT')
  expect(io.exits).toEqual([130])
  const { text } = io.stderr
  expect(hiddenCalls(text) + shownCalls(text)).toBe(CALLS + 3)
  await code
})

it('--json prints every entry in order', async () => {
  const { io, stop } = await startWithCalls('--json')
  expect(await stop()).toBe(130)
  const entries = io.stdout.lines.slice(1).map(line => JSON.parse(line) as { seq: number; endpoint?: string })
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, at) => at + 1))
  expect(entries.filter(({ endpoint }) => endpoint === 'typing_stop')).toHaveLength(CALLS + 3)
})
