/** Decides which check is blamed for the end of an intermediary, from the requests that were open. */
import { describe, expect, it } from 'vitest'
import type { CheckResult } from '../../src/running/certifier/check.ts'
import { withoutTarget } from '../../src/running/certifier/target-watch.ts'
import { checkResult } from '../reporters/certificates.ts'

describe('what is said about the request that ended an intermediary', () => {
  const USUAL = { 'Kindly-HMAC': 'x', 'Kindly-HMAC-algorithm': 'y', 'content-type': 'application/json' }
  const delivery = (atMs: number, headers: Record<string, string>, status: number | null = null) => ({
    kind: 'delivery',
    seq: atMs,
    time: new Date(atMs).toISOString(),
    duration_ms: 10,
    event: 'REQUESTING TAKEOVER',
    status,
    request: { headers },
    ...(status === null && { failure: { code: 'connection_reset' } }),
  })
  const ran = (id: string, ...entries: readonly ReturnType<typeof delivery>[]) =>
    checkResult({ id }, { journal: entries as unknown as CheckResult['journal'] })
  const answered = Array.from({ length: 10 }, (_, at) =>
    ran(`EVT-${at}`, delivery(at + 1, at < 7 ? { ...USUAL, id: '1' } : USUAL, 200)),
  )
  const failedOf = (results: readonly CheckResult[]) => results.filter(({ outcome }) => outcome === 'fail')

  it('blames no check for the way a body is sent, or for a header that only some checks vary', () => {
    const chunked = ran('WIR-01', delivery(100, USUAL))
    const decided = withoutTarget([...answered, chunked, ran('SIG-01', delivery(101, USUAL))])
    expect(decided.map(({ outcome }) => outcome)).toEqual([
      ...answered.map(() => 'pass'),
      'inconclusive',
      'inconclusive',
    ])
  })

  it('names the other checks that sent an unusual request at the same time', () => {
    const { 'Kindly-HMAC-algorithm': _, ...without } = USUAL
    const results = [...answered, ran('SIG-06', delivery(101, without)), ran('SIG-02', delivery(100, without))]
    const [failed, ...others] = failedOf(withoutTarget(results))
    expect(others).toEqual([])
    expect(failed?.check.id).toBe('SIG-02')
    expect(failed?.findings[0]?.happened).toMatch(
      / SIG-06 sent unusual requests at the same time, which may be the cause/,
    )
  })
})
