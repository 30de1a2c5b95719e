/** Reads reports in the Common Test Report Format, and validates them by its JSON Schema. */
import { type CTRFReport, validateStrict } from 'ctrf'
import { expect } from 'vitest'

/** One line, which the schema of CTRF accepts, with counts that are those of its tests. */
export function readCtrf(source: string): CTRFReport['results'] {
  const report: unknown = JSON.parse(source)
  validateStrict(report)
  expect(source.indexOf('\n')).toBe(source.length - 1)
  const { summary, tests } = report.results
  const { passed, failed, skipped, pending, other } = summary
  expect(summary.tests).toBe(tests.length)
  const counted = { passed: 0, failed: 0, skipped: 0, pending: 0, other: 0 }
  for (const { status } of tests) counted[status]++
  expect({ passed, failed, skipped, pending, other }).toEqual(counted)
  return report.results
}
