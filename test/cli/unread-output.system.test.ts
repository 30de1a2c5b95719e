/** Runs the built command with pipes that nothing reads: it drops output, and a signal ends it with its child processes. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { processRuns } from '../../src/base/runtime/node.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { fakeOutput } from './fake-io.ts'
import { BIN } from './program.ts'

const READY = 'ready.json'

/** Starts a command whose pipes are not read until the test reads them. */
function startUnread(argv: readonly string[], files: Record<string, string> = {}) {
  const cwd = folderWith(files)
  const env = { PATH: process.env.PATH }
  const child = spawn(process.execPath, [BIN, ...argv], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, folder: cwd, exited: new Promise<number | null>(resolve => child.on('exit', resolve)) }
}

async function readyLine({ folder }: { readonly folder: string }) {
  const file = join(folder, READY)
  await expect.poll(() => existsSync(file)).toBe(true)
  return JSON.parse(readFileSync(file, 'utf8')) as { url: string; webhookUrl: string }
}

const post = async (url: string, body: object) => {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return (await response.json()) as { chat_id: string }
}

/** Sends user messages of 40 kB; each becomes two journal entries or more. */
async function sendMessages(url: string, count: number): Promise<void> {
  const { chat_id } = await post(`${url}/_sim/chats`, {})
  const message = { text: 'x'.repeat(40_000) }
  for (let index = 0; index < count; index++) await post(`${url}/_sim/chats/${chat_id}/messages`, message)
}

const MAX_UNREAD_BYTES = 8 * 1_048_576

describe('output that nothing reads', () => {
  it('is dropped beyond 8 MiB, with one notice when it is read', async () => {
    const started = startUnread(['start', '--port', '0', '--json', '--ready-file', READY])
    const { url } = await readyLine(started)
    await sendMessages(url, 400)
    const { next_seq } = (await (await fetch(`${url}/_sim/journal?limit=1`)).json()) as { next_seq: number }
    const { child, exited } = started
    const [stdout, stderr] = [fakeOutput(), fakeOutput()]
    child.stderr.setEncoding('utf8').on('data', stderr.write)
    child.stdout.setEncoding('utf8').on('data', stdout.write)
    const notice = /^(\d+) lines of stdout were dropped because nothing read the output\.$/m
    const dropped = Number(notice.exec(await stderr.until(notice))![1])
    expect(stdout.lines.length + dropped).toBe(next_seq)
    expect(stdout.text.length).toBeLessThan(MAX_UNREAD_BYTES * 1.25)
    await post(`${url}/_sim/chats`, {})
    await stdout.until(new RegExp(`"seq":${next_seq}\\b`))
    expect(stderr.text.match(/dropped/g)).toHaveLength(1)
    child.kill('SIGTERM')
    expect(await exited).toBe(143)
  })

  /** The commands run at the same time, because each takes some seconds. */
  it('does not keep the process or its children alive after a signal', async () => {
    await Promise.all([stopsDemo(), stopsRun()])
  })
})

async function stopsDemo(): Promise<void> {
  const started = startUnread(['start', '--port', '0', '--demo', '--json', '--ready-file', READY])
  const { url, webhookUrl } = await readyLine(started)
  await sendMessages(url, 30)
  started.child.kill('SIGHUP')
  expect(await started.exited).toBe(129)
  expect(existsSync(join(started.folder, READY))).toBe(false)
  await expect(fetch(webhookUrl)).rejects.toThrow()
}

/** Ignores SIGTERM, and prints without end. */
const DEAF = `import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
process.on('SIGTERM', () => {})
setInterval(() => console.log('x'.repeat(10_000)), 1)
createServer((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1', () => writeFileSync('pid', String(process.pid)))`

const driver = (port: number) => `http: http://127.0.0.1:${port}
accept: { POST: /accept }
target:
  start: [${JSON.stringify(process.execPath)}, deaf.mjs]
  env: { PORT: "${port}" }
  ready: http://127.0.0.1:${port}/health
  stop_timeout: 10m
`

const SCENARIO = 'version: 1\nname: waits\nsteps: [{ press: handover }, { expect: { start: {}, within: 10m } }]\n'

async function stopsRun(): Promise<void> {
  const port = await freePort()
  const files = { 'deaf.mjs': DEAF, 'driver.yaml': driver(port), 'waits.yaml': SCENARIO }
  const argv = ['run', 'waits.yaml', '--port', '0', '--agent-driver', 'driver.yaml']
  const started = startUnread([...argv, '--target', `http://127.0.0.1:${port}/webhook`], files)
  const file = join(started.folder, 'pid')
  await expect.poll(() => existsSync(file)).toBe(true)
  const pid = Number(readFileSync(file, 'utf8'))
  started.child.kill('SIGTERM')
  expect(await started.exited).toBe(143)
  await expect.poll(() => processRuns(pid)).toBe(false)
}
