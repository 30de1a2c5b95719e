/** Which entries a style of the log shows is decided from their codes; the renderer and the counts of the log rely on it. */
import { expect, it } from 'vitest'
import { createLog } from '../../src/pages/reporters/log.ts'
import { isShown, type LogStyle } from '../../src/pages/reporters/log-filter.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { at, call, created, delivery, event, failedWith, note, press, refusedWith, says } from './log-samples.ts'

const STYLES = ['pretty', 'compact', 'quiet'] as const
const EVERYWHERE: readonly LogStyle[] = STYLES
const NOT_QUIET: readonly LogStyle[] = ['pretty', 'compact']

const FINDING = { rule: 'R-SENDER.4', message: 'sender.avatar is missing.' }
const CUT = { headers: {}, body: '{' }
const TRIAL = { triggered: true as const, probe: { of: 'd1', code: 'hex', detail: '' } }
const FAULTS = { faults: ['fault-1'] }

const ROWS: readonly (readonly [string, Entry, readonly LogStyle[]])[] = [
  ['an accepted call', call(), NOT_QUIET],
  ['a redirected call', call({ status: 308 }), NOT_QUIET],
  ['a refused call', call({ status: 404, endpoint: null }), EVERYWHERE],
  ['a call refused by a fault', call({ status: 503, ...FAULTS }), NOT_QUIET],
  ['a call with a finding', call({ findings: [FINDING] }), EVERYWHERE],
  ['a call with a fault and a finding', call({ findings: [FINDING], ...FAULTS }), EVERYWHERE],
  ['an answer that a fault lost', call({ status: 0, answer_lost: 'after', ...FAULTS }), NOT_QUIET],
  ['an event', event('x'), ['pretty']],
  ['a delivered event', delivery(), NOT_QUIET],
  ['an event without a webhook', delivery({ outcome: 'skipped', failure: { code: 'no_url' } }), NOT_QUIET],
  ['a refused event', refusedWith(401), EVERYWHERE],
  ['an event that was not sent', failedWith({ code: 'timeout', timeout_ms: 100 }), EVERYWHERE],
  ['a refused event that a fault signed wrong', refusedWith(401, { sign: 'none', ...FAULTS }), NOT_QUIET],
  ['a refused event that a user forged', refusedWith(401, { sign: 'none', triggered: true }), NOT_QUIET],
  ['a refused event that a fault cut', refusedWith(400, { request: CUT, ...FAULTS }), NOT_QUIET],
  ['a refused event that a fault did not change', refusedWith(400, FAULTS), EVERYWHERE],
  ['an accepted event with a wrong signature', delivery({ sign: 'hex', ...FAULTS }), EVERYWHERE],
  ['a refused trial of a diagnosis', refusedWith(401, TRIAL), []],
  ['an accepted trial of a diagnosis', delivery(TRIAL), NOT_QUIET],
  ['a message of the user', says('x'), NOT_QUIET],
  ['a press of the user', press, NOT_QUIET],
  ['a message of the bot', note('bot_message', { message_id: 'm', text: 'x' }), NOT_QUIET],
  ['a fault', at({ kind: 'fault', fault: 'x', effect: { latency: '1s' }, hit: 1, of: null }), NOT_QUIET],
  ['a call of the driver', at({ kind: 'driver', verb: 'accept', outcome: 'ok', how: 'x', duration_ms: 4 }), NOT_QUIET],
  ['a new chat', created, NOT_QUIET],
  ['a takeover', note('taken_over'), []],
  ['another takeover', note('takeover_replaced'), []],
  ['a handback', note('handed_back'), []],
  ['a manual event', note('event_triggered'), []],
  ['availability by a call', note('availability', { by: 'api' }), []],
  ['availability by a user', note('availability', { by: 'workspace' }), NOT_QUIET],
  ['a full journal', note('evicted', { message: 'full' }), EVERYWHERE],
  ['too many connections', note('connections_refused', { connections: 512 }), EVERYWHERE],
  ['an internal error', note('internal_error', { where: 'x', message: 'y' }), EVERYWHERE],
  ['any other note', note('scenario_started'), NOT_QUIET],
]

it.each(ROWS)('%s', (_what, entry, styles) => {
  expect(STYLES.filter(style => isShown(entry, style))).toEqual(styles)
  expect(STYLES.filter(style => createLog({ style, colorLevel: 0 })(entry) !== '')).toEqual(styles)
})

it('renders nothing of an entry that is hidden', () => {
  const hidden = ROWS.filter(([, , styles]) => !styles.includes('quiet')).map(([, entry]) => entry)
  const present = (entry: Entry): Entry => expect.unreachable(`renders ${entry.kind}`)
  expect(hidden.map(createLog({ style: 'quiet', colorLevel: 0, present })).join('')).toBe('')
})
