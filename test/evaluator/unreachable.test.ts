/** Tests every way in which the intermediary can vanish: an error of the environment, or a failure of the scenario. */
import { describe } from 'vitest'
import type { Delivered } from '../scenario/journal-builder.ts'
import { call, driven, type Happening, stimulus, testVerdicts, type VerdictCase } from './verdicts.ts'

const at = { target: '127.0.0.1:3000' }
const VANISHED = {
  'connection refused': { ...at, code: 'connection_refused', system_code: 'ECONNREFUSED' },
  'connection reset': { ...at, code: 'connection_reset', system_code: 'ECONNRESET' },
  'connection closed before an answer': { ...at, code: 'connection_closed', system_code: 'UND_ERR_SOCKET' },
  'connection closed while sending': { ...at, code: 'connection_closed', system_code: 'EPIPE' },
  'connect timeout': { ...at, code: 'connect_timeout', system_code: 'ETIMEDOUT' },
  'no route': { ...at, code: 'no_route', system_code: 'EHOSTUNREACH' },
  'unknown host name': { ...at, code: 'dns_not_found', system_code: 'ENOTFOUND' },
  'no answer of the name server': { ...at, code: 'dns_no_answer', system_code: 'EAI_AGAIN' },
} as const

const STEPS = { steps: [{ press: 'handover' }, { user: 'Hi' }, { check: { status: 'bot' } }] }
const ACCEPT = { steps: [{ press: 'handover' }, { agent: 'accept' }, { check: { status: 'bot' } }] }

/** The intermediary ended by itself. */
const ended: Happening = journal =>
  journal.note('target_output', { ended: { code: 'exited', exit_code: 1 }, lines: ['Error: out of order'], file: null })

type Failure = (typeof VANISHED)[keyof typeof VANISHED]

/** A table with a row for each way to vanish. */
const each = (row: (failure: Failure) => VerdictCase): Record<string, VerdictCase> =>
  Object.fromEntries(Object.entries(VANISHED).map(([title, failure]) => [title, row(failure)]))

const lost = (failure: Failure): readonly Delivered[] => [{ status: null, failure }]

const isBroken = ({ code }: Failure) => code === 'connection_reset' || code === 'connection_closed'

describe('an intermediary that never answered and never called is an error, unless it broke the connection', () => {
  testVerdicts(
    each(failure => [
      STEPS,
      [stimulus(1, 'REQUESTING TAKEOVER', lost(failure))],
      [{ kind: isBroken(failure) ? 'stimulus' : 'environment', step: { number: 1 } }],
      { outcome: isBroken(failure) ? 'fail' : 'error' },
    ]),
  )
})

describe('an intermediary that answered before fails the scenario', () => {
  testVerdicts(
    each(failure => [
      STEPS,
      [stimulus(1), stimulus(2, 'MESSAGE FROM USER', lost(failure))],
      [{ kind: 'stimulus', step: { number: 2 }, rules: ['WH2'] }],
    ]),
  )
})

describe('an intermediary that called before fails the scenario', () => {
  testVerdicts(
    each(failure => [
      STEPS,
      [call('transcript'), stimulus(1, 'REQUESTING TAKEOVER', lost(failure))],
      [{ kind: 'stimulus', step: { number: 1 } }],
    ]),
  )
})

describe('a program that ended in an earlier scenario is an error, with its end as the cause', () => {
  testVerdicts(
    each(failure => [
      STEPS,
      [ended, stimulus(1, 'REQUESTING TAKEOVER', lost(failure))],
      [{ kind: 'environment', hintCode: 'target_ended' }],
      { outcome: 'error' },
    ]),
  )
})

describe('a program that ends in this scenario fails it, with its end as the cause', () => {
  testVerdicts(
    each(failure => [
      STEPS,
      [stimulus(1), stimulus(2, 'MESSAGE FROM USER', lost(failure)), ended],
      [{ kind: 'stimulus', hintCode: 'target_ended' }],
    ]),
  )
})

describe('a desk that vanishes is a failure when the webhook answered', () => {
  testVerdicts(
    each(failure => [
      ACCEPT,
      [stimulus(1), driven(2, 'accept', { outcome: 'unreachable', failure })],
      [{ kind: 'driver' }],
    ]),
  )
})

describe('without a webhook URL', () => {
  testVerdicts({
    'the event is not sent, which is an error': [
      STEPS,
      [stimulus(1, 'REQUESTING TAKEOVER', [{ status: null, outcome: 'skipped', failure: { code: 'no_url' } }])],
      [{ kind: 'environment' }],
      { outcome: 'error', reason: 'REQUESTING TAKEOVER was not sent: no webhook URL is set' },
    ],
  })
})
