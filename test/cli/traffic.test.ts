/** Runs the built command under load: what it shows of the traffic, and that its end loses nothing of it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BIN, startProgram } from './program.ts'

async function start(...flags: string[]) {
  const { child, stdout, stderr, code } = startProgram([process.execPath, BIN, 'start', '--port', '0', ...flags])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await stdout.until(/\n/))![0]
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { child, stdout, stderr, code, post }
}

type Started = Awaited<ReturnType<typeof start>>

async function newChat({ post }: Started): Promise<string> {
  const { chat_id } = (await (await post('/_sim/chats', {})).json()) as { chat_id: string }
  return chat_id
}

const CALLS = 300

/** Calls that are accepted, and then calls for a chat that does not exist. */
async function load({ post }: Started, chat_id: string, refused = 0): Promise<void> {
  const stop = (id: string) => post('/api/v2/handover/typing_stop', { bot_id: 1042, chat_id: id })
  const statuses = await Promise.all(Array.from({ length: CALLS }, async () => (await stop(chat_id)).status))
  expect(new Set(statuses)).toEqual(new Set([200]))
  for (let count = 0; count < refused; count++) expect((await stop('none')).ok).toBe(false)
}

/** The numbers before `calls` in the lines of what is not shown. */
const hiddenCalls = (text: string): number =>
  [...text.matchAll(/not shown +([\d,]+) calls?/g)].reduce((sum, [, count]) => sum + Number(count!.replace(',', '')), 0)
const shownCalls = (text: string): number => text.match(/POST typing_stop/g)?.length ?? 0

describe('start under load', () => {
  it.each(['pretty', 'compact'])(
    '%s: counts what it does not show, up to SIGINT, and shows every refused call',
    async style => {
      const started = await start('--output', style)
      const chat = await newChat(started)
      await started.post('/api/v2/handover/start', { bot_id: 1042, chat_id: chat, sender: { name: 'Anna' } })
      await load(started, chat, 3)
      started.child.kill('SIGINT')
      expect(await started.code).toBe(130)
      const { text } = started.stderr
      expect(hiddenCalls(text)).toBeGreaterThan(0)
      expect(hiddenCalls(text) + shownCalls(text)).toBe(CALLS + 3)
      expect(text.match(/404 +chat_not_found/g)).toHaveLength(3)
    },
  )

  it('quiet: shows only the refused calls', async () => {
    const started = await start('--output', 'quiet')
    const chat = await newChat(started)
    await started.post('/api/v2/handover/start', { bot_id: 1042, chat_id: chat, sender: { name: 'Anna' } })
    await load(started, chat, 3)
    started.child.kill('SIGINT')
    expect(await started.code).toBe(130)
    expect(started.stderr.text.match(/POST typing_stop/g)).toHaveLength(3)
    expect(started.stderr.text).not.toContain('not shown')
  })

  it('a second SIGINT loses no count', async () => {
    const started = await start('--webhook-url', await silentReceiver())
    const chat = await newChat(started)
    await started.post('/api/v2/handover/start', { bot_id: 1042, chat_id: chat, sender: { name: 'Anna' } })
    await started.post(`/_sim/chats/${chat}/messages`, { text: 'Hello' })
    await load(started, chat)
    started.child.kill('SIGINT')
    await started.stderr.until(/Shutting down/)
    started.child.kill('SIGINT')
    expect(await started.code).toBe(130)
    const { text } = started.stderr
    expect(hiddenCalls(text) + shownCalls(text)).toBe(CALLS)
  })

  it('continues when the reader of the log closes the pipe', async () => {
    const started = await start()
    started.child.stderr.destroy()
    const chat = await newChat(started)
    await started.post('/api/v2/handover/start', { bot_id: 1042, chat_id: chat, sender: { name: 'Anna' } })
    await load(started, chat)
    started.child.kill('SIGINT')
    expect(await started.code).toBe(130)
  })

  it('--json prints every entry in order, up to SIGINT', async () => {
    const started = await start('--json')
    const chat = await newChat(started)
    await started.post('/api/v2/handover/start', { bot_id: 1042, chat_id: chat, sender: { name: 'Anna' } })
    await load(started, chat)
    started.child.kill('SIGINT')
    expect(await started.code).toBe(130)
    const entries = started.stdout.lines.slice(1).map(line => JSON.parse(line) as { seq: number; endpoint?: string })
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, at) => at + 1))
    expect(entries.filter(({ endpoint }) => endpoint === 'typing_stop')).toHaveLength(CALLS)
  })
})

/** The URL of a webhook that never answers. */
async function silentReceiver(): Promise<string> {
  const server = createServer(() => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
