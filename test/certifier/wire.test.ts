/** Tests the checks of unusual requests with the example, which passes them, and with bugs that each of them finds. */
import { describe, expect, it } from 'vitest'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe('WIR', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'WIR')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
  })

  findsBugs([
    {
      bug: 'wants-a-length',
      check: 'WIR-01',
      outcome: 'warn',
      code: 'variant-refused',
      says: /answered 411 to a validly signed .* with a body in chunks/,
    },
    {
      bug: 'reads-one-piece',
      check: 'WIR-01',
      outcome: 'warn',
      code: 'variant-refused',
      says: /answered 401 to .* with a body that arrives in pieces/,
    },
    {
      bug: 'wants-no-charset',
      check: 'WIR-01',
      outcome: 'warn',
      code: 'variant-refused',
      says: /answered 415 to .* with a charset in the Content-Type/,
    },
    {
      bug: 'breaks-on-byte-order-mark',
      check: 'WIR-02',
      outcome: 'warn',
      code: 'variant-error',
      says: /answered 500 to .* with a byte order mark/,
    },
    {
      bug: 'needs-a-content-type',
      check: 'WIR-02',
      outcome: 'warn',
      code: 'variant-error',
      says: /answered 500 to .* with no Content-Type/,
    },
  ])
})
