/** Runs many small scenarios with the real command and compares their expected results. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ScriptedIntermediary, startScriptedIntermediary } from './scripted-intermediary.ts'
import { finished, inFolder, startRun } from './targets.ts'

export interface Row {
  /** Keys of the head, as lines of YAML. */
  readonly head?: string
  readonly steps: string
  /** `pass`, or how it fails: `check: ...`; several as `2 failures: ...`, with ` // ` between them. */
  readonly is: 'pass' | RegExp
}

export interface RowOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly driver?: string | null
}

/** The JSON report of a run, and its journal. */
export interface RowsReport {
  readonly exit_code: number
  readonly scenarios: readonly {
    readonly name: string
    readonly outcome: string
    readonly reason: string | null
    readonly seed: number
    readonly started_at: string
    readonly duration_ms: number
    readonly conversations: Readonly<Record<string, string>>
    readonly captures: Readonly<Record<string, unknown>>
    readonly failures: readonly { readonly kind: string; readonly expected: string; readonly happened: string }[]
    readonly warnings: readonly { readonly rule: string }[]
    readonly steps: readonly {
      readonly outcome: string
      readonly start_ms: number | null
      readonly end_ms: number | null
    }[]
  }[]
  readonly failures: readonly { readonly kind: string; readonly happened: string }[]
  readonly journal: readonly { readonly scenario?: number; readonly entry?: Readonly<Record<string, unknown>> }[]
}

const indented = (text: string) => text.replace(/^ *\n/, '').replace(/^/gm, '  ')

const fileOf = (name: string, { head = '', steps }: Row) => {
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
  const report = ['--port', '0', '--jobs', '16', '--report', 'json=r.json']
  const argv = ['all.yaml', '--target', intermediary.url, ...driving, ...report, ...flags]
  const { err, folder, code } = await finished(startRun(files, argv, env))
  if (code === 2) throw new Error(err)
  const read = (file: string) => readFileSync(inFolder(folder, file), 'utf8')
  const journal = read('.handover-sim/journal.jsonl').trim().split('\n')
  return { ...JSON.parse(read('r.json')), journal: journal.map(line => JSON.parse(line)) } as RowsReport
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
  const { is } = rows[name]!
  expect(linesOf(report)[name]).toEqual(is === 'pass' ? is : expect.stringMatching(is))
  const { outcome, steps } = report.scenarios.find(scenario => scenario.name === name)!
  if (outcome === 'pass') expect(steps.filter(step => step.outcome !== 'pass')).toEqual([])
}

/** Runs all rows with one command, and checks each in a test of its own. `more` adds tests of the same run. */
export function describeRows(
  title: string,
  rows: Readonly<Record<string, Row>>,
  options: RowOptions | ((intermediary: ScriptedIntermediary) => RowOptions) = {},
  more: (run: () => Promise<{ report: RowsReport; intermediary: ScriptedIntermediary }>) => void = () => {},
): void {
  describe(title, () => {
    let running: Promise<{ report: RowsReport; intermediary: ScriptedIntermediary }> | undefined
    const start = async () => {
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
