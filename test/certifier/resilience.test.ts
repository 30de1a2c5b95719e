import { describe, expect, it } from 'vitest'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

const flags = ['--no-rotate-unspecified']

describe.concurrent('CON and RST', () => {
  it('pass the example, and measure acknowledgements and both directions', async () => {
    const { checks, exitCode, stderr } = await certifyExample(null, '--only', 'CON', '--only', 'RST')
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

  findsBugs([
    {
      bug: 'mixes-up-chats',
      check: 'CON-01',
      outcome: 'fail',
      code: 'text-in-other-chat',
      says: /With 20 chats at once, \d+ texts? came to another chat. The first: what the agent of the chat "20 at once, \d+" wrote was sent to the user of "20 at once, \d+"/,
      flags,
    },
    {
      bug: 'forgets-on-restart',
      check: 'RST-01',
      outcome: 'warn',
      code: 'lost-by-restart',
      says: /After a restart with kill -9, start did not come: the agent driver failed at accept, answered 404/,
      flags,
    },
    {
      bug: 'acks-before-storing',
      check: 'RST-01',
      outcome: 'warn',
      code: 'lost-by-restart',
      says: /After a restart with kill -9, start did not come/,
      flags,
    },
    {
      bug: 'ends-locally',
      check: 'RST-01',
      outcome: 'warn',
      code: 'lost-by-restart',
      says: /end did not come: the agent driver performed leave, and no call followed within/,
      flags,
    },
  ])
})
