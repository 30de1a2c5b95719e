/** Levels, exit codes, expected failures and coverage of a certificate. */
import { describe, expect, it } from 'vitest'
import type { CheckResult } from '../../src/running/certifier/check.ts'
import { CHECKS } from '../../src/running/certifier/checks/index.ts'
import { coverageOf, exercisedIn } from '../../src/running/certifier/coverage.ts'
import { certificate, checkResult, failedResult, unobservedResult, warnedResult } from '../reporters/certificates.ts'
import { CHATS, Journal } from '../reporters/run-results.ts'

const resilience = { profile: 'resilience' } as const
const failed = failedResult()
const expects = (check: string, until: string | null = null) => ({ expected: [{ check, because: 'known', until }] })

describe('levels', () => {
  it.each<[string, readonly CheckResult[], object, string | null, string | null]>([
    ['every check passes', [checkResult(), checkResult(resilience)], {}, 'strict', null],
    ['a SHOULD of webhook is open', [warnedResult(), checkResult(resilience)], {}, 'resilient', null],
    ['a MUST check warns about a SHOULD', [warnedResult({ level: 'MUST' })], {}, 'resilient', null],
    ['a SHOULD of resilience is open', [checkResult(), warnedResult(resilience)], {}, 'basic', null],
    ['resilience was not asked for', [checkResult()], { profiles: ['webhook', 'flow'] }, 'basic', null],
    ['a MUST fails', [failed], {}, null, 'unmet'],
    ['a MUST is not observed', [unobservedResult()], {}, null, 'unmet'],
    ['a MUST fails as expected', [failed], expects('SIG-01'), null, 'unmet'],
    ['a SHOULD fails as expected', [warnedResult()], expects('SIG-01'), 'resilient', null],
    ['checks were left out', [checkResult()], { isPartial: true }, null, 'partial'],
    ['only webhook was checked', [checkResult()], { profiles: ['webhook'] }, null, 'profiles'],
    ['the run stopped', [checkResult()], { stopped: 'interrupted' }, null, 'stopped'],
  ])('%s', (_, checks, given, level, levelObstacle) => {
    expect(certificate(checks, given)).toMatchObject({ level, levelObstacle })
  })
})

describe('exit codes', () => {
  const error = checkResult({ id: 'SIG-09' }, { outcome: 'error' })
  it.each<[string, readonly CheckResult[], object, number]>([
    ['no MUST is broken', [checkResult(), warnedResult()], {}, 0],
    ['only a warning', [warnedResult()], {}, 0],
    ['a MUST is broken', [failed], {}, 1],
    ['a SHOULD with --strict', [warnedResult()], { strict: true }, 1],
    ['an expected failure', [failed], expects('SIG-01'), 0],
    ['an expected warning with --strict', [warnedResult()], { strict: true, ...expects('SIG-01') }, 0],
    ['an expected failure on its last day', [failed], expects('SIG-01', '2026-03-01'), 0],
    ['an expected failure after its last day', [failed], expects('SIG-01', '2026-02-28'), 1],
    ['a MUST that was not observed', [checkResult(), unobservedResult()], {}, 4],
    ['a SHOULD that was not observed', [checkResult(), unobservedResult({ level: 'SHOULD' })], {}, 0],
    ['a SHOULD that was not observed, with --strict', [unobservedResult({ level: 'SHOULD' })], { strict: true }, 4],
    ['nothing was checked', [], {}, 4],
    ['the run stopped', [checkResult()], { stopped: 'interrupted' }, 4],
    ['an internal error', [failed, error], {}, 70],
  ])('%s', (_, checks, given, exitCode) => {
    expect(certificate(checks, given).exitCode).toBe(exitCode)
  })
})

it('says of each expected failure what became of it', () => {
  const expected = ['SIG-01', 'SIG-02', 'SIG-03', 'SIG-04'].map(check => ({ check, because: 'known', until: null }))
  const checks = [failed, checkResult({ id: 'SIG-02' }), unobservedResult({ id: 'SIG-03' })]
  const { expectations } = certificate(checks, { expected })
  expect(expectations.map(({ status }) => status)).toEqual(['failed', 'passed', 'unobserved', 'not_run'])
})

it('counts endpoints by answer, events, signatures and faults', () => {
  const log = new Journal()
  log.call('start')
  log.call('start', {}, { status: 503 })
  log.call('message', {}, { answer_lost: 'after' })
  log.call(null, {}, { status: 404 })
  log.delivery('d1', { event: 'REQUESTING TAKEOVER', triggered: true, sign: 'wrong-key', status: 401 })
  log.delivery('d2', { status: null, outcome: 'failed' })
  log.delivery('d3', { event: 'SOMETHING NEW' })
  const hit = { kind: 'fault', chat_id: CHATS.main, fault: 'f', hit: 1, of: 2 }
  log.add({ ...hit, endpoint: 'start', effect: { respond: { status: 503 }, latency: '2s' } })
  log.add({ ...hit, event: 'MESSAGE FROM USER', effect: { delay: '1s' } })
  const coverage = coverageOf([log.entries, []])
  const none = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, lost: 0 }
  const answers = (name: string) => [...coverage.endpoints, ...coverage.events].find(row => row.name === name)?.answers
  expect(answers('start')).toEqual({ ...none, '2xx': 1, '5xx': 1 })
  expect(answers('message')).toEqual({ ...none, lost: 1 })
  expect(answers('end')).toEqual(none)
  expect(coverage.endpoints.at(-1)).toEqual({ name: 'unknown', answers: { ...none, '4xx': 1 } })
  expect(answers('REQUESTING TAKEOVER')).toEqual({ ...none, '4xx': 1 })
  expect(answers('MESSAGE FROM USER')).toEqual({ ...none, lost: 1 })
  expect(coverage.events.at(-1)?.name).toBe('SOMETHING NEW')
  expect(coverage.signatures.find(({ mode }) => mode === 'wrong-key')).toEqual({ mode: 'wrong-key', events: 1 })
  expect(coverage.faults.filter(({ hits }) => hits > 0).map(({ side, effect }) => `${side} ${effect}`)).toEqual([
    'api respond',
    'api latency',
    'webhook delay',
  ])
  const { endpoints, events, faults } = exercisedIn(coverage)
  expect([endpoints, events, faults].map(({ count }) => count)).toEqual([2, 2, 3])
})

it('knows every check by one id', () => {
  expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length)
})
