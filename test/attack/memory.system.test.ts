/** Sends long series of requests to the built command, and checks that its memory is bounded. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AGENT } from '../support/chats.ts'
import { inParallel, sendRaw } from './attacked-server.ts'
import { rounds } from './rounds.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Of a long series of requests, which fills journal and transcripts, and of large bodies, which also need room to be parsed. */
const LIMIT_MB = { series: 300, large: 400 }

/** Starts the built command in a process of its own, with one chat. */
async function startCommand() {
  const command = [`${ROOT}bin/handover-sim.js`, 'start', '--port', '0', '--output', 'quiet']
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  const { href, port } = new URL(String(line).replace('Ready: ', '').trim())
  const response = await fetch(`${href}_sim/chats`, { method: 'POST' })
  const { chat_id: chatId } = (await response.json()) as { chat_id: string }
  /** The highest resident memory of the server until now, in MB. */
  const peakMemory = () => {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))!
    return Math.round((Number(kilobytes) * 1024) / 1e6)
  }
  return { port: Number(port), chatId, peakMemory }
}
type Target = Awaited<ReturnType<typeof startCommand>>

const HEADERS = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' }
const MEBIBYTE = 2 ** 20
/** Almost 1 MiB, the default limit of a body. */
const repeat = (piece: string) => piece.repeat(Math.floor((MEBIBYTE - 200) / piece.length))

const manyKeys = () => Array.from({ length: 80_000 }, (_, index) => `"${index}":1`).join(',')

/** Sends one body many times, and expects that it is answered. `fields` are JSON, without braces. */
function sendMany({ port, chatId }: Target, name: string, fields: string, count: number, atOnce: number) {
  const body = `{"bot_id":1042,"chat_id":"${chatId}"${fields}}`
  const request = { method: 'POST', path: `/api/v2/handover/${name}`, headers: HEADERS, body }
  return inParallel(atOnce, Array(count).fill(request), async () =>
    expect((await sendRaw(port, request)).status).toBeLessThan(500),
  )
}

describe.runIf(existsSync('/proc/self/status'))('memory', () => {
  test('is bounded over a long series of messages of 100 KB, 300 MB in all', async () => {
    const target = await startCommand()
    const fields = `,"message":"${'x'.repeat(100_000)}","sender":${JSON.stringify(AGENT)}`
    await sendMany(target, 'message/', fields, rounds(3_000), 10)
    expect(target.peakMemory()).toBeLessThan(LIMIT_MB.series)
  })

  test.each([
    ['unknown keys', 'typing_stop', `,${manyKeys()}`],
    ['wrong buttons', 'message/', `,"message":"x","buttons":[${repeat('1,')}1]`],
    ['long messages', 'message/', `,"message":"${repeat('x')}"`],
    ['one long key', 'typing_stop', `,"${repeat('k')}":1`],
  ])('is bounded over a series of large bodies with %s', async (_, name, fields) => {
    const target = await startCommand()
    await sendMany(target, name, fields, rounds(20), 1)
    expect(target.peakMemory()).toBeLessThan(LIMIT_MB.large)
  })

  test('is bounded while 100 event streams are not read', async () => {
    const target = await startCommand()
    const streams = Array.from({ length: 100 }, () => connect(target.port, '127.0.0.1').on('error', () => {}))
    for (const stream of streams) stream.pause().write('GET /_sim/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await sendMany(target, 'message/', `,"message":"${'x'.repeat(30_000)}"`, rounds(600), 10)
    expect(target.peakMemory()).toBeLessThan(LIMIT_MB.large)
    for (const stream of streams) stream.destroy()
    // A server has at most 100 of them.
    const openStream = async () => {
      const { status, body } = await fetch(`http://127.0.0.1:${target.port}/_sim/events`)
      await body?.cancel()
      return status
    }
    await expect.poll(openStream).toBe(200)
  })
})
