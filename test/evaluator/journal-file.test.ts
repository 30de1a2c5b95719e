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
  const { run, scenarios, journal } = readJournal('run.jsonl', `${saved().join('\n')}\n`)
  expect(run).toMatchObject({ v: 2, type: 'run', seed: 1, scenarios: 1, entries: 0, exit_code: 0 })
  const conversations = { main: 'c-main' }
  expect(scenarios).toMatchObject([{ scenario: 1, name: 'Under test', instance: 1, outcome: 'pass', conversations }])
  expect(journal).toEqual([])
  expect(evaluate(plan, scenarios[0]!.journal)).toMatchObject({ outcome: 'pass', failures: [] })
})

it('entries without a scenario are separate', () => {
  const [entry] = journalOf(plan).entries
  const text = [...journalLines({ ...ranOf([]), journal: [entry!] })].join('\n')
  expect(readJournal('run.jsonl', text).journal).toEqual([entry])
})

describe('an invalid journal is refused', () => {
  const line = (index: number, text: string) => (lines: string[]) => lines.with(index, text)
  const change = (from: string, to: string) => (lines: string[]) => lines.map(one => one.replace(from, to))
  it.each<[string, (lines: string[]) => string[], string | RegExp]>([
    ['an empty file', () => [], ':1: must be the line of the run: {"v":2,"type":"run", …}.'],
    ['a line that is no JSON', line(3, 'x'), /^run\.jsonl:4: is not JSON: /],
    ['a last line that was cut', line(-1, '{"v":2,"ty'), ':14: the file was cut off in the middle of its last line.'],
    ['last lines that are missing', lines => lines.slice(0, -2), 'has 10 of its 12 entries: the file was cut off.'],
    ['a scenario that is missing', lines => lines.slice(0, 1), 'has 0 of 1 scenarios: it was cut off.'],
    [
      'a gap',
      lines => [...lines.slice(0, 5), ...lines.slice(6), lines.at(-1)!],
      'scenario 1 (Under test): has no entry between #3 and #5: the journal is not whole.',
    ],
    ['another version', line(0, '{"v":1}'), ':1: v: must be 2, got 1: was it written by another version?'],
    ['a list', line(2, '[1]'), ':3: must be a JSON object, got an array of 1; a journal has one object on each line.'],
    ['an entry of another version', change('"v":1,"seq"', '"v":7,"seq"'), ':3: entry.v: must be 1, got 7: was it'],
    ['another type', line(2, '{"v":2,"type":"x"}'), ':3: type: must be run, scenario or entry, got "x".'],
    ['an entry that is none', line(2, '{"v":2,"type":"entry","scenario":1}'), ':3: entry: is required: an object.'],
    ['a note without its fields', change('"config":', '"cnofig":'), ':3: entry.config: is required: an object; write'],
    [
      'another kind',
      change('"kind":"api"', '"kind":"call"'),
      /:\d+: entry\.kind: must be api, event, .* got the string/,
    ],
    ['a call of no endpoint', change('"endpoint":"start"', '"endpoint":"x"'), /:\d+: entry\.endpoint: must be /],
    ['a finding that is none', change('"findings":[]', '"findings":[{}]'), /: entry\.findings\[0\]\.rule: is required/],
    [
      'a failure that is none',
      change('"failures":[]', '"failures":[{}]'),
      ':1: failures[0].kind: is required: a string.',
    ],
    [
      'entries of a scenario without its line',
      lines => lines.with(2, lines[2]!.replace('"scenario":1', '"scenario":7')),
      'has entries of scenario 7, but not its line of type "scenario".',
    ],
  ])('%s', (_, spoil, message) => {
    expect(() => readJournal('run.jsonl', spoil(saved()).join('\n'))).toThrow(message)
  })
})
