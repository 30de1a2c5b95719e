/** Tests the checks of unusual requests with the example, which passes them, and with bugs that each of them finds. */
import { describe, expect, it } from 'vitest'
import { WIRE_BUGS } from './bugs/wire.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe('WIR', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'WIR')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
  })

  findsBugs(WIRE_BUGS)
})
