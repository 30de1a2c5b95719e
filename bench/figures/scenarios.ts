/**
 * Measures the shipped command that runs scenarios against the reference intermediary: their speed, beside the same
 * number of requests between two bare processes, and their stability.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, workerFile } from '../processes.ts'
import { atMost, createRow, type Row, valueAtMost } from '../rows.ts'
import { fewer, type Settings } from '../settings.ts'

interface Report {
  readonly scenarios: readonly { readonly name: string; readonly outcome: string }[]
}

interface Ended {
  readonly seconds: number
  readonly status: number | null
  readonly output: string
}

/** Runs a process, and those that it starts, on both cores. */
function timed(command: readonly string[]): Ended {
  const from = performance.now()
  const [file = '', ...args] = command
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
  return { seconds: (performance.now() - from) / 1000, status, output: `${stdout.slice(0, 6000)}\n${stderr}` }
}

/** Returns the wall time in seconds. */
function run({ node }: Settings, args: readonly string[], statuses: readonly number[] = [0]): number {
  const { seconds, status, output } = timed([node, `${ROOT}bin/handover-sim.js`, 'run', ...args, '--self-test'])
  if (status !== null && statuses.includes(status)) return seconds
  throw new Error(`Failed to run ${args.join(' ')}: exit code ${status}\n${output}`)
}

/** The requests of one run of the happy path: three calls, two webhooks and six calls of the agent driver. */
const REQUESTS = 11

function requestsOf({ node }: Settings, runs: number): number {
  const { seconds, status, output } = timed([node, workerFile('exchanges.mjs'), `${runs * REQUESTS}`])
  if (status === 0) return seconds
  throw new Error(`Failed to send bare requests: exit code ${status}\n${output}`)
}

export async function scenarios(settings: Settings): Promise<Row[]> {
  return [...happyPath(settings), shippedScenarios(settings)]
}

function happyPath(settings: Settings): Row[] {
  const runs = fewer(settings, 1000, 50)
  const args = ['scenarios/happy-path.yaml', '--repeat', `${runs}`, '--jobs', '400']
  const [values, yardstick]: [number[], number[]] = [[], []]
  for (let round = 0; round < settings.rounds; round++) {
    yardstick.push(requestsOf(settings, runs))
    values.push(run(settings, args))
  }
  const row = { figure: 'scenarios', unit: 's', values }
  return [
    createRow({ ...row, name: `${runs} runs of the happy path, 400 at once`, goal: valueAtMost(5) }),
    createRow({ ...row, name: 'the same, beside as many bare requests', yardstick, goal: atMost(5.5) }),
  ]
}

function shippedScenarios(settings: Settings): Row {
  const values = Array.from({ length: fewer(settings, 3, 1) }, () => run(settings, ['--builtin', '--jobs', '8']))
  const name = 'the shipped scenarios once, 8 at once'
  return createRow({ figure: 'scenarios', name, unit: 's', values, goal: valueAtMost(10) })
}

/** Counts scenarios that do not pass. Fifty rounds take minutes, so they are measured only by name. */
export async function scenarioRounds(settings: Settings): Promise<Row[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  const report = join(folder.path, 'report.json')
  const failed: Report['scenarios'][number][] = []
  const values = Array.from({ length: fewer(settings, 50, 1) }, (_, index) => {
    const args = ['--builtin', '--jobs', '8', '--seed', `${index + 1}`, '--report', `json=${report}`]
    const seconds = run(settings, args, [0, 1])
    const { scenarios } = JSON.parse(readFileSync(report, 'utf8')) as Report
    failed.push(...scenarios.filter(({ outcome }) => outcome !== 'pass'))
    return seconds
  })
  for (const { name, outcome } of failed) console.error(`${outcome}: ${name}`)
  const figure = 'scenario-rounds'
  return [
    createRow({
      figure,
      name: `the shipped scenarios, each of ${values.length} rounds`,
      unit: 's',
      values,
      goal: valueAtMost(12),
    }),
    createRow({ figure, name: 'scenarios that did not pass', unit: '', values: [failed.length], goal: valueAtMost(0) }),
  ]
}
