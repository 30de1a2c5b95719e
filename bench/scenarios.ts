/**
 * Runs `npm run bench:scenarios`: measures a thousand runs of the happy path, and counts failures in fifty runs of the
 * shipped scenarios, with the built command against the reference intermediary.
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

function runScenarios(files: readonly string[], flags: readonly string[]): { report: Report; wallMs: number } {
  const file = join(tmpdir(), `handover-sim-bench-${process.pid}.json`)
  const journal = `${file}l`
  const startedAt = performance.now()
  const reports = `json=${file},journal=${journal}`
  const args = [`${root}bin/handover-sim.js`, 'run', ...files, '--self-test', '--report', reports, ...flags]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  const wallMs = performance.now() - startedAt
  if (status !== 0 && status !== 1)
    throw new Error(`Failed to run the scenarios: exit code ${status}\n${stdout}\n${stderr}`)
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  if (status === 1) console.log(stdout.slice(0, 6000))
  for (const one of [file, journal]) rmSync(one, { force: true })
  return { report, wallMs }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

const many = runScenarios(['scenarios/happy-path.yaml'], ['--repeat', String(PLAYS), '--jobs', '50'])
console.log(
  `${PLAYS} plays of the happy path, 50 at once: ${seconds(many.wallMs)} (goal <= 10 s), ${many.report.counts.pass} passed`,
)

let plays = 0
const flaky: { readonly name: string; readonly outcome: string }[] = []
const startedAt = performance.now()
for (let round = 1; round <= ROUNDS; round++) {
  const { report } = runScenarios(['scenarios'], ['--jobs', '8', '--seed', String(round)])
  plays += report.plays.length
  flaky.push(...report.plays.filter(({ outcome }) => outcome !== 'pass'))
}
const took = seconds(performance.now() - startedAt)
console.log(
  `${ROUNDS} plays of the shipped set, ${plays} scenarios in all: ${took} (goal <= 15 min), ${flaky.length} did not pass (goal 0)`,
)
for (const { name, outcome } of flaky) console.log(`  ${outcome}: ${name}`)
