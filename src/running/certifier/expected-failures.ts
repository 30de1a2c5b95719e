/** Reads which checks are known to fail, and compares that with the results. */
import * as z from 'zod/mini'
import { byLine, ConfigError, type Problem } from '../../base/files/errors.ts'
import { fieldName } from '../../base/schemas/explain-issues.ts'
import { nearest } from '../../base/text/error-text.ts'
import { described, predicateSchema } from '../../platform/simulator/setting-schemas.ts'
import type { CheckOutcome, CheckResult } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { readInputFile } from './input-files.ts'

const DAY = /^\d{4}-\d\d-\d\d$/
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && DAY.test(value) && new Date(`${value}T00:00:00Z`).toJSON()?.slice(0, 10) === value
const isReason = (value: unknown) => typeof value === 'string' && value.trim() !== ''

const Expected = z.strictObject({
  check: z.string().check(described('The id of a check', 'SIG-08')),
  because: predicateSchema(isReason, () => 'a reason, for those who read the report', {
    type: 'string',
    minLength: 1,
    description: 'Why it fails',
  }),
  until: z.optional(
    predicateSchema(isDay, () => 'a day such as 2027-01-31', {
      type: 'string',
      format: 'date',
      description: 'The last day on which it may fail; later it counts again',
    }),
  ),
})

/** The file of `--expected-failures`. */
const ExpectedFailuresFile = z.strictObject({ version: z.literal(1), expected: z.array(Expected) })

export function expectedFailuresJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(ExpectedFailuresFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Expected failures of handover-sim certify', ...schema }
}

/** A check that is known to fail. */
export interface ExpectedFailure {
  readonly check: string
  readonly because: string
  /** The last day on which it may fail, `2027-01-31`; null for always. */
  readonly until: string | null
}

/**
 * failed: as expected, so it does not fail the run. expired: it failed after its last day, so it does. passed: the line
 * can go. unobserved: blocked, inconclusive, or an internal error. not_run: the check was left out.
 */
export type ExpectationStatus = 'failed' | 'expired' | 'passed' | 'unobserved' | 'not_run'

export interface ExpectationResult extends ExpectedFailure {
  readonly status: ExpectationStatus
}

/** Throws `ConfigError`. */
export function loadExpectedFailures(name: string, cwd: string): ExpectedFailure[] {
  const ids = CHECKS.map(({ id }) => id)
  const { value, source } = readInputFile(name, cwd, ExpectedFailuresFile)
  const problems: Problem[] = []
  const expected = new Map<string, ExpectedFailure>()
  for (const [index, { check, because, until }] of value.expected.entries()) {
    const path = ['expected', index, 'check']
    const report = (message: string) => problems.push(source.problem(path, 'value', fieldName(path), message))
    if (expected.has(check)) report(`${check} is in the list already`)
    else if (!ids.includes(check)) {
      const hint = nearest(check, ids) || '; npx handover-sim certify --list prints all of them'
      report(`${JSON.stringify(check)} is no check${hint}`)
    }
    expected.set(check, { check, because: String(because), until: until === undefined ? null : String(until) })
  }
  if (problems.length > 0) throw new ConfigError(byLine(problems))
  return [...expected.values()]
}

export function meetExpectations(
  expected: readonly ExpectedFailure[],
  results: readonly CheckResult[],
  startedAt: string,
): ExpectationResult[] {
  const outcomes = new Map<string, CheckOutcome>()
  for (const { check, outcome } of results) outcomes.set(check.id, outcome)
  const today = startedAt.slice(0, 10)
  return expected.map(expectation => {
    const outcome = outcomes.get(expectation.check)
    let status: ExpectationStatus = 'passed'
    if (outcome === undefined) status = 'not_run'
    else if (outcome === 'fail' || outcome === 'warn')
      status = expectation.until !== null && today > expectation.until ? 'expired' : 'failed'
    else if (outcome === 'blocked' || outcome === 'inconclusive' || outcome === 'error') status = 'unobserved'
    return { ...expectation, status }
  })
}

/** Whether the check failed as expected. */
export const isExpected = (id: string, expectations: readonly ExpectationResult[]): boolean =>
  expectations.some(({ check, status }) => check === id && status === 'failed')
