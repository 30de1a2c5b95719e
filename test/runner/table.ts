/** Runs many small scenarios with the real command and compares their expected results. */
import { describe, expect, it } from 'vitest'
import { type ScriptedIntermediary, startScriptedIntermediary } from './scripted-intermediary.ts'
import { against, type RunReport, reported, startRun } from './targets.ts'

interface FullRow {
  /** Keys of the head, as lines of YAML. */
  readonly head?: string
  readonly steps: string
  /** How it fails: `check: ...`; several as `2 failures: ...`, with ` // ` between them. */
  readonly is?: RegExp
}

/** A scenario, or only its steps; it passes unless the row says how it fails. */
export type Row = FullRow | string

export interface RowOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly driver?: string | null
}

/** The JSON report of a run, and its journal. */
export interface RowsReport extends RunReport {
  readonly journal: readonly { readonly scenario?: number; readonly entry?: Readonly<Record<string, unknown>> }[]
}

const indented = (text: string) => text.replace(/^ *\n/, '').replace(/^/gm, '  ')

const fileOf = (name: string, row: Row) => {
  const { head = '', steps }: FullRow = typeof row === 'string' ? { steps: row } : row
  const timeouts = /^timeouts:/m.test(head) ? '' : 'timeouts: { expect: 30s, settle: 50ms }\n'
  return `version: 1\nname: ${JSON.stringify(name)}\n${timeouts}${head}${head === '' ? '' : '\n'}steps:\n${indented(steps)}\n`
}

/** A webhook, and a driver unless the options have one. */
type Target = Pick<ScriptedIntermediary, 'url'> & Partial<ScriptedIntermediary>

/** Runs all rows side by side with one command. */
export async function runRows(
  intermediary: Target,
  rows: Readonly<Record<string, Row>>,
  options: RowOptions = {},
): Promise<RowsReport> {
  const scenarios = Object.entries(rows).map(([name, row]) => fileOf(name, row))
  const driver = options.driver === undefined ? (intermediary.driver ?? null) : options.driver
  const files = {
    'all.yaml': scenarios.join('---\n'),
    ...(driver === null ? {} : { 'driver.yaml': driver }),
    ...options.files,
  }
  const { flags = [], env = {} } = options
  const driving = driver === null ? [] : ['--agent-driver', 'driver.yaml']
  const argv = ['all.yaml', ...against(intermediary), ...driving, '--jobs', '16', ...flags]
  const run = startRun(files, argv, env)
  if ((await run.code) === 2) throw new Error(run.io.stderr.text)
  const { read, json } = await reported(run)
  const journal = read('.handover-sim/journal.jsonl').trim().split('\n')
  return { ...json, journal: journal.map(line => JSON.parse(line)) }
}

/** One line for each scenario. */
export const linesOf = ({ scenarios }: RowsReport): Record<string, string> =>
  Object.fromEntries(
    scenarios.map(({ name, outcome, reason, failures }) => {
      const said = failures.map(({ kind, expected, happened }) => `${kind}: ${expected} | ${happened}`).join(' // ')
      const count = failures.length > 1 ? `${failures.length} failures: ` : ''
      const more = said === '' ? (reason ?? '') : `${count}${said}`
      const verdict = outcome === 'fail' || more === '' ? '' : `${outcome}, `
      return [name, `${verdict}${more}` || outcome]
    }),
  )

/** Runs rows and compares each result; a failed scenario may have only the failures of its row. */
export async function expectRows(
  intermediary: Target,
  rows: Readonly<Record<string, Row>>,
  options: RowOptions = {},
): Promise<RowsReport> {
  const report = await runRows(intermediary, rows, options)
  for (const name of Object.keys(rows)) expectRow(report, name, rows)
  return report
}

function expectRow(report: RowsReport, name: string, rows: Readonly<Record<string, Row>>): void {
  const row = rows[name]!
  const is = typeof row === 'string' ? undefined : row.is
  expect(linesOf(report)[name]).toEqual(is === undefined ? 'pass' : expect.stringMatching(is))
  const { outcome, steps } = scenarioIn(report, name)
  if (outcome === 'pass') expect(steps.filter(step => step.outcome !== 'pass')).toEqual([])
}

interface RowsRun {
  readonly report: RowsReport
  readonly intermediary: ScriptedIntermediary
}

/** Runs all rows with one command, and checks each in a test of its own. `more` adds tests of the same run. */
export function describeRows(
  title: string,
  rows: Readonly<Record<string, Row>>,
  options: RowOptions | ((intermediary: ScriptedIntermediary) => RowOptions) = {},
  more: (run: () => Promise<RowsRun>) => void = () => {},
): void {
  describe(title, () => {
    let running: Promise<RowsRun> | undefined
    const start = async (): Promise<RowsRun> => {
      const intermediary = await startScriptedIntermediary()
      const report = await runRows(intermediary, rows, typeof options === 'function' ? options(intermediary) : options)
      return { report, intermediary }
    }
    const run = () => {
      running ??= start()
      return running
    }
    it.each(Object.keys(rows))('%s', async name => expectRow((await run()).report, name, rows))
    more(run)
  })
}

/** The report of the scenario with this name. */
export const scenarioIn = ({ scenarios }: RunReport, name: string) => scenarios.find(one => one.name === name)!
