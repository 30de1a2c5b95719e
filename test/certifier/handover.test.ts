import { describe, expect, it } from 'vitest'
import { HANDOVER_BUGS } from './bugs/handover.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe.concurrent('FLW', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'FLW')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(checks).toHaveLength(7)
    expect(exitCode).toBe(0)
  })

  it('reports the former paths without a judgement', async () => {
    const { checks, exitCode } = await certifyExample('uses-former-paths', '--only', 'FLW-05')
    expect(checks).toMatchObject([{ outcome: 'info', findings: [{ level: 'INFO', code: 'path-form' }] }])
    expect(checks[0]?.findings[0]?.happened).toMatch(/6 calls used the former name takeover/)
    expect(exitCode).toBe(0)
  })

  it('reports nothing about calls that never came', async () => {
    const { checks } = await certifyExample('ends-locally', '--only', 'FLW-05', '--within', '1s')
    expect(checks).toMatchObject([{ outcome: 'inconclusive', reason_code: 'calls_missing' }])
    expect(checks[0]?.reason).toContain('no call of end followed')
  })

  findsBugs(HANDOVER_BUGS)
})
