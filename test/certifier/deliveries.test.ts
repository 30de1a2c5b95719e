import { describe, expect, it } from 'vitest'
import { DELIVERIES_BUGS } from './bugs/deliveries.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe('DLV', () => {
  it('passes the example, and says how often the agent sees a message that was delivered twice', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'DLV')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
    expect(checks.find(({ id }) => id === 'DLV-02')?.measurements).toEqual({ redelivered_message_seen: 2 })
  })

  findsBugs(DELIVERIES_BUGS)
})
