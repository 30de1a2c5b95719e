/** Measures the resident memory of the command, idle and after a million requests, and the heap per stored message. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type Figure, load, messageTo, type Started, start } from '../process.ts'

const root = new URL('../..', import.meta.url).pathname
const MILLION = 1_000_000
const MESSAGES = 100_000
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`

/** Reads VmRSS from /proc, which exists on Linux only. */
function residentBytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

async function newChat(url: string): Promise<string> {
  const response = await fetch(`${url}/_sim/chats`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  return ((await response.json()) as { chat_id: string }).chat_id
}

async function resident(): Promise<Figure[]> {
  const child = spawn(process.execPath, [`${root}bin/handover-sim.js`, 'start', '--port', '0', '--output', 'quiet'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const url = await new Promise<string>(resolve =>
    child.stdout.once('data', chunk => resolve(String(chunk).replace('Ready: ', '').trim())),
  )
  const idle = residentBytes(child.pid)
  const chat = await newChat(url)
  load({
    port: Number(new URL(url).port),
    requests: MILLION,
    path: '/api/v2/handover/typing_stop',
    body: { bot_id: 1042, chat_id: chat },
  })
  const after = residentBytes(child.pid)
  child.kill('SIGKILL')
  return [
    { name: 'memory idle', value: mb(idle), baseline: '', ratio: '', goal: '<= 80 MB' },
    { name: 'memory after 1M typing_stop', value: mb(after), baseline: '', ratio: '', goal: '<= 200 MB' },
  ]
}

function heapUsed({ process: child }: Started): Promise<number> {
  return new Promise(resolve => {
    child.once('message', message => resolve((message as { heapUsed: number }).heapUsed))
    child.send('memory')
  })
}

/** Fills the journal before the first reading, so that only the chat grows between the two readings. */
async function perMessage(): Promise<Figure> {
  await using ours = await start(0, 'sim-server.mjs', [], ['--expose-gc'])
  const send = () => load({ port: ours.line.port, requests: MESSAGES, body: messageTo(ours.line.chat) })
  send()
  const before = await heapUsed(ours)
  send()
  const bytes = ((await heapUsed(ours)) - before) / MESSAGES
  return { name: 'memory per stored message', value: `${bytes.toFixed(0)} bytes`, baseline: '', ratio: '', goal: '' }
}

export async function memoryUse(): Promise<Figure[]> {
  return [...(await resident()), await perMessage()]
}
