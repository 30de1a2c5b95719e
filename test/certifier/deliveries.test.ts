import { describe, expect, it } from 'vitest'
import { findsBugs } from './mutants.ts'
import { certifyExample } from './target.ts'

/** Until an effect counts as missing. */
const QUICK = ['--within', '1s', '--no-rotate-unspecified']

describe('DLV', () => {
  it('passes the example, and says how often the agent sees a message that was delivered twice', async () => {
    const { checks, exitCode } = await certifyExample(null, '--only', 'DLV')
    expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(exitCode).toBe(0)
    expect(checks.find(({ id }) => id === 'DLV-02')?.measurements).toEqual({ redelivered_message_seen: 2 })
  })

  findsBugs([
    {
      bug: 'opens-twice',
      check: 'DLV-01',
      outcome: 'warn',
      code: 'conversation-repeated',
      says: /was delivered twice, 50 ms apart, and the agent sees 2 requests/,
    },
    {
      bug: 'request-undoes-takeover',
      check: 'DLV-01',
      outcome: 'warn',
      code: 'conversation-repeated',
      says: /was delivered again while an agent had the chat, and the agent sees [23] requests/,
    },
    {
      bug: 'drops-repeats',
      check: 'DLV-02',
      outcome: 'warn',
      code: 'repeated-text-lost',
      says: /The user wrote "ok" 2 times, and the agent sees it once/,
      flags: QUICK,
    },
    {
      bug: 'reads-the-latest-message',
      check: 'DLV-03',
      outcome: 'warn',
      code: 'overtaken-text-lost',
      says: /delivered 400 ms after a later one, and the agent does not see "Written first, delivered last"/,
      flags: QUICK,
    },
    {
      bug: 'answers-after-end',
      check: 'DLV-04',
      outcome: 'warn',
      code: 'late-message-starts-call',
      says: /made POST \/api\/v2\/handover\/message\/ after a message that came when the handover was over/,
    },
  ])
})
