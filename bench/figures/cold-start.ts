/** Measures the time from spawn to the first 2xx of the built command and of a bare `node:http` server. */
import { spawn } from 'node:child_process'
import { type Figure, median } from '../process.ts'

const root = new URL('../..', import.meta.url).pathname
const ROUNDS = 21

async function once(args: string[], portOf: (line: string) => string, path: string): Promise<number> {
  const from = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const line = await new Promise<string>(resolve => child.stdout.once('data', chunk => resolve(String(chunk))))
  await (await fetch(`${portOf(line)}${path}`)).text()
  const took = performance.now() - from
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  return took
}

export async function coldStart(): Promise<Figure[]> {
  const bare: number[] = []
  const ours: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(
      await once([`${root}bench/workers/bare-server.mjs`], line => `http://127.0.0.1:${JSON.parse(line).port}`, '/'),
    )
    ours.push(
      await once(
        [`${root}bin/handover-sim.js`, 'start', '--port', '0'],
        line => line.replace('Ready: ', '').trim(),
        '/',
      ),
    )
  }
  const ratio = (median(ours) / median(bare)).toFixed(2)
  const value = `${median(ours).toFixed(0)} ms`
  return [{ name: 'cold start to first 2xx', value, baseline: `${median(bare).toFixed(0)} ms`, ratio, goal: '<= 1.5' }]
}
