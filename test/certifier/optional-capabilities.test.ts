import { describe, expect, it } from 'vitest'
import { OPTIONAL_BUGS } from './bugs/optional-capabilities.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

const CHECKS = ['ATT', 'TRL', 'TYP', 'AVL'].flatMap(id => ['--only', id])

describe.concurrent('ATT, TRL, TYP, AVL', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, ...CHECKS)
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(checks).toHaveLength(4)
    expect(exitCode).toBe(0)
  })

  findsBugs(OPTIONAL_BUGS)
})
