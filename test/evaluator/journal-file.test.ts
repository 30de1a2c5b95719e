/** A run as a file: what is written is read again, and what is not whole is refused. */
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../src/evaluation/evaluator/evaluator.ts'
import { journalLines, readJournal } from '../../src/evaluation/evaluator/journal-file.ts'
import { journalOf, planOf, ranOf } from '../scenario/journal-builder.ts'

const plan = await planOf({ steps: [{ press: 'handover' }, { expect: 'start' }] })

function saved(): string[] {
  const journal = journalOf(plan)
  journal.stimulus(1)
  journal.step(2, () => journal.call('start'))
  return [...journalLines(ranOf([{ plan, entries: journal.finish() }]))]
}

it('a journal is read back unchanged', () => {
  const lines = saved()
  const { run, scenarios, journal } = readJournal('run.jsonl', `${lines.join('\n')}\n`)
  expect(run).toMatchObject({ v: 2, type: 'run', seed: 1, scenarios: 1, entries: 0, exit_code: 0 })
  expect(scenarios).toHaveLength(1)
  expect(scenarios[0]).toMatchObject({
    scenario: 1,
    name: 'Under test',
    instance: 1,
    outcome: 'pass',
    conversations: { main: 'c-main' },
  })
  expect(journal).toEqual([])
  expect(evaluate(plan, scenarios[0]!.journal)).toMatchObject({ outcome: 'pass', failures: [] })
})

it('every line is a JSON object with v and type', () => {
  for (const line of saved())
    expect(JSON.parse(line)).toMatchObject({ v: 2, type: expect.stringMatching(/^(run|scenario|entry)$/) })
})

it('entries without a scenario are separate', () => {
  const [entry] = journalOf(plan).entries
  const text = [...journalLines({ ...ranOf([]), journal: [entry!] })].join('\n')
  expect(readJournal('run.jsonl', text).journal).toEqual([entry])
})

describe('an invalid journal is refused', () => {
  it.each([
    ['an empty file', () => [], 'run.jsonl:1: must be the line of the run: {"v":2,"type":"run", …}.'],
    ['a line that is no JSON', (lines: string[]) => lines.with(3, 'x'), /^run\.jsonl:4: is not JSON: /],
    [
      'a last line that was cut',
      (lines: string[]) => lines.with(-1, lines.at(-1)!.slice(0, 40)),
      'run.jsonl:14: the file was cut off in the middle of its last line.',
    ],
    [
      'last lines that are missing',
      (lines: string[]) => lines.slice(0, -2),
      'run.jsonl: scenario 1 (Under test): has 10 of its 12 entries: the file was cut off.',
    ],
    [
      'a scenario that is missing',
      (lines: string[]) => lines.slice(0, 1),
      'run.jsonl: has 0 of 1 scenarios: it was cut off.',
    ],
    [
      'a gap',
      (lines: string[]) => [...lines.slice(0, 5), ...lines.slice(6), lines.at(-1)!],
      'run.jsonl: scenario 1 (Under test): has no entry between #3 and #5: the journal is not whole.',
    ],
    [
      'another version',
      (lines: string[]) => lines.with(0, '{"v":1}'),
      'run.jsonl:1: v: must be 2, got 1: was it written by another version?',
    ],
    [
      'another type',
      (lines: string[]) => lines.with(2, '{"v":2,"type":"x"}'),
      'run.jsonl:3: type: must be run, scenario or entry, got "x".',
    ],
    [
      'an entry that is none',
      (lines: string[]) => lines.with(2, '{"v":2,"type":"entry","scenario":1}'),
      'run.jsonl:3: entry: must be an entry of a journal, with seq and kind.',
    ],
    [
      'entries of a scenario without its line',
      (lines: string[]) => lines.with(2, lines[2]!.replace('"scenario":1', '"scenario":7')),
      'run.jsonl: has entries of scenario 7, but not its line of type "scenario".',
    ],
  ])('%s', (_, spoil, message) => {
    expect(() => readJournal('run.jsonl', spoil(saved()).join('\n'))).toThrow(message)
  })
})
