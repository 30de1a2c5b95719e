import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/base/text/terminal-text.ts'
import {
  describeWarning,
  type FailureReport,
  type RunReport,
  type ScenarioReport,
} from '../../src/evaluation/evaluator/wording/report.ts'
import type { TimelineRow } from '../../src/evaluation/timeline/timeline.ts'
import { elide, isGap } from '../../src/pages/reporters/diagram.ts'
import { prettyReport } from '../../src/pages/reporters/pretty.ts'
import { HOSTILE, hostileResult } from './hostile.ts'
import { failure, Journal, result, scenarioResult, step, stepVerdict } from './run-results.ts'
import {
  crossTalkPlay,
  escapedPlay,
  openResult,
  passedResult,
  silentResult,
  skippedResult,
  unreachableResult,
} from './samples.ts'

const pretty = (run: RunReport, columns = 100) => prettyReport(run, { colorLevel: 0, columns })
/** The block of one scenario, without the totals. */
const block = (play: ScenarioReport, columns = 100) => `\n${pretty(result([play]), columns).split('\n\n')[0]}\n`

function refusedCall(): ScenarioReport {
  const log = new Journal()
  const error = { code: 'invalid_parameter', message: 'bot_id must be a whole number', field: 'bot_id' }
  const seq = log.call('start', { bot_id: '1042' }, { status: 400, response: { error } })
  const failures = [failure({ kind: 'contract', rules: ['E4'], entrySeqs: [seq] })]
  return scenarioResult({ outcome: 'fail', journal: log.entries, failures })
}

describe('a failed scenario', () => {
  it('has its cause in the first two lines, then its timeline', () => {
    expect(block(escapedPlay())).toMatchInlineSnapshot(`
      "
      FAIL scenarios/happy.yaml > Happy path                                    seed 1, real clock, 6.4 s
        x step 7: nearest: #12, message differs (only HTML escaping)
          scenarios/happy.yaml:19:5  step 7/10  expect message { message: "I'm Anna" } within 2s of #10
          nearest  #12 POST /api/v2/handover/message/ +0.84s  1 field differs
                   message  - "I'm Anna"   + "I&#39;m Anna"   only HTML escaping differs
          others   #13 message +0.91s  chat_id belongs to chat "bo": cross-talk?
                   #10 message +0.02s  already claimed by step 3
          hint     send the text as it is; the platform does the escaping
          rules    E6
        warning sender-incomplete: message (#12): sender.avatar is missing. [R-SENDER.4] Send \`sender\`
        with \`name\` and \`avatar\` with every message (R-SENDER.3), also with notices of the system.
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

  it.each<[what: string, play: ScenarioReport, lines: RegExp[]]>([
    [
      'silence',
      silentResult(),
      [/^ {2}x step 2: no call came at all$/m, /^ {4}… 5\.0 s …$/m, /^ {2}x \+5\.01 +#7 +step 2 failed$/m],
    ],
    [
      'both chats of a leak',
      crossTalkPlay(),
      [
        /^ {4}chat bo$/m,
        /^ {2}x \+0\.00 +main +"Hello ~a1b2" +#3 /m,
        /^ {2}x \+0\.08 +bo +#6 +<-+ POST message "Hello/m,
      ],
    ],
    [
      'a refused call',
      refusedCall(),
      [/^ {4}rules {4}E4$/m, /^ {2}x \+0\.00 +#1 +<-+ POST start {2}400 invalid_parameter$/m],
    ],
  ])('shows %s', (_what, play, lines) => {
    for (const line of lines) expect(block(play)).toMatch(line)
  })

  it('shows the diagram as a list on a narrow terminal, which only the command exceeds', () => {
    const text = block(escapedPlay(), 60)
    expect(text).toMatch(/\n +message {2}- "I'm Anna"\n +\+ "I&#39;m Anna"\n +only HTML escaping differs\n/)
    expect(text).toMatch(
      /\n {2}x \+0\.84 {3}#12 {3}main: <-- POST message "I&#39;m Anna": 200\n +MESSAGE SENT TO USER\n/,
    )
    expect(text).toMatch(/\n {2}seed 1, real clock, 6\.4 s\n$/)
    const wide = text.split('\n').filter(line => widthOf(line) > 60)
    expect(wide.filter(line => !line.startsWith('  rerun: '))).toEqual([])
    for (const columns of [10, 72, 300])
      expect(block(escapedPlay(), columns)).toMatch(/^\nFAIL .*\n {2}x step 7: nearest/)
  })

  it('wraps reasons on a narrow terminal, but not a long title', () => {
    const name = 'A scenario whose name is longer than the line'
    const skipped = { ...skippedResult(), reason: 'the target is not reachable: nothing listens at 127.0.0.1:3000' }
    expect(block(skipped, 60)).toContain('\n    the target is not reachable: nothing listens at\n    127.0.0.1:3000\n')
    expect(block({ ...silentResult(), name }, 60)).toContain(`\nFAIL ${name}\n  x step 2: no call came at all`)
  })

  it('shortens the path of a heading from its beginning, and never the name', () => {
    const name = 'Every serialisation [json=compact, language=nb]'
    const file = 'node_modules/a-package-of-tests/scenarios/conversations/every-serialisation.yaml'
    const headOf = (play: ScenarioReport, columns?: number) => block(play, columns).split('\n')[1]
    const play = { ...silentResult(), file, name }
    expect(headOf(play, 130)).toMatch(`FAIL …/conversations/every-serialisation.yaml > ${name} `)
    expect(headOf(play, 120)).toMatch(`FAIL …/every-serialisation.yaml > ${name} `)
    expect(headOf(play, 100)).toMatch(
      /^FAIL Every serialisation \[json=compact, language=nb\] +seed 1, real clock, 7\.0 s$/,
    )
    const long = 'A name that is longer than a line '.repeat(4).trim()
    expect(headOf({ ...play, name: long })).toBe(`FAIL ${long}`)
    expect(block({ ...play, name: long })).toMatch(/\n {2}seed 1, real clock, 7\.0 s\n$/)
  })

  it('shows the slowest scenarios and the warnings with whole names', () => {
    const name = 'A scenario with a name that is long, but not too long for a line'
    const details = { call: { seq: 5, method: 'POST', path: '/api/v2/handover/message' }, endSeq: 4 }
    const warnings = [describeWarning({ rule: 'message-after-end', details, conversation: null, entrySeqs: [] })]
    const file = 'scenarios/a/folder/of/tests.yaml'
    const plays = [1, 2, 3, 4].map(number => scenarioResult({ name: `${name} ${number}`, file, warnings }))
    const text = pretty(result([...plays, scenarioResult({ instance: 2, warnings: [...warnings, ...warnings] })]))
    expect(text).toContain('PASS scenarios/happy.yaml > Happy path #2  640 ms  2 warnings')
    expect(text.match(/ {2}…\/of\/tests\.yaml > A scenario .* for a line \d\n/g)).toHaveLength(3)
    const counted = `message-after-end: 6 times, in ${name} 1, ${name} 2, ${name} 3 and 2 more`
    expect(text.replace(/\s+/g, ' ')).toContain(counted)
  })

  it('shows the last output of a program by lines', () => {
    const said = {
      ...unreachableResult(),
      reason: 'The target did not start. It said last:\nTraceback:\n  no \u001b[2Jsuch file',
    }
    expect(block(said)).toMatch(/It said last:\n {4}Traceback:\n {4}no <U\+001B>\[2Jsuch file\n/)
  })

  it('names the entry of a warning once', () => {
    const finding = { rule: 'ER1', message: 'avatr is not a known field; it was ignored.' }
    const details = { target: 'start', finding, seqs: [12, 14] }
    const warnings = [describeWarning({ rule: 'unknown-fields', details, conversation: null, entrySeqs: [12, 14] })]
    const text = block({ ...escapedPlay(), warnings })
    expect(text).toContain('warning unknown-fields: start (#12, #14): avatr')
    expect(text.replace(/\s+/g, ' ')).not.toContain('leave it out. (#12')
  })

  it('shortens long values around the first difference', () => {
    const long = 'The parcel has been sent on Monday by our warehouse in Oslo. '.repeat(5)
    const differences = [{ path: 'message', expected: `"${long}A"`, received: `"${long}B"` }]
    const miss = { seq: 1, what: 'POST message', afterMs: 5, codes: [], why: '1 field differs', differences }
    const text = block(scenarioResult({ outcome: 'fail', failures: [failure({ nearest: [miss] })] }))
    expect(text).toContain('- … our warehouse in Oslo. A"   + … our warehouse in Oslo. B"')
  })

  it('names the chat of a step if there are several, and marks soft steps', () => {
    const ref = step(3, 'expect end', { conversation: 'bo', name: 'goodbye' })
    const failures = [failure({ step: ref, soft: true, expected: 'expect end' })]
    const text = block(scenarioResult({ outcome: 'fail', failures }))
    expect(text).toContain('scenarios/happy.yaml:15:5  step 3/10 goodbye, chat bo  expect end  soft\n')
  })

  it('shows equal failures once, with the steps or chats of the others', () => {
    const place = { file: 'scenarios/happy.yaml', line: 18, column: 11 }
    const shownOf = (...failures: FailureReport[]) => block(scenarioResult({ outcome: 'fail', failures }))
    const crossTalk = (number: number) =>
      failure({ step: { ...step(number, `expect message ${number}`), place }, group: 'cross-talk' })
    const text = shownOf(...[7, 8, 9, 2].map(crossTalk), failure({ step: step(3, 'expect message'), group: 'other' }))
    expect(text).toContain('    and 3 more like it: steps 2, 8-9\n')
    expect(text.match(/^ {2}x /gm)).toHaveLength(2)
    const refused = (conversation: string) => failure({ kind: 'contract', conversation, group: 'refused' })
    expect(shownOf(refused('ada'), refused('bo'))).toContain('and 1 more like it: chat bo')
  })

  it('counts failures beyond ten, other items beyond five, and steps that did not run', () => {
    const miss = { seq: 1, what: 'message', afterMs: 0, codes: [], why: 'late', differences: [] }
    const many = [...'abcdefghijkl'].map(happened => failure({ happened, nearest: Array(8).fill(miss) }))
    const steps = [3, 4, 5, 9].map(number => stepVerdict(step(number, 'expect end'), { outcome: 'not reached' }))
    const text = block(scenarioResult({ outcome: 'fail', failures: many, steps }))
    expect(text).toContain('… 2 more failures')
    expect(text.match(/… 2 more$/gm)).toHaveLength(10)
    expect(text).toContain('not reached: steps 3-5, 9')
  })

  it('failures outside of scenarios have a separate block', () => {
    const log = new Journal()
    const orphan = log.call('message', { message: 'Hi' }, { chat_id: 'nobody', status: 404 })
    const failures = [
      failure({ kind: 'unexpected', conversation: null, happened: 'a call for chat "nobody"', entrySeqs: [orphan] }),
    ]
    const text = pretty(result([passedResult()], { failures, journal: log.entries, exitCode: 1 }))
    expect(text).toMatch(/^FAIL outside every scenario\n {2}x a call for chat "nobody"/m)
    expect(text).toMatch(/^ {2}x \+0\.00 +#1 +<-+ POST message "Hi" {2}404/m)
    expect(text).toContain('1 failure outside every scenario')
  })
})

describe('a diagram', () => {
  it('joins a user action only with the event that it caused', () => {
    const log = new Journal()
    const cause = log.user('Hi')
    log.event('MESSAGE FROM USER', 'd1', cause, 'Hi')
    log.user('Ho')
    log.event('MESSAGE FROM USER', 'd2', cause, 'Hi')
    const text = block(scenarioResult({ outcome: 'fail', journal: log.entries, failures: [failure({})] }))
    expect(text.match(/^ +\+0\.00.*$/gm)!.map(line => line.trim().split(/ {2,}/).slice(0, 4).join(' | '))).toEqual([
      '+0.00 | "Hi" | #2 | MESSAGE FROM USER "Hi" ------------------------------>',
      '+0.00 | "Ho" | #3',
      '+0.00 | #4 | MESSAGE FROM USER "Hi" ------------------------------> | no answer',
    ])
  })
})

describe('other scenarios', () => {
  it('have one line each, before the failures; the totals come last', () => {
    const scenarios = [silentResult(), passedResult(), openResult(), unreachableResult(), skippedResult()]
    const text = pretty(result(scenarios))
    const [first, , ...last] = text.split('\n\n')
    expect(`\n${first}\n`).toMatchInlineSnapshot(`
      "
      PASS scenarios/short.yaml > Short and good  120 ms
      INCONCLUSIVE scenarios/agent.yaml > With an agent  30 ms  the agent driver has no verb "transfer"
      ERROR scenarios/desk.yaml > No desk  5.0 ms  the help desk is not there: connection refused at 127.0.0.1:3100
      SKIP scenarios/later.yaml > Later  not tagged smoke
      "
    `)
    expect(`\n${last.join('\n\n')}`).toMatchInlineSnapshot(`
      "
      Slowest
         7.0 s  scenarios/silent.yaml > Nothing comes
        120 ms  scenarios/short.yaml > Short and good
         30 ms  scenarios/agent.yaml > With an agent

      5 scenarios in 7.0 s: 1 passed, 1 failed, 1 could not be run, 1 inconclusive, 1 skipped
      target http://127.0.0.1:3000/webhook, seed 1
      exit 1: an expectation failed
      "
    `)
  })

  it('are replaced by a message for a run that stopped early or ran nothing', () => {
    const text = pretty(result([], { stopped: 'interrupted', exitCode: 130, durationMs: 20 }))
    expect(text).toMatch(
      /^0 scenarios in 20 ms: no scenario was run\nstopped early: interrupted\ntarget .*\nexit 130: /,
    )
  })
})

describe('the terminal', () => {
  it('has colours only for the outcome', () => {
    const run = result([passedResult(), escapedPlay()])
    const coloured = prettyReport(run, { colorLevel: 1 })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(pretty(run))
    expect(coloured).toContain('\u001b[32mPASS\u001b[39m')
    expect(coloured).toContain('\u001b[31mFAIL\u001b[39m')
  })

  it('is wider than diagrams, also with wide characters', () => {
    for (const columns of [40, 100]) {
      const rows = HOSTILE.flatMap(text => block(hostileResult(text), columns).split('\n')).filter(line =>
        /^ {2}[x ] \+\d/.test(line),
      )
      expect(rows.length).toBeGreaterThan(20)
      expect(Math.max(...rows.map(widthOf))).toBeLessThanOrEqual(columns)
    }
  })
})

describe('long timelines', () => {
  const rows = (count: number, failed: readonly number[] = []): TimelineRow[] =>
    Array.from(
      { length: count },
      (_, index) => ({ seq: index + 1, entrySeqs: [index + 1], failed: failed.includes(index + 1) }) as never,
    )
  const seqs = (shown: ReturnType<typeof elide>) => shown.map(row => (isGap(row) ? `…${row.gap}` : row.seq))

  it('show both ends and the rows around failures', () => {
    const around = [46, 47, 48, 49, 50, 51, 52, 53, 54]
    const ends = [
      [1, 2, 3],
      [98, 99, 100],
    ] as const
    expect(seqs(elide(rows(100, [50])))).toEqual([...ends[0], '…42', ...around, '…43', ...ends[1]])
    expect(elide(rows(40))).toHaveLength(40)
  })

  it('show rows that are as short as a gap, and stay short when everything fails', () => {
    expect(seqs(elide(rows(100, [9]))).slice(0, 6)).toEqual([1, 2, 3, 4, 5, 6])
    const everything = Array.from({ length: 400 }, (_, index) => index + 1)
    expect(elide(rows(400, everything)).length).toBeLessThanOrEqual(50)
  })

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
    const failures = [failure({ entrySeqs: [50] })]
    const text = block(scenarioResult({ outcome: 'fail', journal: log.entries, failures }))
    expect(text).toMatch(/^ {4}… 42 entries …$/m)
    expect(text).toMatch(/^ {4}… 58\.0 s …$/m)
  })
})
