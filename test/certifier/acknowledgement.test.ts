import { describe, expect, it } from 'vitest'
import { ACKNOWLEDGEMENT_BUGS } from './bugs/acknowledgement.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe('ACK', () => {
  it('passes the example, and says how long its acknowledgements take', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'ACK')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
    const { ack_slowest_ms, ack_slowest_with_slow_api_ms } = checks.find(({ id }) => id === 'ACK-02')!.measurements
    expect(ack_slowest_ms).toBeGreaterThan(0)
    expect(ack_slowest_with_slow_api_ms).toBeLessThan(5000)
  })

  it.concurrent('fails for an event that is never acknowledged while the API is slow', async () => {
    const flags = ['--only', 'ACK-02', '--ack-limit', '2s', '--no-rotate-unspecified']
    const { checks } = await certifyExample(['announces-before-ack', 'acks-slowly'], ...flags)
    expect(checks[0]).toMatchObject({ outcome: 'fail', findings: [{ level: 'MUST', code: 'acknowledgement-waits' }] })
    expect(checks[0]?.findings[0]?.happened).toMatch(/ After 4s the platform gave up waiting for \d+ answers\.$/)
  })

  findsBugs(ACKNOWLEDGEMENT_BUGS)
})
