/** Tests the checks of signatures with the example, which passes them, and with bugs that each of them finds. */
import { describe, expect, it } from 'vitest'
import { SIGNATURE_BUGS } from './bugs/signature.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe('SIG', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'SIG')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
  })

  findsBugs(SIGNATURE_BUGS)
})
