/** Checks that the example passes, and that each check finds its bugs. */
import { expect, it } from 'vitest'
import { ALSO_FAILED, BUGS, expectFound, MORE_OPTIONS, OPTIONS } from './bugs.ts'
import { certifyInProcess, idsOf } from './in-process.ts'

it('the example passes all checks of what can be observed without a connection, and they measure', async () => {
  const { checks } = await certifyInProcess(null, { skip: ['CON'] })
  const of = (wanted: string) => checks.find(({ id }) => id === wanted)
  expect(idsOf(checks, 'not_applicable', 'inconclusive')).toEqual(['WIR-01', 'RST-01'])
  expect(idsOf(checks, 'fail', 'warn', 'error', 'blocked')).toEqual([])
  expect(idsOf(checks, 'info')).toEqual(['FLT-04'])
  expect(of('FLT-04')?.findings[0]?.happened).toContain('the user saw the message twice')
  expect(of('DLV-02')?.measurements).toEqual({ redelivered_message_seen: 2 })
  expect(of('ACK-02')?.measurements).toMatchObject({ ack_slowest_ms: 0, ack_slowest_with_slow_api_ms: 0 })
})

it.for(BUGS)('%s is found, and no other check of the same families fails', async ([bug, ...found]) => {
  const also = ALSO_FAILED[bug] ?? []
  const ids = [...found.map(({ check }) => check), ...also]
  const only = [...new Set(ids.map(id => id.replace(/-\d+$/, '')))]
  const { checks } = await certifyInProcess(bug, { only, ...OPTIONS, ...MORE_OPTIONS[bug] })
  for (const one of found) expectFound(one, checks)
  const failed = idsOf(checks, 'fail', 'warn', 'error')
  expect(failed.filter(id => !ids.includes(id))).toEqual([])
})

it('an event that is never acknowledged while the API is slow is reported', async () => {
  const options = { only: ['ACK-02'], ackLimit: '2s', rotateUnspecified: false } as const
  const { checks } = await certifyInProcess(['announces-before-ack', 'acks-slowly'], options)
  expect(checks[0]).toMatchObject({ outcome: 'warn', findings: [{ level: 'SHOULD', code: 'acknowledgement-waits' }] })
  expect(checks[0]?.findings[0]?.happened).toMatch(/ After 4s the platform gave up waiting for \d+ answers\.$/)
})

it('the former paths are reported without a judgement', async () => {
  const { checks } = await certifyInProcess('uses-former-paths', { only: ['FLW-05'] })
  expect(checks).toMatchObject([{ outcome: 'info', findings: [{ level: 'INFO', code: 'path-form' }] }])
  expect(checks[0]?.findings[0]?.happened).toMatch(/6 calls used the former name takeover/)
})

it('nothing is reported about calls that never came', async () => {
  const { checks } = await certifyInProcess('ends-locally', { only: ['FLW-05'], within: '1s' })
  expect(checks).toMatchObject([{ outcome: 'inconclusive', reasonCode: 'calls_missing' }])
  expect(checks[0]?.reason).toContain('no call of end followed')
})

it('answers to typing events are not counted under load', async () => {
  const { checks } = await certifyInProcess('types-at-accept', { only: ['CON', 'EVT-03'], rotateUnspecified: false })
  expect(checks.map(({ id, findings }) => [id, findings])).toEqual([
    ['EVT-03', []],
    ['CON-01', []],
  ])
})
