/** `start --import` and `--export`: a state that outlives the process. */

import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { createSimulator } from '../../src/index.ts'
import type { Snapshot } from '../../src/platform/simulator/snapshot/schema.ts'
import { folderWith } from '../config/folder.ts'
import { startWebhook } from '../support/network.ts'
import { fakeIo } from './fake-io.ts'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Snapshot

function begin(folder: string, ...argv: string[]) {
  const io = fakeIo(folder)
  const code = main(['start', '--port', '0', '--output', 'quiet', ...argv], {}, io)
  const url = io.stdout.until(/Ready: /).then(text => /http:\S+/.exec(text)![0])
  const stop = async (signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM') => {
    io.signal(signal)
    return code
  }
  return { io, code, url, stop }
}

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('what one leaves behind on %s another begins with', async (signal, expected) => {
  const folder = folderWith()
  const first = begin(folder, '--seed', '5', '--clock', 'virtual', '--export', 'deep/er/state.json')
  await post(`${await first.url}/_sim/chats`, { id: 'ada' })
  await post(`${await first.url}/_sim/chats/ada/messages`, { text: 'Hello' })
  await post(`${await first.url}/_sim/clock/advance`, { by: '1h' })
  expect(await first.stop(signal)).toBe(expected)
  expect(readdirSync(join(folder, 'deep/er'))).toEqual(['state.json'])

  const second = begin(
    folder,
    '--import',
    'deep/er/state.json',
    '--export',
    'deep/er/state.json',
    '--set',
    'bot.delay=1s',
  )
  const state = await (await fetch(`${await second.url}/_sim/state`)).json()
  expect(state).toMatchObject({
    chats: [{ chat_id: 'ada' }],
    config: { seed: 5, 'bot.delay': '1s' },
    clock: { mode: 'virtual', now: '2024-01-01T10:00:00.000000Z' },
  })
  expect(await second.stop(signal)).toBe(expected)
  const { chats, config } = read(join(folder, 'deep/er/state.json'))
  expect(chats[0]!.messages[0]!.text).toBe('Hello')
  expect(config['bot.delay']).toBe('1s')
})

test('writes the snapshot at the second signal, too', async () => {
  const folder = folderWith()
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  await using hook = await startWebhook((_, response) => void enough.then(() => response.end()))
  const { io, url, code } = begin(folder, '--export', 'state.json', '--webhook-url', hook.url)
  await post(`${await url}/_sim/chats`, { id: 'ada' })
  await post(`${await url}/_sim/chats/ada/press`, { button: 'handover' })
  io.signal('SIGINT')
  io.signal('SIGINT')
  expect(io.exits).toEqual([130])
  expect(read(join(folder, 'state.json'))).toMatchObject({ chats: [{ id: 'ada' }], deliveries: [{ attempt: 1 }] })
  resolve()
  await code
  expect(read(join(folder, 'state.json')).chats).toHaveLength(1)
})

test('sends an undelivered event when the port is open', async () => {
  const sim = createSimulator({ clock: 'real', webhook: { fetch: () => new Promise<Response>(() => {}) } })
  const chat = await sim.chat({ id: 'ada' })
  void chat.press('handover').catch(() => {})
  const folder = folderWith()
  writeFileSync(join(folder, 'state.json'), JSON.stringify(sim.snapshot()))
  await sim.close()
  let answered = ''
  const { promise, resolve } = Promise.withResolvers<void>()
  const server: { url?: Promise<string> } = {}
  await using hook = await startWebhook(async (_, response) => {
    response.end()
    answered = String((await fetch(`${await server.url}/_sim/readyz`)).status)
    resolve()
  })
  const { url, stop } = begin(folder, '--import', 'state.json', '--webhook-url', hook.url)
  server.url = url
  await promise
  expect([hook.bodies.length, answered]).toEqual([1, '200'])
  await stop()
})

describe('is refused before the simulator starts', () => {
  const good = () => JSON.stringify(createSimulator({ seed: 5 }).snapshot())
  const rows: [string, string, string[], RegExp][] = [
    ['no file', '', ['--import', 'none.json'], /--import: cannot read "none\.json"/],
    ['no JSON', '{', ['--import', 'f.json'], /--import: "f\.json" is not JSON/],
    ['no object', '3', ['--import', 'f.json'], /"f\.json" is not a snapshot/],
    ['another version', '{"v":2}', ['--import', 'f.json'], /--import "f\.json": This snapshot has version 2/],
    ['another seed', good(), ['--import', 'f.json', '--seed', '6'], /has seed 5, and --seed says 6: leave that out/],
    [
      'another clock',
      good(),
      ['--import', 'f.json', '--clock', 'real'],
      /taken on a virtual clock and this one is real/,
    ],
    [
      'nowhere to write',
      '',
      ['--export', 'f.json/below/state.json'],
      /--export: cannot write "f\.json\/below\/state\.json"/,
    ],
  ]
  test('more bytes than are read', async () => {
    const folder = folderWith()
    writeFileSync(join(folder, 'f.json'), '')
    truncateSync(join(folder, 'f.json'), 67_108_865)
    const io = fakeIo(folder)
    expect(await main(['start', '--port', '0', '--import', 'f.json'], {}, io)).toBe(2)
    expect(io.stderr.text).toBe('--import: cannot read "f.json": it has 67108865 bytes; at most 67108864 are read\n')
  })

  test.each(rows)('%s', async (_, text, argv, message) => {
    const folder = folderWith()
    writeFileSync(join(folder, 'f.json'), text)
    const io = fakeIo(folder)
    expect(await main(['start', '--port', '0', ...argv], {}, io)).toBe(2)
    expect(io.stderr.text).toMatch(message)
    expect(io.stdout.text).toBe('')
    expect(existsSync(join(folder, 'state.json'))).toBe(false)
  })
})
