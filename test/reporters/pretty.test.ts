import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/base/text/terminal-text.ts'
import type { RunResult, ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import type { TimelineRow } from '../../src/evaluation/timeline/timeline.ts'
import { elide, isGap } from '../../src/pages/reporters/diagram.ts'
import { prettyReport } from '../../src/pages/reporters/pretty.ts'
import { HOSTILE, hostileResult } from './hostile.ts'
import { because, failure, Journal, miss, result, scenarioResult, step, stepVerdict, warning } from './run-results.ts'
import {
  crossTalkPlay,
  escapedPlay,
  openResult,
  passedResult,
  silentResult,
  skippedResult,
  unreachableResult,
} from './samples.ts'

const pretty = (run: RunResult, columns = 100) => prettyReport(run, { colorLevel: 0, columns })
/** The block of one scenario, without the totals. */
const block = (play: ScenarioResult, columns = 100) => `\n${pretty(result([play]), columns).split('\n\n')[0]}\n`
const failed = (...failures: Parameters<typeof failure>[0][]): ScenarioResult =>
  scenarioResult({ outcome: 'fail', failures: failures.map(failure) })

function refusedCall(): ScenarioResult {
  const log = new Journal()
  const error = { code: 'invalid_parameter', message: 'bot_id must be a whole number', field: 'bot_id' }
  const seq = log.call('start', { bot_id: '1042' }, { status: 400, response: { error } })
  return { ...failed({ kind: 'contract', rules: ['E4'], entrySeqs: [seq] }), journal: log.entries }
}

const LONG = 'The parcel has been sent on Monday by our warehouse in Oslo. '.repeat(5)
const LONG_VALUES = [{ path: 'message', expected: `"${LONG}A"`, received: `"${LONG}B"` }]
const IN_CHAT = step(3, 'expect end', { conversation: 'bo', name: 'goodbye' })
const NOT_REACHED = [3, 4, 5, 9].map(number => stepVerdict(step(number, 'expect end'), { outcome: 'not reached' }))

/** Plays with a detail each. */
const PLAYS = {
  ended: {
    ...unreachableResult(),
    reason: because('It did not start. It said last:\nTraceback:\n  no \u001b[2Jsuch file'),
  },
  long: failed({ nearest: [miss(1, 'POST message', 5, '1 field differs', LONG_VALUES)] }),
  soft: failed({ step: IN_CHAT, soft: true, expected: 'expect end' }),
  stopped: { ...failed({}), steps: NOT_REACHED },
}

describe('a failed scenario', () => {
  it('has its cause in the first two lines, then its timeline', () => {
    const [, head, cause, ...lines] = block(escapedPlay()).split('\n')
    expect(head).toMatch(/^FAIL scenarios\/happy\.yaml > Happy path {20,}seed 1, real clock, 6\.4 s$/)
    expect(cause).toBe('  x step 7: nearest: #12, message differs (only HTML escaping)')
    expect([...lines.slice(0, 7), ...lines.slice(9)].join('\n')).toMatchInlineSnapshot(`
      "    scenarios/happy.yaml:19:5  step 7/10  expect message { message: "I'm Anna" } within 2s of #10
          nearest  #12 POST /api/v2/handover/message/ +0.84s  1 field differs
                   message  - "I'm Anna"   + "I&#39;m Anna"   only HTML escaping differs
          others   #13 message +0.91s  chat_id belongs to chat "bo": cross-talk?
                   #10 message +0.02s  already claimed by step 3
          hint     send the text as it is; the platform does the escaping
          rules    E6
                        user / agent              platform                        intermediary
          +0.00   main  presses "handover"  #4    REQUESTING TAKEOVER --------->  200 in 31 ms
          +0.42   main  agent accepts       #8    ----------------------------->  204 in 4.0 ms
          +0.61   main                      #10   <------------------ POST start  200 TAKEOVER STARTED
          +0.62   main                      #11   step 7: expect message { message: "I'm Anna" }
        x +0.84   main                      #12   <--- POST message "I&#39;m An…  200 MESSAGE SENT TO USER
          +0.91   bo                        #13   <----------- POST message "Hi"  200 MESSAGE SENT TO USER
        x +2.61   main                      #14   step 7 failed
        rerun: npx handover-sim run scenarios/happy.yaml --seed 1
      "
    `)
  })

  it.each<[what: string, play: ScenarioResult, parts: RegExp]>([
    ['silence', silentResult(), /x step 2: no call came at all\n.* {4}… 5\.0 s …\n {2}x \+5\.01 .* step 2 failed\n/s],
    ['both chats of a leak', crossTalkPlay(), / {4}chat bo\n.* x .*"Hello ~a1b2" .* x \+0\.08 +bo +#6 +</s],
    ['a refused call', refusedCall(), /rules {4}E4\n.* {2}x \+0\.00 +#1 +<-+ POST start {2}400 invalid_parameter\n/s],
    ['the last output of a program', PLAYS.ended, /It said last:\n {4}Traceback:\n {4}no <U\+001B>\[2Jsuch file\n/],
    ['the entries of a warning', escapedPlay(), /message \(#12\): sender\.avatar(?!.*of the system\. \(#12)/s],
    ['the end of long values', PLAYS.long, /- … our warehouse in Oslo\. A" {3}\+ … our warehouse in Oslo\. B"/],
    ['the chat of a soft step', PLAYS.soft, /happy\.yaml:15:5 {2}step 3\/10 goodbye, chat bo {2}expect end {2}soft\n/],
    ['which steps did not run', PLAYS.stopped, /not reached: steps 3-5, 9/],
  ])('shows %s', (_what, play, parts) => {
    expect(block(play)).toMatch(parts)
  })

  it('on a narrow terminal has a list as its diagram, which only the command exceeds, and wrapped reasons', () => {
    const text = block(escapedPlay(), 60)
    expect(text).toMatch(/\n +message {2}- "I'm Anna"\n +\+ "I&#39;m Anna"\n +only HTML escaping differs\n/)
    expect(text).toMatch(/\n {2}x \+0\.84 {3}#12 {3}main: <-- POST message "I&#39;m Anna": 200\n +MESSAGE SENT TO USER/)
    expect(text).toMatch(/\n {2}seed 1, real clock, 6\.4 s\n$/)
    const wide = text.split('\n').filter(line => widthOf(line) > 60)
    expect(wide.filter(line => !line.startsWith('  rerun: '))).toEqual([])
    for (const columns of [10, 72, 300])
      expect(block(escapedPlay(), columns)).toMatch(/^\nFAIL .*\n {2}x step 7: nearest/)
    const skipped = {
      ...skippedResult(),
      reason: because('the target is not reachable: nothing listens at 127.0.0.1:3000'),
    }
    expect(block(skipped, 60)).toContain('\n    the target is not reachable: nothing listens at\n    127.0.0.1:3000\n')
  })

  it('shortens the path of a heading from its beginning, and never the name', () => {
    const name = 'Every serialisation [json=compact, language=nb]'
    const file = 'node_modules/a-package-of-tests/scenarios/conversations/every-serialisation.yaml'
    const headOf = (name: string, columns?: number) => block({ ...silentResult(), file, name }, columns).split('\n')[1]
    expect(headOf(name, 130)).toMatch(`FAIL …/conversations/every-serialisation.yaml > ${name} `)
    expect(headOf(name, 120)).toMatch(`FAIL …/every-serialisation.yaml > ${name} `)
    expect(headOf(name, 100)).toMatch(/^FAIL Every serialisation \[json.*\] +seed 1, real clock, 7\.0 s$/)
    const long = 'A name that is longer than a line '.repeat(4).trim()
    expect(headOf(long)).toBe(`FAIL ${long}`)
    expect(block({ ...silentResult(), name: long })).toMatch(/\n {2}seed 1, real clock, 7\.0 s\n$/)
  })

  it('shows the slowest scenarios and the warnings with whole names', () => {
    const name = 'A scenario with a name that is long, but not too long for a line'
    const warnings = [warning('call-after-end', '#5 came late')]
    const file = 'scenarios/a/folder/of/tests.yaml'
    const plays = [1, 2, 3, 4].map(number => scenarioResult({ name: `${name} ${number}`, file, warnings }))
    const text = pretty(result([...plays, scenarioResult({ instance: 2, warnings: [...warnings, ...warnings] })]))
    expect(text).toContain('PASS scenarios/happy.yaml > Happy path #2  640 ms  2 warnings')
    expect(text.match(/ {2}…\/of\/tests\.yaml > A scenario .* for a line \d\n/g)).toHaveLength(3)
    const counted = `call-after-end: 6 times, in ${name} 1, ${name} 2, ${name} 3 and 2 more`
    expect(text.replace(/\s+/g, ' ')).toContain(counted)
  })

  it('shows equal failures once, with the steps or chats of the others', () => {
    const place = { file: 'scenarios/happy.yaml', line: 18, column: 11 }
    const crossTalk = [7, 8, 9, 2].map(number => ({
      step: { ...step(number, `expect ${number}`), place },
      details: {},
    }))
    const text = block(failed(...crossTalk, { step: step(3, 'expect message'), details: { other: 1 } }))
    expect(text).toContain('    and 3 more like it: steps 2, 8-9\n')
    expect(text.match(/^ {2}x /gm)).toHaveLength(2)
    const refused = ['ada', 'bo'].map(conversation => ({ kind: 'contract', conversation, details: {} }) as const)
    expect(block(failed(...refused))).toContain('and 1 more like it: chat bo')
  })

  it('counts failures beyond ten, and other items beyond five', () => {
    const nearest = Array(8).fill(miss(1, 'message', 0, 'late'))
    const text = block(failed(...[...'abcdefghijkl'].map(happened => ({ happened, nearest }))))
    expect(text).toContain('… 2 more failures')
    expect(text.match(/… 2 more$/gm)).toHaveLength(10)
  })

  it('joins a user action in its diagram only with the event that it caused', () => {
    const log = new Journal()
    const cause = log.user('Hi')
    log.event('MESSAGE FROM USER', 'd1', cause, 'Hi')
    log.user('Ho')
    log.event('MESSAGE FROM USER', 'd2', cause, 'Hi')
    const text = block({ ...failed({}), journal: log.entries })
    expect(text.match(/^ +\+0\.00.*$/gm)!.map(line => line.trim().replaceAll(/ {2,}|-+/g, ' '))).toEqual([
      expect.stringMatching(/^\+0\.00 "Hi" #2 MESSAGE FROM USER "Hi"/),
      '+0.00 "Ho" #3',
      expect.stringMatching(/^\+0\.00 #4 MESSAGE FROM USER "Hi" .*no answer$/),
    ])
  })
})

it('failures outside of scenarios have a separate block', () => {
  const log = new Journal()
  const orphan = log.call('message', { message: 'Hi' }, { chat_id: 'nobody', status: 404 })
  const about = { kind: 'unexpected', conversation: null, happened: 'a call for chat "nobody"' } as const
  const failures = [failure({ ...about, entrySeqs: [orphan] })]
  const text = pretty(result([passedResult()], { failures, journal: log.entries, exitCode: 1 }))
  expect(text).toMatch(/^FAIL outside every scenario\n {2}x a call for chat "nobody"/m)
  expect(text).toMatch(/^ {2}x \+0\.00 +#1 +<-+ POST message "Hi" {2}404/m)
  expect(text).toContain('1 failure outside every scenario')
})

it('other scenarios have one line each, before the failures; the totals come last', () => {
  const text = pretty(result([silentResult(), passedResult(), openResult(), unreachableResult(), skippedResult()]))
  const [first, , ...last] = text.split('\n\n')
  expect(first!.split('\n')).toEqual([
    'PASS scenarios/short.yaml > Short and good  120 ms',
    'INCONCLUSIVE scenarios/agent.yaml > With an agent  30 ms  the agent driver has no verb "transfer"',
    expect.stringMatching(/^ERROR scenarios\/desk\.yaml > No desk {2}5\.0 ms {2}the help desk is not there: .*:3100$/),
    'SKIP scenarios/later.yaml > Later  not tagged smoke',
  ])
  expect(last.join('\n')).toMatchInlineSnapshot(`
    "Slowest
       7.0 s  scenarios/silent.yaml > Nothing comes
      120 ms  scenarios/short.yaml > Short and good
       30 ms  scenarios/agent.yaml > With an agent
    5 scenarios in 7.0 s: 1 passed, 1 failed, 1 could not be run, 1 inconclusive, 1 skipped
    target http://127.0.0.1:3000/webhook, seed 1
    exit 1: an expectation failed
    "
  `)
  const stopped = pretty(result([], { stopped: 'interrupted', exitCode: 130, durationMs: 20 }))
  expect(stopped).toMatch(
    /^0 scenarios in 20 ms: no scenario was run\nstopped early: interrupted\ntarget .*\nexit 130: /,
  )
})

it('only outcomes have colours', () => {
  const run = result([passedResult(), escapedPlay()])
  const coloured = prettyReport(run, { colorLevel: 1 })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(pretty(run))
  expect(coloured).toContain('\u001b[32mPASS\u001b[39m')
  expect(coloured).toContain('\u001b[31mFAIL\u001b[39m')
})

it.each([40, 100])('a diagram fits into %i columns, also with wide characters', columns => {
  const lines = HOSTILE.flatMap(text => block(hostileResult(text), columns).split('\n'))
  const rows = lines.filter(line => /^ {2}[x ] \+\d/.test(line))
  expect(rows.length).toBeGreaterThan(20)
  expect(Math.max(...rows.map(widthOf))).toBeLessThanOrEqual(columns)
})

describe('long timelines', () => {
  const rows = (count: number, failed: readonly number[]): TimelineRow[] =>
    Array.from({ length: count }, (_, index) => index + 1).map(
      seq => ({ seq, entrySeqs: [seq], failed: failed.includes(seq) }) as never,
    )

  it('have or count every entry, show the first failure, and stay short', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.array(fc.integer({ min: 1, max: 400 })), (count, failed) => {
        const shown = elide(rows(count, failed))
        const entries = shown.reduce((sum, row) => sum + (isGap(row) ? row.gap : row.entrySeqs.length), 0)
        expect(entries).toBe(count)
        const first = Math.min(...failed.filter(seq => seq <= count))
        if (Number.isFinite(first)) expect(shown.some(row => !isGap(row) && row.seq === first)).toBe(true)
        expect(shown.length).toBeLessThanOrEqual(100)
      }),
    )
  })

  it('show a long silence in one line, and say what they leave out', () => {
    const log = new Journal()
    for (let index = 0; index < 100; index++) log.at(index * 20).call('typing_start', {})
    log.at(60_000).call('end')
    const text = block({ ...failed({ entrySeqs: [50] }), journal: log.entries })
    expect(text).toMatch(/^ {4}… 42 entries …$/m)
    expect(text).toMatch(/^ {4}… 58\.0 s …$/m)
  })
})
