import { describe, expect, it } from 'vitest'
import { certifyExample } from './target.ts'

describe('an intermediary that ends by itself', () => {
  it('is started again, and only the check that ends it fails', async () => {
    const others = ['--only', 'ACK-01', '--only', 'SIG-02', '--only', 'FLW-01', '--within', '2s']
    const { checks, stopped, exitCode } = await certifyExample('ends-at-unknown-events', '--only', 'EVT', ...others)
    expect(checks.filter(({ outcome }) => outcome !== 'pass').map(({ id }) => id)).toEqual(['EVT-01'])
    const [first] = checks.find(({ id }) => id === 'EVT-01')?.findings ?? []
    expect(first).toMatchObject({ level: 'MUST', code: 'target-ended' })
    expect(first?.happened).toMatch(/^The intermediary ended by itself after CUSTOMER RATING GIVEN: .* exit code 3/)
    expect({ stopped, exitCode }).toEqual({ stopped: null, exitCode: 1 })
  })
})
