/* biome-ignore-all lint/suspicious/noConsole: it is a command of maintainers. */
/**
 * Runs `npm run alarms -- [--times N] [--minutes M] [--jobs J] [--only FLW-06,...] [--skip RST,...] [--of NAME,...]
 * [--explore CONVERSATIONS]`: certifies each correct intermediary and runs the shipped scenarios against it, again and again, and
 * counts what is not a pass and not expected. `--only` leaves the scenarios out; `--explore` explores instead, each time with so
 * many conversations. Ctrl-C ends it with the table. The exit code is 1 when there is a false alarm.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { EXAMPLES, NODE, PYTHON, RUBY } from '../examples/program.ts'
import { writeDriver, writeDriverOf } from '../shipped/target.ts'
import type { DesignName } from './designs.ts'
import { outputOf } from './output-of.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Each job has a port of its own: an intermediary that is being restarted would lose one that others may take. */
const FIRST_PORT = 9_100
const GOOD: readonly string[] = ['pass', 'info', 'not_applicable']

/** A correct intermediary. */
interface Correct {
  readonly name: string
  /** Checks and scenarios that show something true: with this design they cannot pass. */
  readonly expected: readonly string[]
  writeDriver(folder: string, port: number): string
}

const examples: Correct[] = []
for (const { name, command } of [NODE, PYTHON, RUBY]) {
  if (spawnSync(command[0], ['--version']).status !== 0) {
    console.error(`${name} is left out: ${command[0]} is not installed.`)
    continue
  }
  const cwd = join(EXAMPLES, name)
  examples.push({
    name,
    expected: [],
    writeDriver: (folder, port) => writeDriverOf({ folder, port, start: command, cwd }),
  })
}

const design = (name: DesignName, ...expected: string[]): Correct => ({
  name,
  expected,
  writeDriver: (folder, port) => writeDriver(folder, port, name),
})

const CORRECT: readonly Correct[] = [
  ...examples,
  // Its help desk takes no text of an agent until `start` is answered.
  design('records-calls-late', 'Slow platform', 'Lost answers [call=start'),
  // Both lose an event when they are killed right after the acknowledgement.
  design('handles-events-late', 'RST-01', 'Restart in the middle'),
  design('works-in-batches', 'RST-01', 'Restart in the middle'),
  design('polls-the-desk'),
]

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '60' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    only: { type: 'string' },
    skip: { type: 'string' },
    of: { type: 'string' },
    explore: { type: 'string' },
  },
})
const names = values.of?.split(',') ?? CORRECT.map(({ name }) => name)
const unknown = names.filter(name => !CORRECT.some(one => one.name === name))
if (unknown.length > 0) {
  console.error(`Unknown intermediary ${unknown.join(', ')}. Use some of ${CORRECT.map(one => one.name).join(', ')}.`)
  process.exit(2)
}
const correct = CORRECT.filter(({ name }) => names.includes(name))
const idFlags = (['only', 'skip'] as const).flatMap(flag =>
  (values[flag]?.split(',') ?? []).flatMap(id => [`--${flag}`, id]),
)
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  certify: ['certify', ...idFlags],
  run: ['run', '--builtin'],
  explore: ['explore', '--conversations', values.explore ?? ''],
}
const commands = values.explore ? ['explore'] : values.only ? ['certify'] : ['certify', 'run']

/** How often each command ran against each intermediary, and how often each alarm was seen. */
const tallies = new Map<string, { runs: number; readonly alarms: Map<string, number> }>()
/** In turns, so that a run that ends early has run each about as often. */
const work = Array.from({ length: Number(values.times) }, () =>
  correct.flatMap(of => commands.map(command => ({ of, command }))),
).flat()
const startedMs = Date.now()
let untilMs = startedMs + Number(values.minutes) * 60_000
process.once('SIGINT', () => {
  console.error('Ending. The commands that run now are not counted.')
  untilMs = 0
})
await Promise.all(Array.from({ length: Number(values.jobs) }, (_, job) => workOff(FIRST_PORT + job)))
printTable()
process.exitCode = [...tallies.values()].some(({ alarms }) => alarms.size > 0) ? 1 : 0

async function workOff(port: number): Promise<void> {
  for (let next = work.shift(); next !== undefined && Date.now() < untilMs; next = work.shift()) {
    const key = `${next.of.name} ${next.command}`
    const tally = tallies.get(key) ?? { runs: 0, alarms: new Map() }
    tallies.set(key, tally)
    const alarms = await alarmsOf(next.of, next.command, port)
    if (untilMs === 0) return
    tally.runs++
    for (const { code, happened } of alarms) {
      tally.alarms.set(code, (tally.alarms.get(code) ?? 0) + 1)
      console.error(`${key}: ${code}: ${happened}`)
    }
  }
}

interface Alarm {
  /** The same for the same alarm. */
  readonly code: string
  readonly happened: string | null
}

/** What is not expected. */
async function alarmsOf(of: Correct, command: string, port: number): Promise<Alarm[]> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-alarms-'))
  try {
    const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', of.writeDriver(folder, port)]
    const args = [...COMMANDS[command]!, ...where, '--port', '0', '--report', 'json']
    const { stdout, stderr, end } = await outputOf([join(ROOT, 'bin/handover-sim.js'), ...args], folder)
    if (stdout === '') return [{ code: 'no report', happened: end }]
    const { stopped = null, checks = [], scenarios = [] }: Report = JSON.parse(stdout)
    const alarms: Alarm[] = stopped === null ? [] : [{ code: 'stopped', happened: stopped }]
    if (command === 'explore') {
      const bad = /^(FAILED|Stopped: |Not explored: (says|accept|leave) |\d+ conversations? without).*$/gm
      const happened = /, seed \d+/.exec(stderr)?.[0] ?? null
      return [...alarms, ...[...stderr.matchAll(bad)].map(([code]) => ({ code, happened }))]
    }
    for (const { id, name = '', outcome, findings, failures, reason } of [...checks, ...scenarios]) {
      const isExpected = of.expected.some(
        expected => id === expected || (id === undefined && name.startsWith(expected)),
      )
      if (GOOD.includes(outcome) || isExpected) continue
      const [first] = findings ?? failures ?? []
      const code = `${id ?? name} ${outcome} ${first?.code ?? ''}`
      alarms.push({ code, happened: first?.happened ?? reason })
    }
    const log = join(folder, '.handover-sim/target.log')
    if (alarms.length > 0 && existsSync(log))
      console.error(`The end of the output of ${of.name}:\n${readFileSync(log, 'utf8').slice(-3_000)}`)
    return alarms
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Reported {
  readonly id?: string
  readonly name?: string
  readonly outcome: string
  readonly reason: string | null
  readonly findings?: readonly { readonly code: string; readonly happened: string }[]
  readonly failures?: readonly { readonly code: string; readonly happened: string }[]
}

/** What is read of a report. */
interface Report {
  readonly stopped?: string | null
  readonly checks?: readonly Reported[]
  readonly scenarios?: readonly Reported[]
}

function printTable(): void {
  console.log(`\n${((Date.now() - startedMs) / 60_000).toFixed(1)} min, ${values.jobs} at once ${idFlags.join(' ')}\n`)
  console.log('| intermediary | command | runs | false alarms |\n|---|---|---|---|')
  for (const [key, { runs, alarms }] of tallies) {
    const count = [...alarms.values()].reduce((sum, one) => sum + one, 0)
    console.log(`| ${key.replace(' ', ' | ')} | ${runs} | ${count} |`)
  }
  for (const [key, { alarms }] of tallies)
    for (const [code, count] of alarms) console.log(`\n${count} x ${key}: ${code}`)
}
