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
import type { DesignName } from '../mutants/designs.ts'
import { writeDriver, writeDriverOf } from '../shipped/target.ts'
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

interface Work {
  readonly of: Correct
  readonly command: 'certify' | 'run' | 'explore'
}

/** How often each command ran, and how often each alarm was seen. */
interface Tally {
  runs: number
  readonly alarms: Map<string, number>
}

const keyOf = ({ name }: Correct, command: Work['command']): string => `${name} ${command}`

const options = readOptions()
let untilMs = Date.now() + options.minutes * 60_000
process.once('SIGINT', () => {
  console.error('Ending. The commands that run now are not counted.')
  untilMs = 0
})
const tallies = new Map<string, Tally>()
const work = planWork()
const startedMs = Date.now()
await Promise.all(Array.from({ length: options.jobs }, (_, job) => workOff(FIRST_PORT + job)))
printTable()
process.exitCode = [...tallies.values()].some(({ alarms }) => alarms.size > 0) ? 1 : 0

function readOptions() {
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
  const list = (text: string | undefined) => text?.split(',') ?? []
  const names = list(values.of)
  const unknown = names.filter(name => !CORRECT.some(one => one.name === name))
  if (unknown.length > 0)
    fail(`Unknown intermediary ${unknown.join(', ')}. Use some of ${CORRECT.map(({ name }) => name).join(', ')}.`)
  return {
    times: countIn('--times', values.times),
    minutes: countIn('--minutes', values.minutes),
    jobs: countIn('--jobs', values.jobs),
    flags: [...list(values.only).flatMap(id => ['--only', id]), ...list(values.skip).flatMap(id => ['--skip', id])],
    conversations: values.explore === undefined ? null : countIn('--explore', values.explore),
    commands: commandsOf(values),
    correct: names.length === 0 ? CORRECT : CORRECT.filter(({ name }) => names.includes(name)),
  }
}

function commandsOf({ explore, only }: { explore?: string; only?: string }): readonly Work['command'][] {
  if (explore !== undefined) return ['explore']
  return only === undefined ? ['certify', 'run'] : ['certify']
}

function countIn(flag: string, text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count > 0) return count
  return fail(`Failed to read ${flag}: expected a whole number above 0, received "${text}".`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

/** Takes turns, so that a run that ends early has run each about as often. */
function planWork(): Work[] {
  const planned: Work[] = []
  for (let time = 1; time <= options.times; time++)
    for (const of of options.correct) for (const command of options.commands) planned.push({ of, command })
  return planned
}

async function workOff(port: number): Promise<void> {
  for (let next = work.shift(); next !== undefined && Date.now() < untilMs; next = work.shift()) {
    const { of, command } = next
    const key = keyOf(of, command)
    const tally = tallies.get(key) ?? { runs: 0, alarms: new Map() }
    tallies.set(key, tally)
    const alarms = await alarmsOf(next, port)
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
async function alarmsOf({ of, command }: Work, port: number): Promise<Alarm[]> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-alarms-'))
  try {
    const target = `http://127.0.0.1:${port}/webhook`
    const where = [
      '--target',
      target,
      '--agent-driver',
      of.writeDriver(folder, port),
      '--port',
      '0',
      '--report',
      'json',
    ]
    const about = {
      certify: options.flags,
      run: ['--builtin'],
      explore: ['--conversations', String(options.conversations)],
    }[command]
    const { stdout, stderr, end } = await outputOf(
      [join(ROOT, 'bin/handover-sim.js'), command, ...where, ...about],
      folder,
    )
    if (stdout === '') return [{ code: 'no report', happened: end }]
    const { stopped = null, checks = [], scenarios = [] }: Report = JSON.parse(stdout)
    const alarms: Alarm[] = stopped === null ? [] : [{ code: 'stopped', happened: stopped }]
    if (command === 'explore') {
      for (const [text] of stderr.matchAll(
        /^(FAILED|Stopped: |Not explored: (says|accept|leave) |\d+ conversations? without).*$/gm,
      ))
        alarms.push({ code: text, happened: /, seed \d+/.exec(stderr)?.[0] ?? null })
      return alarms
    }
    for (const { id, outcome, findings, reason } of checks) {
      if (GOOD.includes(outcome) || of.expected.includes(id)) continue
      alarms.push({ code: `${id} ${outcome} ${findings[0]?.code ?? ''}`, happened: findings[0]?.happened ?? reason })
    }
    for (const { name, outcome, failures, reason } of scenarios) {
      if (GOOD.includes(outcome) || of.expected.some(expected => name.startsWith(expected))) continue
      alarms.push({ code: `${name} ${outcome} ${failures[0]?.kind ?? ''}`, happened: failures[0]?.happened ?? reason })
    }
    if (alarms.length > 0) {
      const log = join(folder, '.handover-sim/target.log')
      console.error(
        `The end of the output of ${of.name}:\n${existsSync(log) ? readFileSync(log, 'utf8').slice(-3_000) : 'none'}`,
      )
    }
    return alarms
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is read of a report. */
interface Report {
  readonly stopped?: string | null
  readonly checks?: readonly (Judged & {
    readonly id: string
    readonly findings: readonly { readonly code: string; readonly happened: string }[]
  })[]
  readonly scenarios?: readonly (Judged & {
    readonly name: string
    readonly failures: readonly { readonly kind: string; readonly happened: string }[]
  })[]
}

interface Judged {
  readonly outcome: string
  readonly reason: string | null
}

function printTable(): void {
  const minutes = ((Date.now() - startedMs) / 60_000).toFixed(1)
  console.log(
    `\n${minutes} min, ${options.jobs} at once${options.flags.length === 0 ? '' : `, ${options.flags.join(' ')}`}\n`,
  )
  const names = { certify: 'certifications', run: 'runs of the scenarios', explore: 'explorations' }
  const heads = options.commands.map(command => `${names[command]} | false alarms`)
  console.log(`| intermediary | ${heads.join(' | ')} |\n|---|${'---|'.repeat(2 * heads.length)}`)
  for (const of of options.correct) {
    const cells: (string | number)[] = [of.name]
    for (const command of options.commands) {
      const { runs, alarms } = tallies.get(keyOf(of, command)) ?? { runs: 0, alarms: new Map<string, number>() }
      cells.push(
        runs,
        [...alarms.values()].reduce((sum, count) => sum + count, 0),
      )
    }
    console.log(`| ${cells.join(' | ')} |`)
  }
  for (const [key, { alarms }] of tallies)
    for (const [code, count] of alarms) console.log(`\n${count} x ${key}: ${code}`)
}
