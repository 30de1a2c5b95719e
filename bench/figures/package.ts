/** Measures the package and the process of the shipped command: size, start, memory. */
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { memoryMb, ROOT, runProcess, type Server } from '../processes.ts'
import { alternately, type Figures, fewer, load } from '../rounds.ts'
import { createRow } from '../rows.ts'
import { createChats, messageTo, startBare, startSimulator } from '../servers.ts'

async function millisecondsToAnswer(start: () => Promise<Server>): Promise<number> {
  const from = performance.now()
  await using server = await start()
  const response = await fetch(server.url)
  await response.text()
  const took = performance.now() - from
  if (!response.ok) throw new Error(`GET ${server.url} got ${response.status}`)
  return took
}

export const shipped: Figures = {
  async start(settings) {
    // Node writes its compile cache when a process ends by itself.
    const { child } = await startSimulator(settings, [])
    child.kill('SIGTERM')
    await once(child, 'exit')
    const sides = [() => startBare(settings), () => startSimulator(settings, [])]
    const [yardstick, ours] = await alternately(fewer(settings, 21, 2), sides, millisecondsToAnswer)
    return [createRow('start to the first 2xx', 'ms', ours!, ['ratio', '<=', 1.4], yardstick)]
  },

  /** What npm installs: the files of the package, and zod. */
  async size() {
    const packed = await runProcess(['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'], null)
    const [{ unpackedSize }] = JSON.parse(packed) as [{ unpackedSize: number }]
    const zod = join(ROOT, 'node_modules/zod')
    const files = readdirSync(zod, { recursive: true, encoding: 'utf8' }).map(file => statSync(join(zod, file)))
    const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), unpackedSize)
    return [createRow('installed size', 'MiB', [bytes / 2 ** 20], ['value', '<=', 14.5])]
  },

  /** Memory changes little between runs, so there is one. The transcripts reach their bound after a few thousand messages. */
  async memory(settings) {
    await using server = await startSimulator(settings)
    await (await fetch(server.url)).text()
    const idle = memoryMb(server, 'VmRSS')
    const request = messageTo(await createChats(server, fewer(settings, 1000, 50), []), 'x'.repeat(10_000))
    const total = fewer(settings, 1_000_000, 10_000)
    for (let sent = 0; sent < total; ) sent += (await load(settings.seconds, { server, request })).requests
    const name = `memory after ${total} messages of 10 KB, most`
    return [
      createRow('memory, idle', 'MB', [idle], ['value', '<=', 65]),
      createRow(name, 'MB', [memoryMb(server, 'VmHWM')], ['value', '<=', 300]),
    ]
  },
}
