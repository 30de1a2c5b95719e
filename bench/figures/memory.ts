/** Resident memory idle and after a million requests, and the bytes one stored message takes. */
import { type Figure, load, messageTo, type Started, start } from '../process.ts'

const MILLION = 1_000_000
const MESSAGES = 100_000

function memory({ process: child }: Started): Promise<{ rss: number; heapUsed: number }> {
  return new Promise(resolve => {
    child.once('message', message => resolve(message as { rss: number; heapUsed: number }))
    child.send('memory')
  })
}
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`

export async function memoryUse(): Promise<Figure[]> {
  await using bare = await start(0, 'bare-server.mjs')
  await using ours = await start(0, 'sim-server.ts', [], ['--expose-gc'])
  const idle = await memory(ours)
  load({
    port: ours.line.port,
    requests: MILLION,
    path: '/api/v2/handover/typing_stop',
    body: { bot_id: 1042, chat_id: ours.line.chat },
  })
  const after = await memory(ours)
  load({ port: bare.line.port, requests: MILLION / 10, body: messageTo('x') })
  const before = await memory(ours)
  load({ port: ours.line.port, requests: MESSAGES, body: messageTo(ours.line.chat) })
  const stored = ((await memory(ours)).heapUsed - before.heapUsed) / MESSAGES
  return [
    { name: 'memory idle', value: mb(idle.rss), yardstick: '', ratio: '', goal: '<= 80 MB' },
    { name: 'memory after 1M typing_stop', value: mb(after.rss), yardstick: '', ratio: '', goal: '<= 200 MB' },
    { name: 'per stored message', value: `${stored.toFixed(0)} bytes`, yardstick: '', ratio: '', goal: '' },
  ]
}
