/** Sends work that is large but valid to the built command, and measures how long its event loop stands still. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { record } from './rounds.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Megabytes of messages in the chat. */
const SIZE_MB = process.env.ATTACK_MINUTES === undefined ? 8 : 30

/** Of the processor, for one turn of the loop, on a machine that is busy with other tests. */
const LONGEST_STALL_MS = 150

/** Not the published keys: with keys of one's own, every text is searched for them. */
const KEYS = { handover: 'my-own-handover-key', bot: 'my-own-bot-key' }

interface Target {
  readonly url: string
  readonly child: ChildProcess
}

/** Starts the built command with the stall meter, from a snapshot. */
async function startCommand(snapshot: object): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'stalls-'))
  const file = join(folder, 'state.json')
  writeFileSync(file, JSON.stringify(snapshot))
  const meter = ['--import', fileURLToPath(new URL('stall-meter.mjs', import.meta.url))]
  const keys = ['--api-key', KEYS.handover, '--bot-api-key', KEYS.bot]
  const command = [...meter, `${ROOT}bin/handover-sim.js`, 'start', '--port', '0', '--import', file, ...keys]
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { url: String(line).replace('Ready: ', '').trim(), child }
}

/** Runs work that must succeed. */
async function expectNoStall({ child }: Target, tried: string, work: () => Promise<unknown>): Promise<void> {
  child.send('start')
  await work()
  child.send('read')
  const [{ longestMs }] = (await once(child, 'message')) as [{ longestMs: number }]
  record({ part: 'stalls', tried, count: 1, survived: 1, worstMs: longestMs, memoryMb: null })
  expect(longestMs, tried).toBeLessThan(LONGEST_STALL_MS)
}

/** Reads an answer as it arrives. */
async function read(url: string, init: RequestInit = {}, status = 200): Promise<string> {
  const response = await fetch(url, init)
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body ?? []) chunks.push(chunk)
  expect(response.status).toBe(status)
  return Buffer.concat(chunks).toString('latin1')
}

const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Bearer ${KEYS.handover}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const MESSAGE_CHARS = 440

/** The snapshot of a simulator with one chat of many messages and two files, one of them described and one uploaded. */
async function largeSnapshot() {
  const sim = createSimulator({ clock: 'virtual' })
  const chat = await sim.chat({ id: 'c1', history: [{ user: 'Hello' }] })
  const described = { name: 'film.bin', type: 'video/mp4', size_kb: 102_400 }
  const uploaded = { name: 'data.bin', type: 'application/octet-stream', bytes: new Uint8Array(SIZE_MB * 500_000) }
  await chat.says('', { attach: [described, uploaded] })
  const [file] = chat.transcript.flatMap(({ attachments }) => attachments)
  const { chats, ...snapshot } = sim.snapshot()
  const [row] = chats
  const [first] = row!.messages
  const text = 'parcel æøå '.repeat(MESSAGE_CHARS / 11)
  const count = Math.round((SIZE_MB * 1e6) / MESSAGE_CHARS)
  const further = Array.from({ length: count }, (_, at) => ({ ...first!, id: `m${at}`, text: `${at} ${text}` }))
  const messages = [...further, ...row!.messages]
  sim.close()
  return {
    snapshot: { ...snapshot, chats: [{ ...row, messages }] },
    path: new URL(file!.url).pathname,
    botId: sim.botId,
  }
}

test('reading a large transcript or file does not stall the server', async () => {
  const { snapshot, path, botId } = await largeSnapshot()
  const target = await startCommand(snapshot)
  const { url } = target
  const noStall = (tried: string, work: () => Promise<unknown>) => expectNoStall(target, tried, work)
  // The first request loads the control API.
  await read(`${url}/_sim/config`)
  const size = `${SIZE_MB} MB`
  await noStall(`transcript of ${size}`, () =>
    read(`${url}/api/v2/handover/transcript`, post({ bot_id: botId, chat_id: 'c1' })),
  )
  await noStall(`chat of ${size}`, () =>
    read(`${url}/api/v1/chats/c1`, { headers: { authorization: `Bearer ${KEYS.bot}` } }),
  )
  await noStall('generated file of 100 MB', async () => expect(await read(url + path)).toHaveLength(104_857_600))
  await noStall('HEAD of a generated file of 100 MB', () => read(url + path, { method: 'HEAD' }))
})
