/** Which entries a style of the log shows is decided from their codes; the renderer and the counts of the log rely on it. */
import { expect, it } from 'vitest'
import { createLog } from '../../src/pages/reporters/log.ts'
import { isShown, looksWrong } from '../../src/pages/reporters/log-filter.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { at, call, created, delivery, event, failedWith, note, press, refusedWith, says } from './log-samples.ts'

const STYLES = ['pretty', 'compact'] as const
/** Shown in both styles and looks wrong, shown in both, shown in one, or in none. */
type Shown = 'wrong' | 'shown' | 'pretty' | 'hidden'

const FINDING = { rule: 'R-SENDER.4', message: 'sender.avatar is missing.' }
const CUT = { headers: {}, body: '{' }
const TRIAL = { triggered: true as const, probe: { of: 'd1', code: 'hex', detail: '' } }
const FAULTS = { faults: ['fault-1'] }

const ROWS: readonly (readonly [string, Entry, Shown])[] = [
  ['an accepted call', call(), 'shown'],
  ['a redirected call', call({ status: 308 }), 'shown'],
  ['a refused call', call({ status: 404, endpoint: null }), 'wrong'],
  ['a call refused by a fault', call({ status: 503, ...FAULTS }), 'shown'],
  ['a call with a finding', call({ findings: [FINDING] }), 'wrong'],
  ['a call with a fault and a finding', call({ findings: [FINDING], ...FAULTS }), 'wrong'],
  ['an answer that a fault lost', call({ status: 0, answer_lost: 'after', ...FAULTS }), 'shown'],
  ['an event', event('x'), 'pretty'],
  ['a delivered event', delivery(), 'shown'],
  ['an event without a webhook', delivery({ outcome: 'skipped', failure: { code: 'no_url' } }), 'shown'],
  ['a refused event', refusedWith(401), 'wrong'],
  ['an event that was not sent', failedWith({ code: 'timeout', timeout_ms: 100 }), 'wrong'],
  ['a refused event that a fault signed wrong', refusedWith(401, { sign: 'none', ...FAULTS }), 'shown'],
  ['a refused event that a user forged', refusedWith(401, { sign: 'none', triggered: true }), 'shown'],
  ['a refused event that a fault cut', refusedWith(400, { request: CUT, ...FAULTS }), 'shown'],
  ['a refused event that a fault did not change', refusedWith(400, FAULTS), 'wrong'],
  ['an accepted event with a wrong signature', delivery({ sign: 'hex', ...FAULTS }), 'wrong'],
  ['a refused trial of a diagnosis', refusedWith(401, TRIAL), 'hidden'],
  ['an accepted trial of a diagnosis', delivery(TRIAL), 'shown'],
  ['a message of the user', says('x'), 'shown'],
  ['a press of the user', press, 'shown'],
  ['a message of the bot', note('bot_message', { message_id: 'm', text: 'x' }), 'shown'],
  ['a fault', at({ kind: 'fault', fault: 'x', effect: { latency: '1s' }, hit: 1, of: null }), 'shown'],
  ['a call of the driver', at({ kind: 'driver', verb: 'accept', outcome: 'ok', how: 'x', duration_ms: 4 }), 'shown'],
  ['a new chat', created, 'shown'],
  ['a takeover', note('taken_over'), 'hidden'],
  ['another takeover', note('takeover_replaced'), 'hidden'],
  ['a handback', note('handed_back'), 'hidden'],
  ['a manual event', note('event_triggered'), 'hidden'],
  ['availability by a call', note('availability', { by: 'api' }), 'hidden'],
  ['availability by a user', note('availability', { by: 'workspace' }), 'shown'],
  ['a full journal', note('evicted', { message: 'full' }), 'wrong'],
  ['too many connections', note('connections_refused', { connections: 512 }), 'wrong'],
  ['an internal error', note('internal_error', { where: 'x', message: 'y' }), 'wrong'],
  ['any other note', note('scenario_started'), 'shown'],
]

it.each(ROWS)('%s', (_what, entry, shown) => {
  const styles = STYLES.filter(style => shown !== 'hidden' && (shown !== 'pretty' || style === 'pretty'))
  expect(STYLES.filter(style => isShown(entry, style))).toEqual(styles)
  expect(STYLES.filter(style => createLog({ style, colorLevel: 0 })(entry) !== '')).toEqual(styles)
  expect(looksWrong(entry)).toBe(shown === 'wrong')
})

it('renders nothing of an entry that is hidden', () => {
  const hidden = ROWS.filter(([, , shown]) => shown === 'hidden').map(([, entry]) => entry)
  const present = (entry: Entry): Entry => expect.unreachable(`renders ${entry.kind}`)
  for (const style of STYLES) expect(hidden.map(createLog({ style, colorLevel: 0, present })).join('')).toBe('')
})
