/** Tests the checks of signatures with the example, which passes them, and with bugs that each of them finds. */
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
      bug: 'compares-hex',
      check: 'SIG-01',
      outcome: 'fail',
      code: 'valid-signature-refused',
      says: /answered 401 to a validly signed .* It accepts an event with this mistake: the signature is hexadecimal/,
    },
    {
      bug: 'adds-a-newline-to-the-key',
      check: 'SIG-01',
      outcome: 'fail',
      code: 'valid-signature-refused',
      says: /a key that differs in white space .* \(with a newline at the end\)/,
    },
    {
      bug: 'accepts-unsigned-events',
      check: 'SIG-02',
      outcome: 'fail',
      code: 'forged-event-used',
      says: /with no signature had an effect: the agent sees it/,
    },
    {
      bug: 'checks-no-signature',
      check: 'SIG-03',
      outcome: 'fail',
      code: 'forged-event-used',
      says: /signature made with another key had an effect: the agent sees it/,
    },
    {
      bug: 'checks-no-signature',
      check: 'SIG-04',
      outcome: 'fail',
      code: 'forged-event-used',
      says: /one byte changed after signing had an effect/,
    },
    {
      bug: 'compares-a-prefix',
      check: 'SIG-05',
      outcome: 'fail',
      code: 'forged-event-used',
      says: /only the first 33 characters of its signature had an effect/,
    },
    {
      bug: 'compares-letters-only',
      check: 'SIG-05',
      outcome: 'fail',
      code: 'forged-event-used',
      says: /its signature in other letter case had an effect/,
    },
    {
      bug: 'decodes-the-signature',
      check: 'SIG-05',
      outcome: 'warn',
      code: 'forged-event-used',
      says: /its signature in base64url instead of base64 had an effect/,
    },
    {
      bug: 'compares-without-lengths',
      check: 'SIG-05',
      outcome: 'warn',
      code: 'forged-event-error',
      says: /answered 500 to .* with an empty signature/,
    },
    {
      bug: 'reads-the-algorithm',
      check: 'SIG-06',
      outcome: 'warn',
      code: 'variant-error',
      says: /answered 500 to .* with no header that names the algorithm/,
    },
    {
      bug: 'dies-without-algorithm',
      check: 'SIG-06',
      outcome: 'fail',
      code: 'control-refused',
      says: /after this check was not answered/,
    },
    {
      bug: 'restringifies',
      check: 'SIG-07',
      outcome: 'fail',
      code: 'serialisation-refused',
      says: /accepted when it was compact, in another order of fields.*JSON.stringify.*It accepts .*parsed and serialized again/,
    },
    {
      bug: 'verifies-latin1',
      check: 'SIG-07',
      outcome: 'fail',
      code: 'serialisation-refused',
      says: /non-ASCII text fail and the one without it passes: the body is decoded.*Latin-1/,
    },
    {
      bug: 'verifies-trimmed',
      check: 'SIG-07',
      outcome: 'fail',
      code: 'serialisation-refused',
      says: /when their JSON was followed by a newline, and.*trimmed before it is verified.*\(without the newline at the end\)/,
    },
    {
      bug: 'opens-twice',
      check: 'SIG-08',
      outcome: 'warn',
      code: 'replay-used',
      says: /again, after 2s, shows the agent a further request/,
    },
  ])
})
