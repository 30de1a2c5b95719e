import { describe, expect, it } from 'vitest'
import { EVENTS_BUGS } from './bugs/events.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe('EVT', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'EVT')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
  })

  findsBugs(EVENTS_BUGS)
})
