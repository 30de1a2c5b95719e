/** Lists which bug each check of the certification finds, and by which finding. */
import { expect, it } from 'vitest'
import type { FindingCode } from '../../src/certifier/findings/index.ts'
import type { BugName } from '../mutants/patches.ts'
import { certifyExample } from './target.ts'

export interface FoundBug {
  readonly bug: BugName
  readonly check: string
  readonly outcome: 'fail' | 'warn'
  readonly code: FindingCode
  /** Part of what happened. */
  readonly says: RegExp
  /** Flags that make the check quicker, or the bug visible. */
  readonly flags?: readonly string[]
}

/** Certifies the example with each bug by the check that must find it. */
export function findsBugs(bugs: readonly FoundBug[]): void {
  it.concurrent.each(bugs)('$check finds $bug', async ({ bug, check, outcome, code, says, flags = [] }) => {
    const { checks } = await certifyExample(bug, '--only', check, ...flags)
    const [result] = checks
    expect(result).toMatchObject({ id: check, outcome })
    const found = result?.findings.filter(finding => finding.code === code).map(({ happened }) => happened)
    expect(found).toContainEqual(expect.stringMatching(says))
  })
}
