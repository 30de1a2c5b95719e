/** Certifies the example with bugs that stop many checks: one check fails for each, and a second bug is found too. */
import { describe, expect, it } from 'vitest'
import { explainFindings, knobsWithout } from '../../src/running/certifier/causes.ts'
import type { CheckResult } from '../../src/running/certifier/check.ts'
import type { CheckFinding } from '../../src/running/certifier/finding.ts'
import type { BugName } from '../mutants/patches.ts'
import { checkResult } from '../reporters/certificates.ts'
import { STOPPING_BUGS } from './bugs/causes.ts'
import { certifyExample, type ReportedCheck } from './target.ts'

const WHOLE = ['--profile', 'webhook,flow', '--seed', '1', '--within', '2s']

const idsOf = (checks: readonly ReportedCheck[], ...outcomes: readonly string[]) =>
  checks.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id)

describe('a bug that stops many checks', () => {
  it.concurrent.each(STOPPING_BUGS)('$bug fails $check', async row => {
    const { bug, check, code, says, also = [], stops } = row
    const { checks, causes, exitCode } = await certifyExample(bug, ...WHOLE)
    expect(idsOf(checks, 'fail', 'error')).toEqual([check])
    expect(idsOf(checks, 'warn')).toEqual(also)
    expect(exitCode).toBe(1)
    const [cause] = causes
    expect(cause).toMatchObject({ check, text: expect.stringMatching(says) })
    expect(checks.find(({ id }) => id === check)?.findings[0]).toMatchObject({ code })
    const [stopped, how] = stops
    expect(cause?.[how]).toContain(stopped)
    expect(idsOf(checks, 'blocked')).toEqual(cause?.blocked)
    const result = checks.find(({ id }) => id === stopped)
    if (how === 'blocked') expect(result).toMatchObject({ outcome: 'blocked', blocked_by: check, findings: [] })
    else expect(result).toMatchObject({ outcome: 'pass', avoided: { check } })
  })
})

interface Pair {
  readonly bugs: readonly BugName[]
  readonly failed: readonly string[]
  readonly warned: readonly string[]
}

const PAIRS: readonly Pair[] = [
  { bugs: ['restringifies', 'opens-twice'], failed: ['SIG-07'], warned: ['SIG-08', 'WIR-02', 'ACK-03', 'DLV-01'] },
  { bugs: ['expects-attachments', 'ends-twice'], failed: ['EVT-05', 'FLW-04', 'FLW-07'], warned: [] },
  { bugs: ['expects-hyphens-in-ids', 'trims'], failed: ['SIG-01', 'TXT-01'], warned: [] },
]

describe('two bugs at once', () => {
  it.concurrent.each(PAIRS)('$bugs are both found', async ({ bugs, failed, warned }) => {
    const { checks } = await certifyExample(bugs, ...WHOLE)
    expect(idsOf(checks, 'fail', 'error')).toEqual(failed)
    expect(idsOf(checks, 'warn')).toEqual(warned)
    expect(idsOf(checks, 'blocked')).toEqual([])
  })
})

describe('a cause whose check does not run', () => {
  it('fails the check that shows it most clearly, and no check that only ends with a valid event', async () => {
    const { checks, causes } = await certifyExample('compares-hex', '--only', 'SIG-03', '--only', 'EVT-03')
    expect(checks).toMatchObject([
      { id: 'SIG-03', outcome: 'blocked', blocked_by: 'EVT-03' },
      { id: 'EVT-03', outcome: 'fail' },
    ])
    expect(causes[0]?.text).toBe('The webhook answered 401 to a validly signed REQUESTING TAKEOVER, and not 200.')
  })
})

describe('the explanation of findings', () => {
  const found = (code: string, details: CheckFinding['details']): CheckFinding => {
    return { level: 'MUST', code, happened: code, hint: '', details, entrySeqs: [] }
  }
  const result = (id: string, ...findings: readonly CheckFinding[]) =>
    checkResult({ id }, { outcome: 'fail', findings })
  const explained = (...results: readonly ReturnType<typeof result>[]) => {
    const ids: Record<string, string> = {}
    for (const [{ check }, { by }] of explainFindings(results, new Set(results))) ids[check.id] = by.check.id
    return ids
  }
  const missing = (details: object) => found('text-missing', { direction: 'to_user', ...details })
  const ALL = { missing: 20, isEvery: true }

  it.each([
    [result('SIG-01', found('event-refused', { status: 401 })), found('events-refused-under-load', { status: 401 })],
    [
      result('FLW-01', found('call-missing', { endpoint: 'start' })),
      found('lost-under-load', { part: 'start', ...ALL }),
    ],
    [result('FLW-03', missing({}), missing({}), missing({})), found('lost-under-load', { part: 'to_user', ...ALL })],
    [
      result('FLW-05', found('call-refused', { paths: ['/api/v2/handover/start'] })),
      found('call-given-up', { endpoint: 'start' }),
    ],
  ])('finds the cause of failures under load and of faults in $check.id', (by, finding) => {
    expect(explained(by, result('CON-01', finding))).toEqual({ 'CON-01': by.check.id })
  })

  it('finds no cause when only some of the chats are affected, or in another way', () => {
    const refused = result('SIG-01', found('event-refused', { status: 401 }))
    expect(explained(refused, result('CON-01', found('events-refused-under-load', { status: 'mixed' })))).toEqual({})
    const noStart = result('FLW-01', found('call-missing', { endpoint: 'start' }))
    const some = found('lost-under-load', { part: 'start', missing: 3, isEvery: false })
    expect(explained(noStart, result('CON-01', some))).toEqual({})
    expect(explained(result('FLW-03', missing({})), result('TXT-01', missing({})))).toEqual({})
  })

  it('takes what fails only with one behaviour of the platform as one cause, shown by the clearest finding of a MUST', () => {
    const decisive = [{ knob: 'webhook.idHeader', value: 'X-Delivery-Id', initial: 'off' }]
    const varied = (id: string, code: string, level: CheckFinding['level'] = 'MUST') => ({
      ...result(id, { ...found(code, { event: 'REQUESTING TAKEOVER', status: 400 }), level }),
      decisive,
    })
    const stopped = [varied('SIG-04', 'control-refused'), varied('WIR-01', 'variant-refused', 'SHOULD')]
    expect(explained(...stopped, varied('ACK-05', 'event-refused'))).toEqual({ 'SIG-04': 'ACK-05', 'WIR-01': 'ACK-05' })
    expect(explained(...stopped)).toEqual({ 'WIR-01': 'SIG-04' })
  })

  it('gives a form of JSON to repeat a check with, or the usual behaviour when no form is accepted', () => {
    const all = found('serialisation-refused', { refused: ['compact', 'spaced'], accepted: [], status: 400 })
    const decisive = [{ knob: 'webhook.idHeader', value: 'X-Delivery-Id', initial: 'off' }]
    const stopped = result('ACK-01', found('event-refused', { status: 400 }))
    const knobsFor = (by: CheckResult) => knobsWithout({ by, findings: stopped.findings }, stopped)
    expect(knobsFor({ ...result('SIG-07', all), decisive })).toEqual({ 'webhook.idHeader': 'off' })
    const some = { ...all, details: { ...all.details, accepted: ['spaced'] } }
    expect(knobsFor(result('SIG-07', some))).toEqual({ 'webhook.json': 'spaced' })
    expect(knobsFor(result('SIG-07', all))).toBeNull()
  })
})
