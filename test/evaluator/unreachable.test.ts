/** Tests every way in which the intermediary can vanish: an error of the environment, or a failure of the scenario. */
import { describe } from 'vitest'
import type { Delivered } from '../scenario/journal-builder.ts'
import { call, driven, type Happening, stimulus, testVerdicts } from './verdicts.ts'

const STEPS = { steps: [{ press: 'handover' }, { user: 'Hi' }, { check: { status: 'bot' } }] }
const ACCEPT = { steps: [{ press: 'handover' }, { agent: 'accept' }, { check: { status: 'bot' } }] }
const TAKEOVER = 'REQUESTING TAKEOVER'

/** The intermediary ended by itself. */
const ended: Happening = journal =>
  journal.note('target_output', { ended: { code: 'exited', exit_code: 1 }, lines: ['Error: out of order'], file: null })

/** It goes on after an exception. */
const printed: Happening = journal =>
  journal.note('target_output', { ended: null, lines: ['StackOverflowError', '    at Pattern.match'], file: null })

describe.each([
  ['connection_refused', 'ECONNREFUSED'],
  ['connection_reset', 'ECONNRESET'],
  ['connection_closed', 'UND_ERR_SOCKET'],
  ['connection_closed', 'EPIPE'],
  ['connect_timeout', 'ETIMEDOUT'],
  ['no_route', 'EHOSTUNREACH'],
  ['dns_not_found', 'ENOTFOUND'],
  ['dns_no_answer', 'EAI_AGAIN'],
] as const)('%s (%s)', (code, system_code) => {
  const failure = { target: '127.0.0.1:3000', code, system_code }
  const lost: readonly Delivered[] = [{ status: null, failure }]
  const isBroken = code === 'connection_reset' || code === 'connection_closed'
  testVerdicts({
    'before any answer or call is an error, unless the intermediary broke the connection': [
      STEPS,
      [stimulus(1, TAKEOVER, lost)],
      { kind: isBroken ? 'stimulus' : 'environment', step: { number: 1 }, ...(isBroken && { hintCode: 'https' }) },
      { outcome: isBroken ? 'fail' : 'error' },
    ],
    'after an answer fails the scenario': [
      STEPS,
      [stimulus(1), stimulus(2, 'MESSAGE FROM USER', lost)],
      { kind: 'stimulus', step: { number: 2 }, rules: ['WH2'] },
    ],
    'after a call fails the scenario': [
      STEPS,
      [call('transcript'), stimulus(1, TAKEOVER, lost)],
      { kind: 'stimulus', step: { number: 1 } },
    ],
    'of a program that ended in an earlier scenario is an error': [
      STEPS,
      [ended, stimulus(1, TAKEOVER, lost)],
      { kind: 'environment', hintCode: 'target_ended' },
      { outcome: 'error' },
    ],
    'of a program that ends in this scenario fails it': [
      STEPS,
      [stimulus(1), stimulus(2, 'MESSAGE FROM USER', lost), ended],
      { kind: 'stimulus', hintCode: 'target_ended' },
    ],
    'of the desk fails the scenario when the webhook answered': [
      ACCEPT,
      [stimulus(1), driven(2, 'accept', { outcome: 'unreachable', failure })],
      { kind: 'driver' },
    ],
  })
})

testVerdicts({
  'a program that prints an exception and does not answer is not only slow': [
    STEPS,
    [stimulus(1, TAKEOVER, [{ status: null, failure: { code: 'timeout', timeout_ms: 10_000 } }]), printed],
    { kind: 'stimulus', hintCode: 'exception' },
  ],
  'without a webhook URL the event is not sent, which is an error': [
    STEPS,
    [stimulus(1, TAKEOVER, [{ status: null, outcome: 'skipped', failure: { code: 'no_url' } }])],
    { kind: 'environment' },
    { outcome: 'error', reason: 'REQUESTING TAKEOVER was not sent: no webhook URL is set' },
  ],
})
