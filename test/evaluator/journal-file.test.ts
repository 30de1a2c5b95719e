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
  expect(run).toMatchObject({ v: 1, type: 'run', seed: 1, plays: 1, entries: 0, exit_code: 0 })
  expect(scenarios).toHaveLength(1)
  expect(scenarios[0]).toMatchObject({
    play: 1,
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
    expect(JSON.parse(line)).toMatchObject({ v: 1, type: expect.stringMatching(/^(run|play|entry)$/) })
})

it('entries without a scenario are separate', () => {
  const [entry] = journalOf(plan).entries
  const text = [...journalLines({ ...ranOf([]), journal: [entry!] })].join('\n')
  expect(readJournal('run.jsonl', text).journal).toEqual([entry])
})

it('calls of an earlier version have no findings and rest on no assumptions', () => {
  const complete = saved()
  const older = complete.map(line => {
    const { entry, ...rest } = JSON.parse(line) as { entry?: Record<string, unknown> }
    if (entry?.kind !== 'api') return line
    const { findings: _, unspecified: __, ...own } = entry
    return JSON.stringify({ ...rest, entry: own })
  })
  expect(older).not.toEqual(complete)
  const [scenario] = readJournal('run.jsonl', older.join('\n')).scenarios
  expect(scenario?.journal.find(({ kind }) => kind === 'api')).toMatchObject({ findings: [], unspecified: {} })
  expect(evaluate(plan, scenario!.journal)).toMatchObject({ outcome: 'pass', warnings: [] })
})

describe('an invalid journal is refused', () => {
  it.each([
    ['an empty file', () => [], 'run.jsonl:1: must be the line of the run: {"v":1,"type":"run", …}.'],
    ['a line that is no JSON', (lines: string[]) => lines.with(3, 'x'), /^run\.jsonl:4: is not JSON: /],
    [
      'a last line that was cut',
      (lines: string[]) => lines.with(-1, lines.at(-1)!.slice(0, 40)),
      'run.jsonl:14: the file was cut off in the middle of its last line.',
    ],
    [
      'last lines that are missing',
      (lines: string[]) => lines.slice(0, -2),
      'run.jsonl: play 1 (Under test): has 10 of its 12 entries: the file was cut off.',
    ],
    ['a play that is missing', (lines: string[]) => lines.slice(0, 1), 'run.jsonl: has 0 of 1 plays: it was cut off.'],
    [
      'a gap',
      (lines: string[]) => [...lines.slice(0, 5), ...lines.slice(6), lines.at(-1)!],
      'run.jsonl: play 1 (Under test): has no entry between #3 and #5: the journal is not whole.',
    ],
    [
      'another version',
      (lines: string[]) => lines.with(0, '{"v":2}'),
      'run.jsonl:1: v: must be 1, got 2: was it written by another version?',
    ],
    [
      'another type',
      (lines: string[]) => lines.with(2, '{"v":1,"type":"x"}'),
      'run.jsonl:3: type: must be run, play or entry, got "x".',
    ],
    [
      'an entry that is none',
      (lines: string[]) => lines.with(2, '{"v":1,"type":"entry","play":1}'),
      'run.jsonl:3: entry: must be an entry of a journal, with seq and kind.',
    ],
    [
      'entries of a play nobody spoke of',
      (lines: string[]) => lines.with(2, lines[2]!.replace('"play":1', '"play":7')),
      'run.jsonl: has entries of play 7, but not its line of type "play".',
    ],
  ])('%s', (_, spoil, message) => {
    expect(() => readJournal('run.jsonl', spoil(saved()).join('\n'))).toThrow(message)
  })
})
