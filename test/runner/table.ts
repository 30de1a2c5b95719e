/** Runs many small scenarios with the real command and compares their expected results. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { ScriptedIntermediary } from './scripted-intermediary.ts'
import { finished, inFolder, startRun } from './targets.ts'

export interface Row {
  /** Keys of the head, as lines of YAML. */
  readonly head?: string
  readonly steps: string
  /** `pass`, or how it fails: `check: ...`; several as `2 failures: ...`, with ` // ` between them. */
  readonly is: 'pass' | RegExp
}

export interface Also {
  readonly files?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly driver?: string | null
}

export interface FailureDetails {
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
  /** As it is kept. */
  readonly journal: readonly { readonly entry?: Readonly<Record<string, unknown>> }[]
}

const indented = (text: string) => text.replace(/^ *\n/, '').replace(/^/gm, '  ')

const fileOf = (name: string, { head = '', steps }: Row) => {
  const timeouts = /^timeouts:/m.test(head) ? '' : 'timeouts: { expect: 1s, settle: 50ms, scenario: 20s }\n'
  return `version: 1\nname: ${JSON.stringify(name)}\n${timeouts}${head}${head === '' ? '' : '\n'}steps:\n${indented(steps)}\n`
}

/** A webhook, and a driver unless `also` has one. */
type Side = Pick<ScriptedIntermediary, 'url'> & Partial<ScriptedIntermediary>

/** All of them beside each other, and what the report says of them. */
export async function tell(
  intermediary: Side,
  rows: Readonly<Record<string, Row>>,
  also: Also = {},
): Promise<FailureDetails> {
  const scenarios = Object.entries(rows).map(([name, row]) => fileOf(name, row))
  const driver = also.driver === undefined ? (intermediary.driver ?? null) : also.driver
  const files = {
    'all.yaml': scenarios.join('---\n'),
    ...(driver === null ? {} : { 'driver.yaml': driver }),
    ...also.files,
  }
  const { flags = [], env = {} } = also
  const driving = driver === null ? [] : ['--agent-driver', 'driver.yaml']
  const report = ['--port', '0', '--jobs', '16', '--report', 'json=r.json']
  const argv = ['all.yaml', '--target', intermediary.url, ...driving, ...report, ...flags]
  const { err, folder, code } = await finished(startRun(files, argv, env))
  if (code === 2) throw new Error(err)
  const read = (file: string) => readFileSync(inFolder(folder, file), 'utf8')
  const journal = read('.handover-sim/journal.jsonl').trim().split('\n')
  return { ...JSON.parse(read('r.json')), journal: journal.map(line => JSON.parse(line)) } as FailureDetails
}

/** One line for each play. */
export const linesOf = ({ scenarios }: FailureDetails): Record<string, string> =>
  Object.fromEntries(
    scenarios.map(({ name, outcome, reason, failures }) => {
      const said = failures.map(({ kind, expected, happened }) => `${kind}: ${expected} | ${happened}`).join(' // ')
      const count = failures.length > 1 ? `${failures.length} failures: ` : ''
      const more = said === '' ? (reason ?? '') : `${count}${said}`
      const verdict = outcome === 'fail' || more === '' ? '' : `${outcome}, `
      return [name, `${verdict}${more}` || outcome]
    }),
  )

/** Runs them and compares each result; a failed scenario may have only the failures of its row. */
export async function holds(
  intermediary: Side,
  rows: Readonly<Record<string, Row>>,
  also: Also = {},
): Promise<FailureDetails> {
  const told = await tell(intermediary, rows, also)
  const wanted = Object.entries(rows).map(([name, { is }]) => [name, is === 'pass' ? is : expect.stringMatching(is)])
  expect(linesOf(told)).toEqual(Object.fromEntries(wanted))
  const passed = told.scenarios.filter(({ outcome }) => outcome === 'pass')
  expect(new Set(passed.flatMap(({ steps }) => steps.map(({ outcome }) => outcome))), 'of all steps').toEqual(
    new Set(passed.length > 0 ? ['pass'] : []),
  )
  return told
}
