/** Measures what `handover-sim proxy` adds to a call: beside a relay that passes bytes on and reads none of them. */
import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, startProcess, workerFile } from '../processes.ts'
import { measureAlternately } from '../rounds.ts'
import { createRow, type Row, valueBelow } from '../rows.ts'
import { messageTo, type Server, startBare } from '../servers.ts'
import type { Settings } from '../settings.ts'

/** Some hundred calls a second: a busy intermediary, and no queue before the proxy. */
const CONNECTIONS = 8
const PAUSE_MS = 10

export async function proxy(settings: Settings): Promise<Row[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  await using platform = await startBare(settings)
  await using relay = await startRelay(settings, platform)
  await using recording = await startRecording(settings, platform, folder.path)
  const request = messageTo(Array.from({ length: 50 }, (_, index) => `chat-${String(index).padStart(4, '0')}`))
  const side = { request, connections: CONNECTIONS, pauseMs: PAUSE_MS }
  const sides = [relay, recording].map(server => ({ server, ...side }))
  const [bare = [], ours = []] = await measureAlternately(sides, settings)
  const row = { figure: 'proxy', unit: 'ms', values: ours.map(({ p99Ms }) => p99Ms) }
  return [
    createRow({ ...row, name: 'a call through the proxy, p99', yardstick: bare.map(({ p99Ms }) => p99Ms) }),
    createRow({
      ...row,
      name: 'a call through the proxy, p99 beyond that of a bare relay',
      values: ours.map(({ p99Ms }, round) => p99Ms - (bare[round]?.p99Ms ?? Number.NaN)),
      goal: valueBelow(2),
    }),
  ]
}

async function startRelay({ node }: Settings, platform: Server): Promise<Server> {
  const started = await startProcess([node, workerFile('relay.cjs'), String(platform.port)])
  const { port } = JSON.parse(started.line) as { port: number }
  return { ...started, url: `http://127.0.0.1:${port}`, port }
}

async function startRecording({ node }: Settings, platform: Server, folder: string): Promise<Server> {
  const addresses = [
    '--upstream',
    platform.url,
    '--webhook-url',
    platform.url,
    '--journal',
    join(folder, 'journal.jsonl'),
  ]
  const command = [node, `${ROOT}bin/handover-sim.js`, 'proxy', '--port', '0', '--output', 'quiet', ...addresses]
  const started = await startProcess(command, { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = started.line.replace('Ready: ', '').trim()
  return { ...started, url, port: Number(new URL(url).port) }
}
