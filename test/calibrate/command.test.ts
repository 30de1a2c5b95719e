/** `handover-sim calibrate` as a user runs it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { createSimulator } from '../../src/index.ts'
import type { KnobSettings } from '../../src/platform/contract/knobs.ts'
import { maskEntry } from '../../src/platform/journal/mask.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { call, post } from '../support/test-simulator.ts'

async function run(cwd: string, ...argv: string[]) {
  const io = fakeIo(cwd)
  const code = await main(['calibrate', ...argv], {}, io)
  return { code, stdout: io.stdout.text, stderr: io.stderr.text }
}

const OTHER: KnobSettings = { 'typing.response': 'event', 'start.again': '409', 'time.format': 'epoch' }

/** The journal of a simulator after one handover, as `GET /_sim/journal` answers it. */
async function journalOf(knobs: KnobSettings): Promise<string> {
  await using sim = createSimulator({ knobs })
  const chat = await sim.chat()
  await chat.press('handover', { async: true })
  for (const name of ['start', 'start', 'typing_stop']) {
    await sim.clock.advance('1s')
    await post(sim, name, chat)
  }
  const body = { availability: 'OPEN', queue: 'DEFAULT', reason: 'OTHER' }
  await call(sim, '/api/v2/handover/availability', { body })
  return JSON.stringify({ entries: sim.journal.query().map(entry => maskEntry(entry)) })
}

test('names the values that fit, and writes them as a config file, with which the journal replays', async () => {
  const folder = folderWith({ 'journal.json': await journalOf(OTHER) })
  const found = await run(folder, 'journal.json', '--write', 'handover-sim.config.yaml')
  expect(found).toMatchObject({ code: 1, stderr: 'wrote handover-sim.config.yaml\n' })
  expect(found.stdout).toMatch(/start\.again: 409 fits; in force is accept; once: journal\.json #\d+/)
  expect(found.stdout).toMatch(/\nNot seen: \d+ that ordinary traffic shows, [\s\S]*--report\s+markdown=FILE\.\n$/)
  expect(found.stdout).toMatch(/time\.format: epoch fits[\s\S]*typing\.response: event fits|typing[\s\S]*time\.format/)
  const again = await run(folder, 'journal.json', '--replay')
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('CONFIRMED') })
  expect(again.stdout).toMatch(/Replayed 5 answers and events without a difference\./)
  expect(again.stdout).not.toMatch(/CONTRADICTED|CHANGED/)
})

test('refuses to replace a config file, unless --force is given', async () => {
  const folder = folderWith({ 'journal.json': await journalOf({}), 'my.yaml': 'port: 4848\n' })
  const refused = await run(folder, 'journal.json', '--write', 'my.yaml')
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(/my\.yaml exists\. Pass --force/)
  expect((await run(folder, 'journal.json', '--write', 'my.yaml', '--force')).code).toBe(0)
  expect(readFileSync(join(folder, 'my.yaml'), 'utf8')).toContain('evidence:')
})

const NOTE = '"seq":1,"kind":"note","note":"x","cause":"x","at_ms":1,"time":"2026-07-01T09:00:00Z"}'

test.each([
  ['text.txt', 'Hello there\n', /^text\.txt is no recording: it begins with "Hello there"/],
  ['empty.jsonl', '', /^empty\.jsonl is no recording: it is empty/],
  ['other.json', '{"name":"x"}', /^other\.json is no recording: it begins with "\{\\"name\\":\\"x\\"\}"/],
  ['v.jsonl', `{"v":7,${NOTE}`, /^v\.jsonl:1: v: must be 1, got 7: was it written by another version\?\n/],
  ['f.jsonl', `\n{"v":1,${NOTE}`, /^f\.jsonl:2: cause: must be an integer, got the string "x"\.\n/],
  ['list.json', `{"entries":[{"v":1,${NOTE}]}`, /^list\.json: entry 1: cause: must be /],
  ['missing.har', null, /^Failed to read missing\.har: ENOENT/],
])('says in one line that %s is no recording', async (name, text, problem) => {
  const { code, stdout, stderr } = await run(folderWith(text === null ? {} : { [name]: text }), name)
  expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 3, stdout: '', lines: 2 })
  expect(stderr).toMatch(problem)
})

test('writes a checklist, JSON and Markdown', async () => {
  const folder = folderWith({ 'journal.json': await journalOf({}) })
  const result = await run(folder, 'journal.json', '--json', '--plan', 'todo.md', '--report', 'markdown=report.md')
  expect(result.code).toBe(0)
  const json = JSON.parse(result.stdout)
  expect(json).toMatchObject({ v: 1, type: 'calibration', fits: true, calls: 4, events: 2 })
  const seen = { name: 'start.again', class: 'provoked', tier: 'seen', status: 'confirmed' }
  expect(json.assumptions).toContainEqual(expect.objectContaining(seen))
  expect(readFileSync(join(folder, 'todo.md'), 'utf8')).toMatch(
    /^# What to do in the real chat\n(.|\n)*- \[ \] End the handover once more\. \(end\.idle\)/,
  )
  expect(readFileSync(join(folder, 'report.md'), 'utf8')).toMatch(/^## The simulator fits the recordings\n/)
})
