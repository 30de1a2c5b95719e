/** Defines hostile texts, and runs that contain them everywhere. */
import * as fc from 'fast-check'
import type { ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import { CHATS, failure, Journal, scenarioResult, step, stepVerdict } from './run-results.ts'

export const HOSTILE = [
  'a\u001b[2J\u001b]0;title\u0007b',
  'line one\r\nline two\n::error::three\u2028four\u0085five',
  '\u202egnp.exe\u2066 \u200bhidden\u{E0041}',
  ']]><!--</failure>&amp;&bogus;<script>alert(1)</script>',
  '\u0000\u0001\u001f\u007f\u009b31m\ufffe\uffff\ud800 lone \udc00',
  '# SKIP not really\n  ...\nok 99 - forged\nBail out!',
  '::set-output name=x::y\n##[error]forged%0A::stop-commands::z',
  '| `x` | </details> **bold** [a](http://x.example.test) |',
  '$(rm -rf /) \'"\\ %25',
  `${'e\u0301\u0302\u0303\u0304\u0305'.repeat(3)} 👩‍👩‍👧 ${'長'.repeat(80)}`,
]

/** Any code points and code units, lone halves of pairs too, with the worst texts often. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.array(fc.nat({ max: 0x10ffff })).map(points => String.fromCodePoint(...points)),
  fc.array(fc.nat({ max: 0xffff })).map(units => String.fromCharCode(...units)),
)

export function hostileResult(text: string, outcome: ScenarioResult['outcome'] = 'fail'): ScenarioResult {
  const place = { file: text, line: 3, column: 5 }
  const ref = step(1, text, { id: text, name: text, conversation: text, place })
  const log = hostileJournal(text)
  const difference = { path: text, expected: text, received: `${text}!`, hint: text }
  const miss = { seq: 3, what: text, afterMs: -12, codes: [], why: text, steps: [], differences: [difference] }
  const bad = failure({
    step: ref,
    conversation: text,
    expected: text,
    happened: text,
    rules: [text],
    nearest: [miss, miss],
    entrySeqs: [2, 3],
    hint: text,
  })
  return scenarioResult({
    name: text,
    file: text,
    place,
    tags: [text],
    spec: [text],
    outcome,
    reason: outcome === 'pass' ? null : { code: text, text },
    failures: outcome === 'fail' ? [bad, { ...bad, step: null, soft: true }] : [],
    warnings: [{ code: text, level: 'SHOULD', happened: text, details: {}, conversation: text, entrySeqs: [1] }],
    steps: [stepVerdict(ref, { outcome: 'fail' }), stepVerdict(step(2, text), { outcome: 'not reached' })],
    captures: { [text]: text },
    targetOutput: { ended: { code: 'program_not_started', program: text, detail: text }, lines: [text], file: text },
    journal: log.entries,
    conversations: { [text]: CHATS.main, other: CHATS.bo },
    rerunCommand: text,
  })
}

function hostileJournal(text: string): Journal {
  const log = new Journal()
  log.started(1, text)
  const said = log.user(text)
  log.event(text, 'd1', said, text)
  log.delivery('d1', { outcome: 'failed', status: null, failure: { code: 'function_threw', detail: text } })
  log.delivery('d2', { event: text, triggered: true, sign: 'hex' })
  log.call(
    'message',
    { message: text },
    { method: text, status: 400, response: { error: { code: text } }, chat_id: CHATS.bo },
  )
  log.call(null, {}, { path: text, response: { event: text } })
  log.driver(text, { outcome: 'failed', failure: { code: 'threw', detail: text } })
  log.driver('inbox', { items: [{ text }, { [text]: text }] })
  log.add({ kind: 'fault', chat_id: CHATS.main, fault: text, effect: { latency: text }, hit: 1, of: 2 })
  log.note(text, { text })
  log.note('bot_message', { text })
  log.note('observed', { status: text, availability: text, typing: false, step: 1 })
  log.ended(1, { failure: { code: 'not_accepted', detail: text } })
  log.note('target_unreachable', { failure: { code: 'network', target: text, detail: text } })
  log.note('target_output', { ended: { code: 'gone', address: text }, lines: [text], file: text })
  log.note('scenario_ended', { stopped: { code: 'interrupted', signal: text } })
  return log
}

/** Nothing that moves the cursor, turns a line around or ends one. */
export const UNSEEN = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
