/**
 * Runs `npm run attack -- [--minutes N] [--seed S] [--only PART,...]`: the tests of test/attack with more rounds, each
 * part in a process of its own, and prints one table, which docs/reference/security.md sums up. The exit code is 1 when an
 * attempt fails.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Figures } from './rounds.ts'

interface PartResult {
  readonly part: string
  readonly figures: readonly Figures[]
  /** Why the part failed, and the end of its output; null when it passed. */
  readonly failure: string | null
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ENDING = '.system.test.ts'
/** A part with more figures gets one row. */
const MOST_ROWS = 8
const PARTS = readdirSync(join(ROOT, 'test/attack'))
  .filter(name => name.endsWith(ENDING))
  .map(name => name.slice(0, -ENDING.length))

const options = readOptions()
const work = mkdtempSync(join(tmpdir(), 'attack-'))
try {
  const results = options.parts.map(runPart)
  printTable(results)
  process.exitCode = results.every(hasSurvived) ? 0 : 1
} finally {
  rmSync(work, { recursive: true })
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
    },
  })
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) fail(`Failed to read --minutes: expected a number above 0, received "${values.minutes}".`)
  const parts = values.only?.split(',') ?? PARTS
  const unknown = parts.filter(part => !PARTS.includes(part))
  if (unknown.length > 0) fail(`Unknown part ${unknown.join(', ')}. Use some of ${PARTS.join(', ')}.`)
  return { minutes, seed: values.seed, parts }
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

function runPart(part: string): PartResult {
  const minutes = options.minutes / options.parts.length
  /** Rounds are estimated, so a part may take longer than its share; a part that hangs ends here. */
  const limitMs = Math.ceil((minutes * 4 + 4) * 60_000)
  console.error(`${part}: about ${minutes.toFixed(1)} min`)
  const file = join(work, `${part}.ndjson`)
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, vitestArguments(part, limitMs), {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ATTACK_MINUTES: String(minutes), ATTACK_SEED: options.seed, ATTACK_FIGURES: file },
    maxBuffer: 2 ** 28,
    timeout: limitMs,
  })
  const output = `${stdout}\n${stderr}`.trim().slice(-4000)
  const failure = status === 0 ? null : `exit code ${status ?? signal}\n${output}`
  return { part, figures: readFigures(file), failure }
}

function hasSurvived({ failure, figures }: PartResult): boolean {
  return failure === null && figures.every(({ count, survived }) => count === survived)
}

function vitestArguments(part: string, limitMs: number): string[] {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const bounds = [`--testTimeout=${limitMs}`, `--hookTimeout=${limitMs}`]
  return [vitest, 'run', `test/attack/${part}${ENDING}`, '--maxWorkers=1', ...bounds]
}

function readFigures(file: string): Figures[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map(line => JSON.parse(line))
}

function printTable(results: readonly PartResult[]): void {
  console.log(`\nseed ${options.seed}, ${options.minutes} min\n`)
  console.log('| part | tried | count | survived | longest | memory before | after |\n|---|---|---|---|---|---|---|')
  for (const { part, figures, failure } of results) {
    for (const one of shortened(figures)) console.log(row(one))
    if (failure !== null) console.log(`| ${part} | **failed**, see below | | | | | |`)
    else if (figures.length === 0) console.log(`| ${part} | passed, without figures | | | | | |`)
  }
  for (const { part, failure } of results) if (failure !== null) console.log(`\n${part}: ${failure}`)
}

/** Adds up the figures of a part with many tests. */
function shortened(figures: readonly Figures[]): readonly Figures[] {
  const [first] = figures
  const last = figures.at(-1)
  if (first === undefined || last === undefined || figures.length <= MOST_ROWS) return figures
  const sum = (of: (one: Figures) => number) => figures.reduce((total, one) => total + of(one), 0)
  return [
    {
      part: first.part,
      tried: `${figures.length} kinds: ${first.tried}, ..., ${last.tried}`,
      count: sum(one => one.count),
      survived: sum(one => one.survived),
      worstMs: Math.max(...figures.map(one => one.worstMs)),
      memoryMb: first.memoryMb && last.memoryMb && [first.memoryMb[0], last.memoryMb[1]],
    },
  ]
}

function row({ part, tried, count, survived, worstMs, memoryMb }: Figures): string {
  const numbers = [count, survived].map(value => value.toLocaleString('en'))
  const memory = memoryMb?.map(mb => `${mb} MB`) ?? ['', '']
  return `| ${[part, tried, ...numbers, `${worstMs.toFixed(0)} ms`, ...memory].join(' | ')} |`
}
