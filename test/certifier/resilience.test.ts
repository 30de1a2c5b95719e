import { describe, expect, it } from 'vitest'
import { RESILIENCE_BUGS } from './bugs/resilience.ts'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

/** Before the others, and alone in its file: it measures with 200 chats. */
describe('CON and RST', () => {
  it('pass the example, and measure acknowledgements and both directions', async () => {
    const flags = ['--only', 'CON', '--only', 'RST', '--ack-limit', '10s']
    const { checks, exitCode, stderr } = await certifyExample(null, ...flags)
    expect(checks.map(({ id, outcome, findings }) => [id, outcome, findings])).toEqual([
      ['CON-01', 'pass', []],
      ['RST-01', 'pass', []],
    ])
    const measured = checks[0]!.measurements
    for (const what of ['ack', 'to_agent', 'to_user'])
      for (const chats of [20, 200]) {
        const [p50, p95, p99] = ['p50', 'p95', 'p99'].map(share => measured[`${what}_${chats}_chats_${share}_ms`]!)
        expect(p50! <= p95! && p95! <= p99! && p50! >= 0).toBe(true)
      }
    expect(stderr).not.toContain('ended during the run')
    expect(exitCode).toBe(0)
  })
})

describe.concurrent('CON and RST', () => {
  it('CON-01 counts no answers to typing events, and EVT-03 no calls before its events', async () => {
    const { checks } = await certifyExample(
      'types-at-accept',
      '--only',
      'CON',
      '--only',
      'EVT-03',
      '--no-rotate-unspecified',
    )
    // 200 chats may be slow on a busy machine, which is another finding.
    const codes = checks.flatMap(({ id, findings }) => findings.map(({ code }) => `${id} ${code}`))
    expect(codes.filter(code => /^EVT-03|events-refused/.test(code))).toEqual([])
    expect(checks.map(({ id }) => id).sort()).toEqual(['CON-01', 'EVT-03'])
  })

  findsBugs(RESILIENCE_BUGS)
})
