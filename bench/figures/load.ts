/** Measures `handover-sim load`: many conversations that write, and many that wait, against the reference intermediary. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { memoryMb, ROOT } from '../processes.ts'
import { createRow, type Row, valueBelow } from '../rows.ts'
import { fewer, type Settings } from '../settings.ts'

const figure = 'load'

/** A conversation of 80 seconds, with ten texts of each side. */
const BUSY = `version: 1
name: Busy
timeouts: { scenario: 5m }
steps:
  - press: handover
  - agent: accept
  - expect: start
  - repeat:
      times: 10
      steps:
        - think: 7s..9s
        - user: Where is my parcel?
        - agent: { says: I look at it. }
        - expect: { message: { message: I look at it. } }
  - agent: leave
  - expect: end
`
const IDLE = `version: 1
name: Idle
timeouts: { scenario: 5m }
steps:
  - press: handover
  - agent: accept
  - expect: start
  - wait: 200s
`

interface Result {
  readonly most_active: number
  readonly all: { readonly timings: Record<string, { readonly count: number }> }
  readonly points: readonly {
    readonly at_s: number
    readonly active: number
    readonly ended: number
    readonly busy_share: number
    readonly loop_delay_ms: number
  }[]
}

export async function load(settings: Settings): Promise<Row[]> {
  const seconds = fewer(settings, 170, 10)
  const rate = 25
  const { result } = await runLoad(settings, BUSY, [`0..${rate}/s over 20s, ${rate}/s for 200s`, `${seconds}s`])
  // Those in which as many conversations end as begin.
  const steady = result.points.filter(({ at_s: at }) => at > seconds * 0.6 && at < seconds * 0.95)
  const row = (name: string, unit: string, values: readonly number[]) => ({ figure, unit, values, name })
  const texts = 20 * rate
  return [
    createRow(row(`conversations active at once, with ${texts} texts a second`, '', [result.most_active])),
    createRow({
      ...row(
        'how late its timers are meanwhile, p99',
        'ms',
        steady.map(point => point.loop_delay_ms),
      ),
      goal: valueBelow(20),
    }),
    createRow(
      row(
        'share of a core meanwhile',
        '%',
        steady.map(point => point.busy_share * 100),
      ),
    ),
    await idleMemory(settings),
  ]
}

async function idleMemory(settings: Settings): Promise<Row> {
  const count = fewer(settings, 10_000, 200)
  const { memory } = await runLoad(settings, IDLE, ['100/s', `${count / 100}s`, '--users', `${count}`], 5)
  return createRow({
    figure,
    name: `memory of ${count} conversations that wait`,
    unit: 'MB',
    values: [memory],
    goal: valueBelow(400),
  })
}

/** `stopAfterS`: ends it so long after the last arrival, and reads its memory before. */
async function runLoad(
  { node }: Settings,
  scenario: string,
  [arrivals = '', duration = '', ...more]: readonly string[],
  stopAfterS?: number,
): Promise<{ result: Result; memory: number }> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  const [file, report] = [join(folder.path, 'scenario.yaml'), join(folder.path, 'load.json')]
  writeFileSync(file, scenario)
  const flags = ['--arrivals', arrivals, '--for', duration, '--users', '3000', ...more, '--report', `json=${report}`]
  const args = [`${ROOT}bin/handover-sim.js`, 'load', file, '--self-test', '--no-own-limit', '--fail-if', 'late > 100%']
  const child = spawn(node, [...args, ...flags], { cwd: folder.path, stdio: 'ignore' })
  const ended = once(child, 'exit')
  let memory = Number.NaN
  if (stopAfterS !== undefined) {
    await setTimeout((Number.parseFloat(duration) + stopAfterS) * 1000)
    memory = memoryMb(child.pid ?? 0, 'VmRSS')
    child.kill('SIGINT')
  }
  await ended
  return { result: JSON.parse(readFileSync(report, 'utf8')) as Result, memory }
}
