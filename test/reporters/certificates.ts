/** Certificates made by hand: what a certification would hand to the reports. */

import type { Finding } from '../../src/evaluation/finding.ts'
import { defaultKnobs } from '../../src/platform/contract/knobs.ts'
import { type Certificate, certificateOf } from '../../src/running/certifier/certificate.ts'
import type { CheckDefinition, CheckResult } from '../../src/running/certifier/check.ts'
import type { ExpectedFailure } from '../../src/running/certifier/expected-failures.ts'
import { type CertificateReport, describeCertificate } from '../../src/running/certifier/report.ts'
import { rotationTiers } from '../../src/running/certifier/rotation.ts'
import { hostileResult } from './hostile.ts'
import { CHATS, Journal } from './run-results.ts'

type Definition = Pick<CheckDefinition, 'id' | 'level' | 'profile'>

const checkOf = (given: Partial<Definition> = {}, title = 'An event has no effect'): CheckDefinition => ({
  id: 'SIG-01',
  level: 'MUST',
  profile: 'webhook',
  rules: ['A4'],
  title,
  sends: 'An event.',
  observes: 'The answer.',
  passes: 'The status is 200.',
  run: async () => {},
  ...given,
})

export const checkResult = (given: Partial<Definition> = {}, more: Partial<CheckResult> = {}): CheckResult => ({
  check: checkOf(given),
  outcome: 'pass',
  findings: [],
  reason: null,
  measurements: {},
  rotated: {},
  decisive: [],
  avoided: null,
  durationMs: 120,
  journal: [],
  chats: {},
  ...more,
})

const refused: Finding = {
  level: 'MUST',
  code: 'event-refused',
  happened: 'The webhook answered 500 to a validly signed REQUESTING TAKEOVER.',
  hint: 'Answer 200 as soon as the event is stored, also when its content is not used.',
  details: { event: 'REQUESTING TAKEOVER', status: 500 },
  entrySeqs: [2],
  conversation: null,
}

function refusedJournal() {
  const log = new Journal()
  const pressed = log.press()
  log.delivery('d1', { event: 'REQUESTING TAKEOVER', status: 500, outcome: 'failed', triggered: true })
  log.event('MESSAGE FROM USER', 'd2', pressed, 'of another chat', CHATS.bo)
  return log.entries
}

/** A check that fails: the event was answered with 500. */
export const failedResult = (given: Partial<Definition> = {}): CheckResult =>
  checkResult(given, {
    outcome: 'fail',
    findings: [refused],
    journal: refusedJournal(),
    chats: { first: CHATS.main, other: CHATS.bo },
  })

export const warnedResult = (given: Partial<Definition> = {}): CheckResult => {
  const finding: Finding = { ...refused, level: 'SHOULD' }
  return { ...failedResult({ level: 'SHOULD', ...given }), outcome: 'warn', findings: [finding] }
}

export const unobservedResult = (given: Partial<Definition> = {}): CheckResult =>
  checkResult(given, {
    outcome: 'inconclusive',
    reason: {
      code: 'driver_missing',
      text: 'This check needs an agent driver, which acts as the human agent: pass --agent-driver FILE.',
    },
  })

/** A check that could not judge, because another check shows the cause. */
export const blockedResult = (by: string, given: Partial<Definition> = {}): CheckResult =>
  checkResult(given, {
    outcome: 'blocked',
    reason: {
      code: 'blocked',
      by,
      text: `${by} shows the cause, which ended this check before it could judge: ${refused.happened}`,
    },
  })

interface Given extends Partial<Certificate> {
  readonly strict?: boolean
  readonly expected?: readonly ExpectedFailure[]
}

export function certificate(checks: readonly CheckResult[], given: Given = {}): Certificate {
  const { strict = false, expected = [], ...facts } = given
  return certificateOf(
    {
      version: '0.1.0',
      machine: { node: 'v24.1.0', os: 'linux x64' },
      target: 'http://127.0.0.1:3000/webhook',
      seed: 7,
      rotates: true,
      tiers: rotationTiers(undefined, defaultKnobs()),
      limits: { ackMs: 5000, effectMs: 5000, quietMs: 2000 },
      missing: [],
      startedAt: '2026-03-01T10:00:00.000Z',
      durationMs: 4200,
      profiles: ['webhook', 'flow', 'resilience'],
      isPartial: false,
      stopped: null,
      ...facts,
      checks,
    },
    { strict, expected },
  )
}

export const certificateReport = (checks: readonly CheckResult[], given: Given = {}): CertificateReport =>
  describeCertificate(certificate(checks, given), id => `npx handover-sim certify --only ${id} --seed 7`)

/** What each outcome looks like, one of them an expected failure. */
export const MIXED = certificateReport(
  [
    checkResult({ id: 'SIG-01' }, { measurements: { ack_20_chats_p50_ms: 3, ack_20_chats_p95_ms: 12.345, copies: 2 } }),
    failedResult({ id: 'SIG-02' }),
    unobservedResult({ id: 'SIG-03' }),
    unobservedResult({ id: 'SIG-04' }),
    failedResult({ id: 'FLW-01', profile: 'flow' }),
    warnedResult({ id: 'FLW-02', profile: 'flow' }),
    checkResult(
      { id: 'ATT-01', profile: 'flow' },
      {
        outcome: 'not_applicable',
        reason: {
          code: 'capability_missing',
          text: 'The capability file says that there is no support for attachments.',
        },
      },
    ),
  ],
  { expected: [{ check: 'FLW-01', because: 'the old gateway', until: '2027-01-31' }] },
)

/** SIG-01 stopped three other checks, of which one judged when it was repeated. */
export const BLOCKED = certificateReport([
  failedResult({ id: 'TXT-01', profile: 'flow' }),
  failedResult(),
  blockedResult('SIG-01', { id: 'SIG-02' }),
  blockedResult('SIG-01', { id: 'SIG-03', level: 'SHOULD' }),
  checkResult({ id: 'ACK-01' }, { avoided: { check: 'SIG-01', knobs: { 'webhook.json': 'compact' } } }),
])

export const CAUSE = refused.happened
export const STOPPED = 'It also stopped 3 other checks: 1 judged when repeated without it, 2 are blocked.'

/** A certificate with this text in every place that a target, a driver or a user writes. */
export function hostileCertificate(text: string): CertificateReport {
  const { journal, conversations } = hostileResult(text)
  const details = { event: text, failure: { code: 'function_threw', detail: text } }
  const texts = {
    happened: `The webhook gave no answer to ${text}.`,
    hint: `Look in the log for ${text}.`,
    conversation: null,
  }
  const finding: Finding = { level: 'MUST', code: 'no-answer', ...texts, details, entrySeqs: [2, 3] }
  const failed = { outcome: 'fail', findings: [finding, { ...finding, level: 'SHOULD' }], journal } as const
  const chats = { ...conversations, [text]: CHATS.main }
  const decisive = [{ knob: 'webhook.json', value: text, initial: text }]
  const checks = [
    checkResult({}, { ...failed, chats, decisive, rotated: { [text]: text }, measurements: { [text]: 1.23 } }),
    checkResult({ id: 'SIG-02' }, { ...failed, chats }),
    checkResult({ id: 'SIG-03' }, { outcome: 'warn', findings: [{ ...finding, level: 'SHOULD' }], journal, chats }),
    unobservedResult({ id: 'SIG-04' }),
    checkResult({ id: 'SIG-05' }),
  ]
  const expected = [{ check: 'SIG-02', because: text, until: null }]
  return certificateReport(checks, { target: text, stopped: text, expected })
}
