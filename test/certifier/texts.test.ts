import { describe, expect, it } from 'vitest'
import { TEXTS_BUGS } from './bugs/texts.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

describe.concurrent('TXT', () => {
  it('passes the example', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'TXT')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(checks).toHaveLength(3)
    expect(exitCode).toBe(0)
  })

  it('reports no text but the one that changed', async () => {
    const { checks } = await certifyExample('joins-lines', '--only', 'TXT')
    expect(checks.map(({ id, findings }) => [id, findings.length])).toEqual([
      ['TXT-01', 1],
      ['TXT-02', 0],
      ['TXT-03', 0],
    ])
  })

  findsBugs(TEXTS_BUGS)
})
