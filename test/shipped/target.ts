/** Runs scenarios against the example intermediary, with or without a bug, started by an agent driver's `target`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { Io } from '../../src/commands/io.ts'
import { main } from '../../src/commands/main.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import { type Changes, patchesOf } from '../mutants/changes.ts'
import { writeExample } from '../mutants/patch.ts'
import { freePort } from '../support/port.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface ReportedFailure {
  readonly kind: string
  readonly expected: string
  readonly happened: string
}

export interface ReportedPlay {
  readonly name: string
  readonly file: string
  readonly outcome: string
  readonly reason: string | null
  readonly failures: readonly ReportedFailure[]
  readonly warnings: readonly {
    readonly rule: string
    readonly message: string
    readonly failure: ReportedFailure | null
  }[]
}

export interface Outcome {
  readonly exitCode: number
  readonly scenarios: readonly ReportedPlay[]
  readonly failures: readonly ReportedFailure[]
  readonly stderr: string
  /** The saved journal of the run. */
  readonly journal: string
}

/** Runs `handover-sim run` with these files against the example with these changes. */
export async function runShipped(changes: Changes, files: readonly string[], ...flags: string[]): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-shipped-'))
  try {
    const port = await freePort()
    const target = `http://127.0.0.1:${port}/webhook`
    const where = ['--target', target, '--agent-driver', writeDriver(folder, port, changes), '--port', '0']
    const journal = join(folder, 'run.jsonl')
    const outcome = await outcomeOf(['run', ...files, ...where, '--report', `json,journal=${journal}`, ...flags])
    return { ...outcome, journal: readFileSync(journal, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the shipped scenarios against an intermediary without optional fields, retries, notices and transfers. */
export async function runMinimal(): Promise<Omit<Outcome, 'journal'>> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-minimal-'))
  try {
    const port = await freePort()
    const start = [process.execPath, join(ROOT, 'test/shipped/minimal-intermediary.mjs')]
    const driver = writeDriverOf({ folder, port, start })
    const { does: _, ...verbs } = JSON.parse(readFileSync(driver, 'utf8'))
    writeFileSync(driver, JSON.stringify(verbs))
    const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver, '--port', '0']
    return await outcomeOf(['run', '--builtin', ...where, '--report', `json,journal=${join(folder, 'run.jsonl')}`])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function outcomeOf(args: readonly string[]): Promise<Omit<Outcome, 'journal'>> {
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  const exitCode = await main(args, {}, { ...NON_INTERACTIVE, stdout, stderr })
  if (stdout.text === '') throw new Error(`The run wrote no report: ${stderr.text}`)
  const { scenarios, failures } = JSON.parse(stdout.text) as Pick<Outcome, 'scenarios' | 'failures'>
  return { exitCode, scenarios, failures, stderr: stderr.text }
}

/** A console without input and signals. */
export const NON_INTERACTIVE: Omit<Io, 'stdout' | 'stderr'> = {
  readStdin: async () => new Uint8Array(),
  canAsk: false,
  ask: async () => '',
  cwd: ROOT,
  nodeVersion: process.version,
  onSignal: () => () => {},
  exit: () => {},
}

/** Writes a driver that starts the example with these changes. */
export function writeDriver(folder: string, port: number, changes: Changes): string {
  const program = join(folder, 'intermediary')
  mkdirSync(program)
  const start = [process.execPath, writeExample(program, patchesOf(changes))]
  return writeDriverOf({ folder, port, start })
}

interface ExampleDriver {
  readonly folder: string
  readonly port: number
  readonly start: readonly string[]
  readonly cwd?: string
}

/** Writes the driver of the examples with a program to start. */
export function writeDriverOf({ folder, port, ...program }: ExampleDriver): string {
  const url = `http://127.0.0.1:${port}`
  const settings = { PYTHONDONTWRITEBYTECODE: '1', PORT: String(port), STATE_FILE: join(folder, 'state.json') }
  const target = { ...program, env: settings, ready: `${url}/health` }
  const driver = { ...parse(readFileSync(join(ROOT, 'examples/intermediary/driver.yaml'), 'utf8')), http: url, target }
  const file = join(folder, 'driver.json')
  writeFileSync(file, JSON.stringify(driver))
  return file
}
