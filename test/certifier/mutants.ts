/** Lists which bug each check of the certification finds, and by which finding. */
import { expect, it } from 'vitest'
import { groupBy } from '../../src/base/objects.ts'
import type { BugName } from '../mutants/patches.ts'
import { ALSO_FAILED } from './also-failed.ts'
import { certifyExample, type ReportedCertificate } from './target.ts'

export interface FoundBug {
  readonly bug: BugName
  readonly check: string
  readonly outcome: 'fail' | 'warn' | 'info'
  readonly code: string
  /** Part of what happened. */
  readonly says: RegExp
  /** Flags that make the bug visible; with them only the check itself is run. */
  readonly flags?: readonly string[]
}

/** Checks of load and of restarts take long, and those of faults too: they run only for the bugs that they find. */
const SLOW = ['CON', 'RST', 'FLT']
/** The defaults of the platform, so that a bug fails a check for one reason; and patient, because several suites run at once. */
const SUITE = ['--seed', '1', '--no-rotate-unspecified', '--within', '6s']

/**
 * Certifies the example with each bug: every row's check finds it by its finding, and of the other checks, no more fail than
 * `ALSO_FAILED` names for the bug. The families of all these checks run.
 */
export function findsBugs(rows: readonly FoundBug[]): void {
  const isAlone = ({ check, flags }: FoundBug) => flags !== undefined || SLOW.some(family => check.startsWith(family))
  const alone = rows.filter(isAlone)
  if (alone.length > 0)
    it.concurrent.each(alone)('$check finds $bug', async row => {
      expectFound(row, await certifyExample(row.bug, '--only', row.check, ...(row.flags ?? [])))
    })
  const groups = groupBy(
    rows.filter(row => !isAlone(row)),
    ({ bug }) => bug,
  )
  if (groups.size > 0)
    it.concurrent.each([...groups].map(([bug, group]) => ({ bug, group })))('finds $bug', async ({ bug, group }) => {
      const certificate = await certifyExample(bug, ...SUITE, ...familiesOf(bug, group))
      for (const row of group) expectFound(row, certificate)
      const failed = certificate.checks.filter(({ outcome }) => ['fail', 'warn', 'error'].includes(outcome))
      const isOther = (id: string) => group.every(({ check }) => check !== id)
      expect(failed.map(({ id }) => id).filter(isOther)).toEqual((ALSO_FAILED[bug] ?? []).filter(isOther))
    })
}

/** Flags that select the families of the checks that find the bug or fail because of it. */
function familiesOf(bug: BugName, group: readonly FoundBug[]): string[] {
  const ids = [...group.map(({ check }) => check), ...(ALSO_FAILED[bug] ?? [])]
  const families = new Set(ids.map(id => id.replace(/-\d+$/, '')))
  return [...families].flatMap(id => ['--only', id])
}

function expectFound({ check, outcome, code, says }: FoundBug, { checks }: ReportedCertificate): void {
  const result = checks.find(({ id }) => id === check)
  expect(result).toMatchObject({ id: check, outcome })
  const found = result?.findings.filter(finding => finding.code === code).map(({ happened }) => happened)
  expect(found).toContainEqual(expect.stringMatching(says))
}
