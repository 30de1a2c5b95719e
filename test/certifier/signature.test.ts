import { describe, expect, it } from 'vitest'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe('SIG', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'SIG')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
  })

  findsBugs([
    {
      bug: 'checks-no-signature',
      check: 'SIG-03',
      outcome: 'fail',
      code: 'forged-event-used',
      says: /signature made with another key had an effect: the agent sees it/,
    },
  ])
})
