/** Sends long series of requests to the built command, and checks that its memory is bounded. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AGENT } from '../support/chats.ts'
import { type RawRequest, sendRaw } from './attacked-server.ts'
import { record, rounds, startAttack } from './rounds.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Of a long series of requests, which fills journal and transcripts, and of large bodies, which also need room to be parsed. */
const LIMIT_MB = { series: 300, large: 400 }

interface Target {
  readonly port: number
  readonly chatId: string
  /** Resident memory of the server, now and at its highest, in MB. */
  memory(): { now: number; peak: number }
}

const SIZES = { now: /VmRSS:\s+(\d+) kB/, peak: /VmHWM:\s+(\d+) kB/ }

function readMemory(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = (size: RegExp) => Math.round((Number(size.exec(status)![1]) * 1024) / 1e6)
  return { now: mb(SIZES.now), peak: mb(SIZES.peak) }
}

/** Starts the built command in a process of its own, with one chat. */
async function startCommand(): Promise<Target> {
  const command = [`${ROOT}bin/handover-sim.js`, 'start', '--port', '0', '--output', 'quiet']
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', chunk => resolve(String(chunk)))
    child.once('exit', code => reject(new Error(`The command ended with exit code ${code}`)))
  })
  const { href, port } = new URL(line.replace('Ready: ', '').trim())
  const response = await fetch(`${href}_sim/chats`, { method: 'POST' })
  const { chat_id: chatId } = (await response.json()) as { chat_id: string }
  return { port: Number(port), chatId, memory: () => readMemory(child.pid!) }
}

const HEADERS = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' }
const bodyOf = ({ chatId }: Target, fields: object) => ({ bot_id: 1042, chat_id: chatId, ...fields })

/** Sends one body many times from a process of its own, which expects success. Returns the longest time of an answer. */
async function sendMany({ port }: Target, name: string, body: object, requests: number): Promise<number> {
  const headers = Object.entries({ host: 'localhost', ...HEADERS }).map(([key, value]) => `${key}: ${value}\r\n`)
  const head = `POST /api/v2/handover/${name} HTTP/1.1\r\n${headers.join('')}`
  const job = { port, requests, connections: 50, head, body: JSON.stringify(body) }
  const load = spawn(process.execPath, [`${ROOT}test/attack/send-load.ts`, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = Buffer.concat(await load.stdout.toArray()).toString()
  return (JSON.parse(output) as { max: number }).max
}

const MEBIBYTE = 2 ** 20
const repeat = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length))

/** Bodies of almost 1 MiB, the default limit, that cost much when they are parsed, checked or stored. */
const HEAVY: Readonly<Record<string, (target: Target) => { name: string; body: string }>> = {
  'unknown keys': target => ({ name: 'typing_stop', body: withFields(target, manyKeys(MEBIBYTE - 200)) }),
  'wrong buttons': target => ({
    name: 'message/',
    body: withFields(target, `"message":"x","buttons":[${repeat('1,', MEBIBYTE - 200)}1]`),
  }),
  'long messages': target => ({
    name: 'message/',
    body: withFields(target, `"message":"${repeat('x', MEBIBYTE - 200)}"`),
  }),
  'one long key': target => ({ name: 'typing_stop', body: withFields(target, `"${repeat('k', MEBIBYTE - 200)}":1`) }),
}

const withFields = (target: Target, fields: string) => `${JSON.stringify(bodyOf(target, {})).slice(0, -1)},${fields}}`

function manyKeys(bytes: number): string {
  const fields: string[] = []
  for (let length = 0; length < bytes; length += fields.at(-1)!.length + 1) fields.push(`"${fields.length}":1`)
  return fields.slice(0, -1).join(',')
}

const request = (name: string, body: string): RawRequest => ({
  method: 'POST',
  path: `/api/v2/handover/${name}`,
  headers: HEADERS,
  body: new TextEncoder().encode(body),
})

/** The status of a new event stream, which is closed at once. A server has at most 100 of them. */
async function openStream({ port }: Target): Promise<number> {
  const { status, body } = await fetch(`http://127.0.0.1:${port}/_sim/events`)
  await body?.cancel()
  return status
}

describe.runIf(existsSync('/proc/self/status'))('memory', () => {
  test.each([
    ['messages of 10 KB', 'message/', { message: 'x'.repeat(10_000), sender: AGENT }, 12_000],
    ['small calls', 'typing_stop', {}, 10_000],
  ])('is bounded over a long series of %s', async (tried, name, fields, usual) => {
    const target = await startCommand()
    const count = rounds(usual)
    const before = target.memory().now
    const worstMs = await sendMany(target, name, bodyOf(target, fields), count)
    const { now, peak } = target.memory()
    record({ part: 'memory', tried, count, survived: count, worstMs, memoryMb: [before, now] })
    expect(peak).toBeLessThan(LIMIT_MB.series)
  })

  test('is bounded while 100 event streams are not read', async () => {
    const target = await startCommand()
    const streams = Array.from({ length: 100 }, () => connect(target.port, '127.0.0.1').on('error', () => {}))
    for (const stream of streams) stream.pause().write('GET /_sim/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const count = rounds(600)
    const before = target.memory().now
    const worstMs = await sendMany(target, 'message/', bodyOf(target, { message: 'x'.repeat(30_000) }), count)
    const { now, peak } = target.memory()
    record({
      part: 'memory',
      tried: 'messages while 100 event streams are not read',
      count,
      survived: count,
      worstMs,
      memoryMb: [before, now],
    })
    expect(peak).toBeLessThan(LIMIT_MB.large)
    for (const stream of streams) stream.destroy()
    await expect.poll(() => openStream(target)).toBe(200)
  })

  test.each(Object.keys(HEAVY))('is bounded over a series of large bodies with %s', async tried => {
    const target = await startCommand()
    const attempt = startAttack('memory', `bodies of 1 MiB with ${tried}`, () => target.memory().now)
    const { name, body } = HEAVY[tried]!(target)
    const one = request(name, body)
    for (let round = 0; round < rounds(20); round++) {
      const { status } = await attempt(() => sendRaw(target.port, one))
      expect(status).toBeLessThan(500)
    }
    expect(target.memory().peak).toBeLessThan(LIMIT_MB.large)
  })
})
