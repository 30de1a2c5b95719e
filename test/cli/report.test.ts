/** `handover-sim report`: judges saved journals again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { journalLines, observedRunLine } from '../../src/evaluation/evaluator/journal-file.ts'
import type { RunResult } from '../../src/evaluation/evaluator/verdict.ts'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../../src/evaluation/scenario/load/load.ts'
import { folderWith } from '../config/folder.ts'
import { failure, Journal, miss } from '../reporters/run-results.ts'
import { journalOf, ranOf } from '../scenario/journal-builder.ts'
import { runCommand } from './fake-io.ts'

const scenario = (message: string, name = 'Greeting') => `version: 1
name: ${name}
steps:
  - press: handover
  - expect: { message: { message: ${message} } }
`

/** The journal of a play in which the agent said "Hi". */
async function savedJournal(
  name = 'Greeting',
  more: Partial<RunResult> = {},
  happen: (journal: ReturnType<typeof journalOf>) => void = () => {},
): Promise<string> {
  const file = `${name.toLowerCase()}.yaml`
  const folder = folderWith({ [file]: scenario('Hi', name) })
  const [plan] = compile(await loadScenarios([file], { cwd: folder, nodeVersion: process.version }))
  const journal = journalOf(plan!)
  journal.stimulus(1)
  happen(journal)
  journal.step(2, () => {
    journal.call('message', { message: 'Hi' })
    journal.pass(5000)
  })
  const result = { ...ranOf([{ plan: plan!, entries: journal.finish() }]), ...more }
  return `${[...journalLines(result)].join('\n')}\n`
}

const reported = (files: Record<string, string | null>, ...argv: string[]) => runCommand(['report', ...argv], { files })

/** The journal of a play whose first entries were evicted before it was saved. */
const withoutBeginning = (saved: string): string => {
  const [run = '', play = '', ...entries] = saved.split('\n')
  return [run, play.replace('"entries":12', '"entries":9'), ...entries.slice(3)].join('\n')
}

const BROKEN = { where: 'delivery', code: 'TypeError', message: 'broken' }
const breaks: Changes['happened'] = ({ note }) => void note('internal_error', BROKEN)
const LONGER = `${scenario('Hi')}  - expect: { end: {} }\n`
const OTHER = scenario('Hi').replace('  - expect', '  - log: asked\n  - expect')
const asFailed = (saved: string) => saved.replace('"outcome":"pass"', '"outcome":"fail"')

interface Changes {
  readonly happened?: Parameters<typeof savedJournal>[2]
  /** Changes the saved journal. */
  readonly change?: (journal: string) => string
  /** The scenario file of now. */
  readonly now?: string
}

it.each<[string, number, RegExp, Changes?]>([
  ['the same scenario', 0, /^PASS greeting\.yaml > Greeting/],
  ['a changed expectation', 1, /^FAIL greeting\.yaml .*"Hello"/s, { now: scenario('Hello') }],
  ['a step that was not run', 3, /^ERROR greeting\.yaml .*step 3 \(expect end\) was not run/, { now: LONGER }],
  ['other steps', 3, /^ERROR .*step 2 was expect message .* and is now log "asked"/, { now: OTHER }],
  ['an internal error', 70, /^ERROR .*internal error .*: broken;.*please report it/s, { happened: breaks }],
  ['evicted entries', 4, /^INCONCLUSIVE .*has\s+the\s+entries\s+before\s+#4/s, { change: withoutBeginning }],
  ['evicted entries of a failed run', 1, /^FAIL greeting/, { change: saved => withoutBeginning(asFailed(saved)) }],
])('evaluates a journal with %s', async (_, exit, says, changes = {}) => {
  const { happened, change, now = scenario('Hi') } = changes
  const saved = await savedJournal('Greeting', {}, happened)
  const { code, out } = await reported({ 'run.jsonl': change?.(saved) ?? saved, 'greeting.yaml': now }, 'run.jsonl')
  expect(out).toMatch(says)
  expect(code).toBe(exit)
})

it('loads no module that only the journal names', async () => {
  const journal = (await savedJournal()).replaceAll('greeting.yaml', 'greeting.mjs')
  const files = { 'run.jsonl': journal, 'greeting.mjs': 'throw new Error("loaded")' }
  const { code, err } = await reported(files, 'run.jsonl')
  expect(code).toBe(2)
  expect(err).toMatch(/^greeting\.mjs: is a module, and the file that names it is a journal.* pass --scenarios FILE/)
  expect((await reported(files, 'run.jsonl', '--scenarios', 'greeting.mjs')).err).toContain('cannot be loaded: loaded')
})

it('reads the journal that a run saves by default, and scenarios from another place', async () => {
  const journal = await savedJournal()
  const files = { '.handover-sim': null, '.handover-sim/journal.jsonl': journal, 'greeting.yaml': scenario('Hi') }
  expect((await reported(files)).code).toBe(0)
  const moved = { 'run.jsonl': journal, scenarios: null, 'scenarios/greeting.yaml': scenario('Hi') }
  expect((await reported(moved, 'run.jsonl', '--scenarios', 'scenarios')).code).toBe(0)
})

it('names scenarios that only the files or only the journal have; exits with 4 when none remains', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'other.yaml': scenario('Hi').replace('Greeting', 'Other') }
  const { code, out, err } = await reported(files, 'run.jsonl', '--scenarios', 'other.yaml')
  expect({ code, out }).toEqual({ code: 4, out: '' })
  expect(err).toMatch(/^not evaluated, .* files .*: Greeting\nnot evaluated, .* journal .*: Other\n$/)
})

it('says that traffic without a chat has nothing to report', async () => {
  const facts = { version: '0.1.0', started_at: '2026-01-01T00:00:00.000Z', target: 'http://127.0.0.1:3000/webhook' }
  const { code, out, err } = await reported({ 'proxy.jsonl': `${observedRunLine(facts)}\n` }, 'proxy.jsonl')
  expect([code, out, err]).toEqual([4, '', expect.stringContaining('the journal has no chat')])
})

it('an incomplete journal is an error and not a failure', async () => {
  const whole = await savedJournal()
  const files = { 'run.jsonl': whole.split('\n').slice(0, -4).join('\n'), 'greeting.yaml': scenario('Hi') }
  const err = 'run.jsonl: scenario 1 (Greeting): has 9 of its 12 entries: the file was cut off.\n'
  expect(await reported(files, 'run.jsonl')).toMatchObject({ code: 2, err })
})

it.each([
  ['none.jsonl', /^none\.jsonl: cannot be read: there is no such file; npx handover-sim run writes one to /],
  ['run.jsonl --scenarios none.yaml', /^none\.yaml: /],
  ['run.jsonl --report pretti', /pretti/],
  ['run.jsonl', /^greeting\.yaml: cannot be read: .*, and the journal names it; pass --scenarios FILE\.\n$/],
])('exits with 2 for %s', async (line, message) => {
  const { code, out, err } = await reported({ 'run.jsonl': await savedJournal() }, ...line.split(' '))
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)])
})

const DIFFERENCE = { path: 'message', expected: '"Hi"', received: '"Hei"' }

/** An entry of no scenario, and a failure that points at it. */
function orphan(seq: number): Pick<RunResult, 'failures' | 'journal'> {
  const journal = new Journal()
  journal.note('availability', { by: 'api', availability: 'open' })
  return {
    failures: [failure({ entrySeqs: [seq], nearest: [miss(seq, 'POST message', 5, '1 field differs', [DIFFERENCE])] })],
    journal: journal.entries.map(entry => ({ ...entry, seq })),
  }
}

describe('journals of several shards', () => {
  const scenarios = { 'greeting.yaml': scenario('Hi'), 'farewell.yaml': scenario('Hi', 'Farewell') }

  it('become one report with all scenarios and failures, the earliest start and the longest duration', async () => {
    const late = { startedAt: '2024-01-01T09:00:02.000Z', durationMs: 3000, ...orphan(1) }
    const files = {
      ...scenarios,
      '1.jsonl': await savedJournal('Greeting', late),
      '2.jsonl': await savedJournal('Farewell', { durationMs: 7000, seed: 2, ...orphan(1) }),
    }
    const { code, out, err } = await reported(files, '1.jsonl', '2.jsonl', '--report', 'json')
    expect({ code, err }).toEqual({ code: 1, err: '' })
    const run = JSON.parse(out)
    expect(run).toMatchObject({
      ...{ duration_ms: 7000, seed: null, counts: { pass: 2 } },
      failures: [1, 2].map(seq => ({ entry_seqs: [seq], nearest: [{ differences: [DIFFERENCE] }] })),
      scenarios: [{ name: 'Greeting' }, { name: 'Farewell' }],
    })
    expect(Date.parse(run.started_at)).toBeLessThan(Date.parse(late.startedAt))
  })

  it('are saved as one journal, which gives the same report', async () => {
    const [one, two] = [await savedJournal('Greeting', orphan(4)), await savedJournal('Farewell', orphan(4))]
    const files = { ...scenarios, '1.jsonl': one, '2.jsonl': two }
    const all = ['1.jsonl', '2.jsonl', '--report', 'journal=all.jsonl,json=1.json']
    const { code, cwd } = await reported(files, ...all)
    const again = await runCommand(['report', 'all.jsonl', '--report', 'json=2.json'], { cwd })
    expect([code, again.code]).toEqual([1, 1])
    const [first, second] = ['1.json', '2.json'].map(file => readFileSync(join(cwd, file), 'utf8'))
    expect(first).toBe(second)
  })

  it('exit with 2 when two journals have the same scenario', async () => {
    const files = { ...scenarios, '1.jsonl': await savedJournal(), '2.jsonl': await savedJournal() }
    const err = '2.jsonl: has scenario "Greeting", and so does 1.jsonl: name the journal of each shard once.\n'
    expect(await reported(files, '1.jsonl', '2.jsonl')).toMatchObject({ code: 2, out: '', err })
  })
})
