/** `handover-sim report`: judges saved journals again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { journalLines } from '../../src/evaluation/evaluator/journal-file.ts'
import type { RunResult } from '../../src/evaluation/evaluator/verdict.ts'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../../src/evaluation/scenario/load/load.ts'
import { folderWith } from '../config/folder.ts'
import { codedFailure, failure, Journal } from '../reporters/run-results.ts'
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

it('computes the same verdict for the same scenario and exits with 0', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': scenario('Hi') }
  const { code, out, err } = await reported(files, 'run.jsonl')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/PASS greeting\.yaml > Greeting/)
})

it('loads no module that only the journal names', async () => {
  const journal = (await savedJournal()).replaceAll('greeting.yaml', 'greeting.mjs')
  const files = { 'run.jsonl': journal, 'greeting.mjs': 'throw new Error("loaded")' }
  const { code, err } = await reported(files, 'run.jsonl')
  expect(code).toBe(2)
  expect(err).toMatch(/^greeting\.mjs: is a module, and the file that names it is a journal.* pass --scenarios FILE/)
  expect((await reported(files, 'run.jsonl', '--scenarios', 'greeting.mjs')).err).toContain('cannot be loaded: loaded')
})

it('evaluates a changed scenario on the saved journal and exits with 1', async () => {
  const files = { 'run.jsonl': await savedJournal(), scenarios: null, 'scenarios/greeting.yaml': scenario('Hello') }
  const { code, out } = await reported(files, 'run.jsonl', '--scenarios', 'scenarios')
  expect(code).toBe(1)
  expect(out).toContain('"Hello"')
  expect(out).toMatch(/FAIL scenarios\/greeting\.yaml > Greeting/)
})

it('does not pass a step that was not executed, and exits with 3', async () => {
  const longer = `${scenario('Hi')}  - expect: { end: {} }\n`
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': longer }
  const { code, out } = await reported(files, 'run.jsonl')
  expect(out).toMatch(/ERROR greeting\.yaml > Greeting .*step 3 \(expect end\) was not run: run the scenario again/)
  expect(code).toBe(3)
})

it('does not pass a journal with an internal error, and exits with 70', async () => {
  const broken = { where: 'delivery', code: 'TypeError', message: 'broken' }
  const journal = await savedJournal('Greeting', {}, ({ note }) => void note('internal_error', broken))
  const files = { 'run.jsonl': journal, 'greeting.yaml': scenario('Hi') }
  const { code, out } = await reported(files, 'run.jsonl')
  expect(out).toMatch(/ERROR .*internal error of handover-sim \(delivery\): broken;.*please report it/s)
  expect(code).toBe(70)
})

it('does not evaluate a journal of other steps, and exits with 3', async () => {
  const other = scenario('Hi').replace('  - expect', '  - log: asked\n  - expect')
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': other }
  const { code, out } = await reported(files, 'run.jsonl')
  expect(out).toMatch(/ERROR .*step 2 was expect message \{ message: "Hi" \} and is now log "asked"; run it again/)
  expect(code).toBe(3)
})

it('reads the journal that a run saves by default', async () => {
  const files = {
    '.handover-sim': null,
    '.handover-sim/journal.jsonl': await savedJournal(),
    'greeting.yaml': scenario('Hi'),
  }
  expect((await reported(files)).code).toBe(0)
})

it('writes the same reports as a run', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': scenario('Hi') }
  const { code, out } = await reported(files, 'run.jsonl', '--report', 'tap')
  expect(code).toBe(0)
  expect(out).toMatch(/^TAP version 14/)
})

it('names scenarios that only the files or only the journal have; exits with 4 when none remains', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'other.yaml': scenario('Hi').replace('Greeting', 'Other') }
  expect(await reported(files, 'run.jsonl', '--scenarios', 'other.yaml')).toMatchObject({
    code: 4,
    out: '',
    err: 'not evaluated, because the scenario files do not have it: Greeting\nnot evaluated, because the journal does not have it: Other\n',
  })
})

it('an incomplete journal is an error and not a failure', async () => {
  const whole = await savedJournal()
  const files = { 'run.jsonl': whole.split('\n').slice(0, -4).join('\n'), 'greeting.yaml': scenario('Hi') }
  const { code, err } = await reported(files, 'run.jsonl')
  expect({ code, err }).toEqual({
    code: 2,
    err: 'run.jsonl: scenario 1 (Greeting): has 9 of its 12 entries: the file was cut off.\n',
  })
})

/** The journal of a play whose first entries were evicted before it was saved. */
const withoutBeginning = (saved: string): string => {
  const [run = '', play = '', ...entries] = saved.split('\n')
  return [run, play.replace('"entries":12', '"entries":9'), ...entries.slice(3)].join('\n')
}

it('a journal that lost its first entries is inconclusive in every report', async () => {
  const files = { 'run.jsonl': withoutBeginning(await savedJournal()), 'greeting.yaml': scenario('Hi') }
  const { code, out } = await reported(files, 'run.jsonl')
  expect(code).toBe(4)
  expect(out.replace(/\s+/g, ' ')).toMatch(
    /INCONCLUSIVE greeting\.yaml > Greeting .*no longer has the entries before #4.*memoryLimit/,
  )
  for (const report of ['json', 'tap'])
    expect((await reported(files, 'run.jsonl', '--report', report)).out).toMatch(
      /no longer has the entries before \\?#4/,
    )
  const written = await reported(files, 'run.jsonl', '--report', 'junit=junit.xml,html=report.html')
  expect(written.code).toBe(4)
  for (const file of ['junit.xml', 'report.html'])
    expect(readFileSync(join(written.cwd, file), 'utf8')).toMatch(/no longer has the entries before \\?#4/)
})

it('a run that failed stays failed when its journal lost the entries that show it', async () => {
  const failed = (await savedJournal()).replace('"outcome":"pass"', '"outcome":"fail"')
  const files = { 'run.jsonl': withoutBeginning(failed), 'greeting.yaml': scenario('Hi') }
  const { code, out } = await reported(files, 'run.jsonl')
  expect(code).toBe(1)
  expect(out).toMatch(/FAIL greeting\.yaml > Greeting/)
})

it.each([
  [
    'none.jsonl',
    /^none\.jsonl: cannot be read: there is no such file; npx handover-sim run writes one to .handover-sim/,
  ],
  ['run.jsonl --scenarios none.yaml', /^none\.yaml: /],
  ['run.jsonl --report pretti', /pretti/],
  ['run.jsonl', /^greeting\.yaml: cannot be read: .*, and the journal names it; pass --scenarios FILE\.\n$/],
])('exits with 2 for %s', async (line, message) => {
  const { code, out, err } = await reported({ 'run.jsonl': await savedJournal() }, ...line.split(' '))
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)])
})

/** An entry of no scenario, and a failure that points at it. */
function orphan(seq: number): Pick<RunResult, 'failures' | 'journal'> {
  const journal = new Journal()
  journal.note('availability', { by: 'api', availability: 'open' })
  return {
    failures: [codedFailure(failure({ entrySeqs: [seq] }))],
    journal: journal.entries.map(entry => ({ ...entry, seq })),
  }
}

describe('journals of several shards', () => {
  const scenarios = { 'greeting.yaml': scenario('Hi'), 'farewell.yaml': scenario('Hi', 'Farewell') }

  it('become one report with all scenarios and failures, the earliest start and the longest duration', async () => {
    const files = {
      ...scenarios,
      '1.jsonl': await savedJournal('Greeting', {
        startedAt: '2024-01-01T09:00:02.000Z',
        durationMs: 3000,
        ...orphan(1),
      }),
      '2.jsonl': await savedJournal('Farewell', { durationMs: 7000, seed: 2, ...orphan(1) }),
    }
    const { code, out, err } = await reported(files, '1.jsonl', '2.jsonl', '--report', 'json')
    expect({ code, err }).toEqual({ code: 1, err: '' })
    const run = JSON.parse(out)
    expect(run.scenarios.map(({ name, outcome }: Record<string, string>) => `${name}: ${outcome}`)).toEqual([
      'Greeting: pass',
      'Farewell: pass',
    ])
    expect(run).toMatchObject({ duration_ms: 7000, seed: null, counts: { pass: 2 } })
    expect(Date.parse(run.started_at)).toBeLessThan(Date.parse('2024-01-01T09:00:02.000Z'))
    expect(run.failures.map(({ entry_seqs }: Record<string, unknown>) => entry_seqs)).toEqual([[1], [2]])
  })

  it('are saved as one journal, which gives the same report', async () => {
    const shards = {
      '1.jsonl': await savedJournal('Greeting', orphan(4)),
      '2.jsonl': await savedJournal('Farewell', orphan(4)),
    }
    const all = ['1.jsonl', '2.jsonl', '--report', 'journal=all.jsonl,json=1.json']
    const { code, cwd } = await reported({ ...scenarios, ...shards }, ...all)
    const again = await runCommand(['report', 'all.jsonl', '--report', 'json=2.json'], { cwd })
    expect([code, again.code]).toEqual([1, 1])
    const [first, second] = ['1.json', '2.json'].map(file => readFileSync(join(cwd, file), 'utf8'))
    expect(first).toBe(second)
  })

  it('exit with 2 when two journals have the same scenario', async () => {
    const files = { ...scenarios, '1.jsonl': await savedJournal(), '2.jsonl': await savedJournal() }
    expect(await reported(files, '1.jsonl', '2.jsonl')).toMatchObject({
      code: 2,
      out: '',
      err: '2.jsonl: has scenario "Greeting", and so does 1.jsonl: name the journal of each shard once.\n',
    })
  })
})
