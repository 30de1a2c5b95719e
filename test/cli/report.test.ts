/** `handover-sim check`: a saved run, judged again. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { journalLines } from '../../src/evaluator/journal-file.ts'
import { compile } from '../../src/scenario/compile/compile.ts'
import { loadScenarios } from '../../src/scenario/load/load.ts'
import { folderWith } from '../config/folder.ts'
import { journalOf, ranOf } from '../scenario/journal-builder.ts'
import { fakeIo } from './fake-io.ts'

const scenario = (message: string) => `version: 1
name: Greeting
steps:
  - press: handover
  - expect: { message: { message: ${message} } }
`

/** The journal of a play in which the agent said "Hi". */
async function savedJournal(): Promise<string> {
  const folder = folderWith({ 'greeting.yaml': scenario('Hi') })
  const [plan] = compile(
    await loadScenarios([join(folder, 'greeting.yaml')], { cwd: folder, nodeVersion: process.version }),
  )
  const journal = journalOf(plan!)
  journal.stimulus(1)
  journal.step(2, () => {
    journal.call('message', { message: 'Hi' })
    journal.pass(5000)
  })
  return `${[...journalLines(ranOf([{ plan: plan!, entries: journal.finish() }]))].join('\n')}\n`
}

async function checked(files: Record<string, string | null>, ...argv: string[]) {
  const io = fakeIo(folderWith(files))
  const code = await main(['check', ...argv], {}, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

it('the same scenario: the same verdict, exit 0', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': scenario('Hi') }
  const { code, out, err } = await checked(files, '--journal', 'run.jsonl', 'greeting.yaml')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/PASS greeting\.yaml > Greeting/)
})

it('a changed scenario is judged by what was seen then, exit 1', async () => {
  const files = { 'run.jsonl': await savedJournal(), scenarios: null, 'scenarios/greeting.yaml': scenario('Hello') }
  const { code, out } = await checked(files, '--journal', 'run.jsonl')
  expect(code).toBe(1)
  expect(out).toContain('"Hello"')
  expect(out).toMatch(/FAIL scenarios\/greeting\.yaml > Greeting/)
})

it('a step that was not played passes nothing, exit 3', async () => {
  const longer = `${scenario('Hi')}  - expect: { end: {} }\n`
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': longer }
  const { code, out } = await checked(files, '--journal', 'run.jsonl', 'greeting.yaml')
  expect(out).toMatch(/ERROR greeting\.yaml > Greeting .*step 3 \(expect end\) was not played: play the scenario again/)
  expect(code).toBe(3)
})

it('a journal of other steps is not judged, exit 3', async () => {
  const other = scenario('Hi').replace('  - expect', '  - log: asked\n  - expect')
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': other }
  const { code, out } = await checked(files, '--journal', 'run.jsonl', 'greeting.yaml')
  expect(out).toMatch(/ERROR .*step 2 was expect message \{ message: "Hi" \} and is now log "asked"; play it again/)
  expect(code).toBe(3)
})

it('the journal a run keeps is found by itself', async () => {
  const files = {
    '.handover-sim': null,
    '.handover-sim/journal.jsonl': await savedJournal(),
    'greeting.yaml': scenario('Hi'),
  }
  expect((await checked(files, 'greeting.yaml')).code).toBe(0)
})

it('reports as a run writes them', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': scenario('Hi') }
  const { code, out } = await checked(files, '--journal', 'run.jsonl', '--report', 'tap', 'greeting.yaml')
  expect(code).toBe(0)
  expect(out).toMatch(/^TAP version 14/)
})

it('plays of other scenarios are named and passed over; nothing left to judge is exit 4', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'other.yaml': scenario('Hi').replace('Greeting', 'Other') }
  expect(await checked(files, '--journal', 'run.jsonl', 'other.yaml')).toEqual({
    code: 4,
    out: '',
    err: 'not judged, no such scenario in the files: Greeting\nnot judged, not played in this run: Other\n',
  })
})

it('a journal that is not whole is an error, not a failure', async () => {
  const whole = await savedJournal()
  const files = { 'run.jsonl': whole.split('\n').slice(0, -4).join('\n'), 'greeting.yaml': scenario('Hi') }
  const { code, err } = await checked(files, '--journal', 'run.jsonl', 'greeting.yaml')
  expect({ code, err }).toEqual({
    code: 2,
    err: 'run.jsonl: play 1 (Greeting): has 9 of its 12 entries: the file was cut off.\n',
  })
})

it('no journal, no scenario, no such report', async () => {
  const files = { 'run.jsonl': await savedJournal(), 'greeting.yaml': scenario('Hi') }
  expect(await checked(files, '--journal', 'nope.jsonl', 'greeting.yaml')).toMatchObject({
    code: 2,
    err: 'nope.jsonl: cannot be read: there is no such file; handover-sim run keeps one, --journal FILE names another.\n',
  })
  expect((await checked(files, '--journal', 'run.jsonl', 'nope.yaml')).code).toBe(2)
  expect((await checked(files, '--journal', 'run.jsonl', '--report', 'pretti', 'greeting.yaml')).code).toBe(2)
})
