import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timelineOf } from '../../src/evaluation/timeline/timeline.ts'
import { anyText, hostileResult, UNSEEN } from '../reporters/hostile.ts'
import { CHATS, Journal, scenarioResult, step, stepVerdict } from '../reporters/run-results.ts'
import { crossTalkPlay } from '../reporters/samples.ts'

const rowsOf = (log: Journal, more = {}) =>
  timelineOf(scenarioResult({ journal: log.entries, conversations: CHATS, ...more }))
/** `user -> platform: presses "handover"`, with the answer behind. */
const rendered = (log: Journal, more = {}) =>
  rowsOf(log, more).map(({ from, to, label, answer, ok }) =>
    [`${from} -> ${to}: ${label}`, answer, ok ? '' : 'not ok'].filter(Boolean).join(' | '),
  )

describe('rows', () => {
  it('mark refused, unknown and lost calls', () => {
    const log = new Journal()
    log.call('start', {}, { status: 400, response: { error: { code: 'invalid_parameter' } } })
    log.call(null, {}, { path: '/api/v2/handover/strat', status: 404, response: '' })
    log.call('message', { message: 'Hi' }, { answer_lost: 'after' })
    log.call('message', { message: 'Hi' }, { status: 0, answer_lost: 'before' })
    expect(rendered(log)).toEqual([
      'intermediary -> platform: POST start | 400 invalid_parameter | not ok',
      'intermediary -> platform: POST /api/v2/handover/strat | 404 | not ok',
      'intermediary -> platform: POST message "Hi" | processed (200), its answer lost',
      'intermediary -> platform: POST message "Hi" | lost before it was processed',
    ])
  })

  it('show how the user leaves, what became of the handover, and what is lost', () => {
    const log = new Journal()
    const user = { kind: 'user', chat_id: 'c1', message_id: null } as const
    log.add({ ...user, action: 'close' })
    log.add({ kind: 'note', chat_id: 'c1', note: 'chat_ended', why: 'closed', handover: 'kept' })
    log.add({ ...user, action: 'message', text: 'Old tab' })
    log.add({ kind: 'note', chat_id: 'c1', note: 'chat_reopened' })
    log.add({ ...user, action: 'delete' })
    expect(rendered(log)).toEqual([
      'user -> platform: closes the chat',
      'platform -> user: the chat ends (closed)',
      'user -> platform: "Old tab", lost: the chat is closed',
      'platform -> user: the user is back in the chat',
      'user -> platform: deletes the chat',
    ])
  })

  it('show retries in the row of their event, copies and manual events in separate rows at their time', () => {
    const log = new Journal()
    log.event('MESSAGE FROM USER', 'd1', null, 'Hei')
    log.at(20).delivery('d1', { outcome: 'failed', status: 503, duration_ms: 20 })
    log.at(1050).delivery('d1', { attempt: 2, duration_ms: 40 })
    log.at(2000).delivery('d9', { triggered: true, sign: 'wrong-key', status: 401, outcome: 'failed', duration_ms: 0 })
    log.at(3000).delivery('d1', { attempt: 3, resent: true, duration_ms: 0 })
    expect(rendered(log)).toEqual([
      'platform -> intermediary: MESSAGE FROM USER "Hei" | 503, then 200 in 40 ms, sent 1.0 s later',
      'platform -> intermediary: MESSAGE FROM USER, sent manually, signed with a wrong key on purpose | 401 in 0.0 ms',
      'platform -> intermediary: MESSAGE FROM USER, sent again | 200 in 0.0 ms',
    ])
    expect(rowsOf(log).map(({ atMs }) => atMs)).toEqual([0, 2000, 3000])
  })

  it('count equal answers of attempts, and say when the next one follows', () => {
    const log = new Journal()
    log.event('MESSAGE FROM USER', 'd1')
    const refused = { outcome: 'failed', status: 503, duration_ms: 0 } as const
    log.delivery('d1', { ...refused, retry_in_ms: 500 })
    expect(rendered(log)).toEqual([
      'platform -> intermediary: MESSAGE FROM USER | 503 in 0.0 ms, again after 500 ms | not ok',
    ])
    log.at(500).delivery('d1', { ...refused, attempt: 2, retry_in_ms: 1000 })
    const timedOut = { outcome: 'failed', status: null, failure: { code: 'timeout', timeout_ms: 0 } } as const
    log.at(1500).delivery('d1', { attempt: 3, ...timedOut })
    log.at(3500).delivery('d1', { attempt: 4, duration_ms: 7 })
    expect(rendered(log)).toEqual([
      'platform -> intermediary: MESSAGE FROM USER | 2 × 503, no answer, then 200 in 7.0 ms, sent 3.5 s later',
    ])
    expect(rowsOf(log)[0]?.entrySeqs).toEqual([1, 2, 3, 4, 5])
  })

  it('are in the order of their start, not of their entries', () => {
    const log = new Journal()
    log.event('MESSAGE FROM USER', 'd1')
    log.delivery('d1', { outcome: 'failed', status: 503 })
    log.at(1020).call('message', { message: 'Hi' })
    log.at(1050).delivery('d1', { duplicate: true, duration_ms: 40 })
    expect(rowsOf(log).map(({ seq, atMs }) => [seq, atMs])).toEqual([
      [1, 0],
      [4, 1010],
      [3, 1020],
    ])
  })

  it('show how long an event was held, and why one was not sent', () => {
    const log = new Journal()
    log.event('MESSAGE FROM USER', 'd1')
    log.event('MESSAGE FROM USER', 'd2')
    log.delivery('d2', { outcome: 'skipped', status: null, failure: { code: 'no_url' } })
    log.at(2030).delivery('d1', { duration_ms: 30 })
    expect(rowsOf(log).map(({ answer }) => answer)).toEqual([
      '200 in 30 ms, sent 2.0 s later',
      'not sent: no webhook URL is set',
    ])
  })

  it('show agent actions and the inbox, with unchanged reads in one row', () => {
    const log = new Journal()
    log.driver('accept')
    const refused = { code: 'status', status: 409, body: 'not accepted yet' } as const
    log.driver('says', { outcome: 'failed', status: 409, failure: refused })
    const unreachable = { code: 'call_timeout', timeout_ms: 5000, call: 'http' } as const
    log.driver('does.transfer', { outcome: 'unreachable', failure: unreachable })
    const request = { request: true as const }
    const reads = [[], [], [request], [request, { text: 'Hei', attachments: [{}] }]]
    for (const items of reads) log.driver('inbox', { items })
    log.driver('inbox', { outcome: 'failed', status: 404, failure: { code: 'status', status: 404, body: '' } })
    log.driver('inbox', { items: reads[3]! })
    log.driver('target.restart')
    expect(rendered(log)).toEqual([
      'agent -> intermediary: accepts | 204 in 4.0 ms',
      'agent -> intermediary: says | answered 409: not accepted yet | not ok',
      'agent -> intermediary: does transfer | timeout: no answer within 5s | not ok',
      'intermediary -> agent: inbox: 0 items',
      'intermediary -> agent: inbox: a request',
      'intermediary -> agent: inbox: "Hei" with 1 file',
      'intermediary -> agent: inbox: answered 404',
      'intermediary -> agent: inbox: 2 items',
      'runner -> intermediary: target.restart | 204 in 4.0 ms',
    ])
    expect(rowsOf(log)[3]!.entrySeqs).toEqual([4, 5])
  })

  it('leave out the read before the first step, when the desk does not have the chat', () => {
    const log = new Journal()
    const missing = { outcome: 'failed', status: 404, failure: { code: 'status', status: 404, body: '' } } as const
    log.driver('inbox', missing)
    expect(rendered(log)).toEqual([])
    log.note('step_started', { step: 1 })
    log.driver('inbox', missing)
    expect(rendered(log).at(-1)).toBe('intermediary -> agent: inbox: answered 404')
  })

  it('show faults, notes and the end of the run', () => {
    const log = new Journal()
    log.add({ kind: 'fault', fault: 'slow', effect: { slow: '2s' }, hit: 4, of: null, not_applied: ['drip'] })
    log.note('fault_set', { fault: 'flaky', effect: { respond: { status: 503 } } })
    log.note('fault_cleared', { fault: 'flaky', hits: 1 })
    log.note('bot_message', { text: 'One moment' })
    log.note('availability', { availability: 'CLOSED', by: 'workspace' })
    log.note('availability', { availability: 'OPEN', by: 'api' })
    log.note('observed', { step: 1, status: 'agent', typing: true, availability: 'OPEN' })
    log.note('taken_over')
    const refused = { code: 'connection_refused', target: '127.0.0.1:3000', system_code: 'ECONNREFUSED' }
    log.note('target_unreachable', { failure: refused })
    log.note('target_output', { ended: { code: 'exited', exit_code: null, signal: 'SIGSEGV' }, lines: [], file: null })
    log.note('target_output', { ended: null, lines: ['ready'], file: null })
    log.note('scenario_ended', { stopped: { code: 'time_limit', limit_ms: 60_000 } })
    const expected = [
      /^runner -> platform: fault slow: slow 2s, .* \(hit 4\); drip not applied/,
      /^runner -> platform: fault flaky is set: respond 503$/,
      /^runner -> platform: fault flaky is cleared$/,
      /^platform -> user: the bot says "One moment"$/,
      /^runner -> platform: availability CLOSED$/,
      /^runner -> runner: the chat: agent, typing, OPEN$/,
      /not reachable: nothing listens at 127.*\(ECONNREFUSED\) \| not ok$/,
      /^intermediary -> intermediary: .*SIGSEGV \| not ok$/,
      /^runner -> runner: stopped: took longer than 1m \| not ok$/,
    ]
    expect(rendered(log)).toEqual(expected.map(line => expect.stringMatching(line)))
  })

  it('assign a call to the step that claimed it, and others to the current step of the chat', () => {
    const log = new Journal()
    log.started(1, 'press handover')
    log.started(2, 'user "x"')
    log.press(CHATS.main)
    log.user('x', CHATS.bo)
    log.call('start')
    log.call('typing_start')
    log.ended(1)
    log.ended(2)
    log.call('message', { message: 'y' })
    const steps = [
      stepVerdict(step(1, 'press', {})),
      stepVerdict(step(2, 'user', { conversation: 'bo' })),
      stepVerdict(step(3, 'expect'), { claimed: [5] }),
    ]
    const rows = rowsOf(log, { steps }).filter(row => row.kind === 'action' || row.kind === 'call')
    expect(rows.map(({ label, step: number }) => [label, number])).toEqual([
      ['presses "handover"', 1],
      ['"x"', 2],
      ['POST start', 3],
      ['POST typing_start', null],
      ['POST message "y"', null],
    ])
  })

  it('show orphans of a run without chat and step', () => {
    const { journal, failures } = crossTalkPlay()
    const rows = timelineOf({ journal, failures, conversations: {}, steps: [] })
    expect(new Set(rows.filter(row => row.kind !== 'step').map(({ conversation }) => conversation))).toEqual(
      new Set([null]),
    )
    expect(timelineOf({ journal: [], failures, conversations: {}, steps: [] })).toEqual([])
  })
})

describe('for any journal', () => {
  it('labels are one safe line, rows are in order, and no entry is in two of them', () => {
    fc.assert(
      fc.property(anyText, text => {
        const rows = timelineOf(hostileResult(text))
        for (const { label, answer = '' } of rows) expect(`${label}${answer}`).not.toMatch(UNSEEN)
        for (const { label, answer = '' } of rows) expect(`${label}${answer}`).not.toContain('\n')
        expect(rows.map(({ atMs }) => atMs)).toEqual(rows.map(({ atMs }) => atMs).sort((a, b) => a - b))
        const seqs = rows.flatMap(({ entrySeqs }) => entrySeqs)
        expect(new Set(seqs).size).toBe(seqs.length)
      }),
    )
  })
})
