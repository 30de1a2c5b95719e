import { describe, expect, it } from 'vitest'
import { FAULTS_BUGS } from './bugs/faults.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe.concurrent('FLT', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'FLT')
    expect(checks.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['FLT-01', 'pass'],
      ['FLT-02', 'pass'],
      ['FLT-03', 'pass'],
      ['FLT-04', 'info'],
    ])
    expect(checks[3]?.findings[0]?.happened).toContain('the user saw the message twice')
    expect(exitCode).toBe(0)
  })

  findsBugs(FAULTS_BUGS)
})
