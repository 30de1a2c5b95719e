/**
 * `npm run bench:scenarios`: how fast the happy path is played a thousand times, and whether the shipped scenarios are
 * steady, both with the built command against the built-in reference intermediary. The yardstick of the first is the
 * same number of round trips between two bare processes.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('..', import.meta.url).pathname
const PLAYS = 1000
const ROUNDS = 50

interface Report {
  readonly counts: Readonly<Record<string, number>>
  readonly duration_ms: number
  readonly plays: readonly { readonly name: string; readonly outcome: string }[]
}

function played(files: readonly string[], flags: readonly string[]): { report: Report; wallMs: number } {
  const file = join(tmpdir(), `handover-sim-bench-${process.pid}.json`)
  const journal = `${file}l`
  const begun = performance.now()
  const reports = `json=${file},journal=${journal}`
  const args = [`${root}bin/handover-sim.js`, 'run', ...files, '--self-test', '--report', reports, ...flags]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  const wallMs = performance.now() - begun
  if (status !== 0 && status !== 1) throw new Error(`run ended with ${status}\n${stdout}\n${stderr}`)
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  if (status === 1) console.log(stdout.slice(0, 6000))
  for (const one of [file, journal]) rmSync(one, { force: true })
  return { report, wallMs }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

const many = played(['scenarios/happy-path.yaml'], ['--repeat', String(PLAYS), '--jobs', '50'])
console.log(
  `${PLAYS} plays of the happy path, 50 at once: ${seconds(many.wallMs)} (goal <= 10 s), ${many.report.counts.pass} passed`,
)

let plays = 0
const flaky: { readonly name: string; readonly outcome: string }[] = []
const begun = performance.now()
for (let round = 1; round <= ROUNDS; round++) {
  const { report } = played(['scenarios'], ['--jobs', '8', '--seed', String(round)])
  plays += report.plays.length
  flaky.push(...report.plays.filter(({ outcome }) => outcome !== 'pass'))
}
const took = seconds(performance.now() - begun)
console.log(
  `${ROUNDS} plays of the shipped set, ${plays} scenarios in all: ${took} (goal <= 15 min), ${flaky.length} did not pass (goal 0)`,
)
for (const { name, outcome } of flaky) console.log(`  ${outcome}: ${name}`)
