/** `start --import` and `--export`: a state that outlives the process. */
import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { Snapshot } from '../../src/platform/simulator/snapshot/schema.ts'
import { folderWith } from '../config/folder.ts'
import { startWebhook } from '../support/network.ts'
import { fakeIo, runCommand, started } from './fake-io.ts'

const read = (folder: string, file = 'state.json') => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Snapshot

const post = (url: string, body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) })

test('what one leaves behind another begins with', async () => {
  const folder = folderWith()
  const file = 'deep/er/state.json'
  const start = (...flags: string[]) => started(['--export', file, ...flags], {}, fakeIo(folder))
  const first = await start('--seed', '5', '--clock', 'virtual')
  await post(`${first.url}/_sim/chats`, { id: 'ada' })
  await post(`${first.url}/_sim/chats/ada/messages`, { text: 'Hello' })
  await post(`${first.url}/_sim/clock/advance`, { by: '1h' })
  first.io.signal('SIGTERM')
  expect(await first.code).toBe(143)
  expect(readdirSync(join(folder, 'deep/er'))).toEqual(['state.json'])

  const second = await start('--import', file, '--set', 'bot.delay=1s')
  expect(await (await fetch(`${second.url}/_sim/state`)).json()).toMatchObject({
    chats: [{ chat_id: 'ada' }],
    config: { seed: 5, 'bot.delay': '1s' },
    clock: { mode: 'virtual', now: '2024-01-01T10:00:00.000000Z' },
  })
  expect(await second.stop()).toBe(130)
  const { chats, config } = read(folder, file)
  expect([chats[0]!.messages[0]!.text, config['bot.delay']]).toEqual(['Hello', '1s'])
})

test('the snapshot is written at the second signal, too', async () => {
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  await using hook = await startWebhook((_, response) => void enough.then(() => response.end()))
  const { io, url, code } = await started(['--export', 'state.json', '--webhook-url', hook.url])
  await post(`${url}/_sim/chats`, { id: 'ada' })
  await post(`${url}/_sim/chats/ada/press`, { button: 'handover' })
  io.signal('SIGINT')
  io.signal('SIGINT')
  expect(io.exits).toEqual([130])
  expect(read(io.cwd)).toMatchObject({ chats: [{ id: 'ada' }], deliveries: [{ attempt: 1 }] })
  resolve()
  await code
  expect(read(io.cwd).chats).toHaveLength(1)
})

test('an undelivered event is sent when the port is open', async () => {
  const sim = createSimulator({ clock: 'real', webhook: { fetch: () => new Promise<Response>(() => {}) } })
  const chat = await sim.chat({ id: 'ada' })
  void chat.press('handover').catch(() => {})
  const io = fakeIo(folderWith({ 'state.json': JSON.stringify(sim.snapshot()) }))
  await sim.close()
  const { promise: answered, resolve } = Promise.withResolvers<number>()
  const platform = Promise.withResolvers<string>()
  await using hook = await startWebhook(async (_, response) => {
    response.end()
    resolve((await fetch(`${await platform.promise}/_sim/readyz`)).status)
  })
  const { url, stop } = await started(['--import', 'state.json', '--webhook-url', hook.url], {}, io)
  platform.resolve(url)
  expect([await answered, hook.bodies.length]).toEqual([200, 1])
  await stop()
})

const good = () => JSON.stringify(createSimulator({ seed: 5 }).snapshot())
const deep = `{"v":1,"chats":${'['.repeat(300)}${']'.repeat(300)}}`

test.each<[string, () => string, string, RegExp]>([
  ['no file', () => '', '--import none.json', /--import: cannot read "none\.json"/],
  ['no JSON', () => '{', '--import f.json', /--import: "f\.json" is not JSON/],
  ['no object', () => '3', '--import f.json', /"f\.json" is not a snapshot/],
  ['another version', () => '{"v":2}', '--import f.json', /--import "f\.json": This snapshot has version 2/],
  ['another seed', good, '--import f.json --seed 6', /has seed 5, and --seed says 6: leave that out/],
  ['another clock', good, '--import f.json --clock real', /taken on a virtual clock and this one is real/],
  ['deep nesting', () => deep, '--import f.json', /"f\.json": The snapshot is nested more than 256 levels deep\.\n$/],
  ['nowhere to write', () => '', '--export f.json/x/state.json', /--export: cannot write "f\.json\/x\/state\.json"/],
])('is refused before the simulator starts: %s', async (_, text, flags, message) => {
  const argv = ['start', '--port', '0', ...flags.split(' ')]
  const { code, out, err, cwd } = await runCommand(argv, { files: { 'f.json': text() } })
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(message)
  expect(existsSync(join(cwd, 'state.json'))).toBe(false)
})

test('more bytes than are read are refused', async () => {
  const cwd = folderWith({ 'f.json': '' })
  truncateSync(join(cwd, 'f.json'), 67_108_865)
  const { code, err } = await runCommand(['start', '--port', '0', '--import', 'f.json'], { cwd })
  expect([code, err]).toEqual([2, '--import: cannot read "f.json": it has 67108865 bytes; at most 67108864 are read\n'])
})
