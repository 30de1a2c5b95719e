/** Measures the shipped command that plays scenarios against the reference intermediary: their speed, and their stability. */
import { spawnSync } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../processes.ts'
import { createRow, type Row, valueAtMost } from '../rows.ts'
import { fewer, type Settings } from '../settings.ts'

interface Report {
  readonly plays: readonly { readonly name: string; readonly outcome: string }[]
}

/** The command, the intermediary and the load share both cores. Returns the wall time in seconds. */
function play({ node }: Settings, args: readonly string[], statuses: readonly number[] = [0]): number {
  const from = performance.now()
  const command = [`${ROOT}bin/handover-sim.js`, 'run', ...args, '--self-test']
  const { status, stdout, stderr } = spawnSync(node, command, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
  const seconds = (performance.now() - from) / 1000
  if (status !== null && statuses.includes(status)) return seconds
  throw new Error(`Failed to play ${args.join(' ')}: exit code ${status}\n${stdout.slice(0, 6000)}\n${stderr}`)
}

export async function scenarios(settings: Settings): Promise<Row[]> {
  const plays = fewer(settings, 1000, 50)
  const happyPath = ['scenarios/happy-path.yaml', '--repeat', `${plays}`, '--jobs', '50']
  const row = (name: string, count: number, most: number, args: readonly string[]) => {
    const values = Array.from({ length: fewer(settings, count, 1) }, () => play(settings, args))
    return createRow({ figure: 'scenarios', name, unit: 's', values, goal: valueAtMost(most) })
  }
  return [
    row(`${plays} plays of the happy path, 50 at once`, 7, 4, happyPath),
    row('the shipped scenarios once, 8 at once', 3, 10, ['--builtin', '--jobs', '8']),
  ]
}

/** Counts scenarios that do not pass. Fifty rounds take minutes, so they are measured only by name. */
export async function scenarioRounds(settings: Settings): Promise<Row[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  const report = join(folder.path, 'report.json')
  const failed: Report['plays'][number][] = []
  const values = Array.from({ length: fewer(settings, 50, 1) }, (_, index) => {
    const args = ['--builtin', '--jobs', '8', '--seed', `${index + 1}`, '--report', `json=${report}`]
    const seconds = play(settings, args, [0, 1])
    const { plays } = JSON.parse(readFileSync(report, 'utf8')) as Report
    failed.push(...plays.filter(({ outcome }) => outcome !== 'pass'))
    return seconds
  })
  for (const { name, outcome } of failed) console.error(`${outcome}: ${name}`)
  const figure = 'scenario-rounds'
  return [
    createRow({ figure, name: `the shipped scenarios, each of ${values.length} rounds`, unit: 's', values }),
    createRow({ figure, name: 'scenarios that did not pass', unit: '', values: [failed.length], goal: valueAtMost(0) }),
  ]
}
