/** `handover-sim calibrate` as a user runs it. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { startSimulator } from '../../src/index.ts'
import type { KnobSettings } from '../../src/platform/contract/knobs.ts'
import { fakeIo, fakeOutput } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'

const BIN = fileURLToPath(new URL('../../bin/handover-sim.js', import.meta.url))

async function runProcess(argv: string[], cwd: string) {
  const child = spawn(process.execPath, [BIN, ...argv], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  child.stdout.setEncoding('utf8').on('data', stdout.write)
  child.stderr.setEncoding('utf8').on('data', stderr.write)
  const code = await new Promise<number | null>(resolve => child.on('close', resolve))
  return { code, stdout: stdout.text, stderr: stderr.text }
}

async function run(cwd: string, ...argv: string[]) {
  const io = fakeIo(cwd)
  const code = await main(['calibrate', ...argv], {}, io)
  return { code, stdout: io.stdout.text, stderr: io.stderr.text }
}

const OTHER: KnobSettings = { 'typing.response': 'event', 'start.again': '409', 'time.format': 'epoch' }

/** What `GET /_sim/journal` of a simulator answers after one handover. */
async function journalOf(knobs: KnobSettings): Promise<string> {
  await using server = await startSimulator({ port: 0, knobs })
  const call = (name: string, body: object) =>
    fetch(`${server.url}/api/v2/handover/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${server.apiKey}` },
      body: JSON.stringify(body),
    })
  const chat = await server.chat()
  const on = { bot_id: chat.botId, chat_id: chat.id }
  await chat.press('handover', { async: true })
  await call('start', on)
  await call('start', on)
  await call('typing_stop', on)
  await call('availability', { availability: 'OPEN', queue: 'DEFAULT', reason: 'OTHER' })
  const response = await fetch(`${server.url}/_sim/journal`)
  return response.text()
}

describe('calibrate', () => {
  test('names the values that fit the journal of a simulator, and writes them as a config file, through a process', async () => {
    const folder = folderWith({ 'journal.json': await journalOf(OTHER) })
    const found = await runProcess(['calibrate', 'journal.json', '--write', 'handover-sim.config.yaml'], folder)
    expect(found.stderr).toBe('wrote handover-sim.config.yaml\n')
    for (const line of [
      /start\.again: 409 fits; in force is accept; once: journal\.json #\d+/,
      /typing\.response: event fits/,
      /time\.format: epoch fits/,
    ])
      expect(found.stdout).toMatch(line)
    expect(found.code).toBe(1)
    const again = await runProcess(['calibrate', 'journal.json', '--replay'], folder)
    expect(again.stdout).toMatch(/CONFIRMED/)
    expect(again.stdout).toMatch(/Replayed 5 answers and events without a difference\./)
    expect(again.stdout).not.toMatch(/CONTRADICTED|CHANGED/)
    expect(again.code).toBe(0)
  })

  test('refuses to replace a config file, unless --force is given', async () => {
    const folder = folderWith({ 'journal.json': await journalOf({}), 'my.yaml': 'port: 4848\n' })
    const refused = await run(folder, 'journal.json', '--write', 'my.yaml')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toBe(
      '--write: my.yaml exists. Pass --force to replace it, or another name, and copy what it adds.\n',
    )
    expect((await run(folder, 'journal.json', '--write', 'my.yaml', '--force')).code).toBe(0)
    expect(readFileSync(join(folder, 'my.yaml'), 'utf8')).toContain('evidence:')
  })

  test.each([
    ['text.txt', 'Hello there\n', 'text.txt is no recording: it begins with "Hello there". '],
    ['empty.jsonl', '', 'empty.jsonl is no recording: it is empty. '],
    ['other.json', '{"name":"x"}', 'other.json is no recording: it begins with "{\\"name\\":\\"x\\"}". '],
  ])('says in one line that %s is no recording', async (name, text, begins) => {
    const result = await run(folderWith({ [name]: text }), name)
    expect(result).toEqual({
      code: 3,
      stdout: '',
      stderr: `${begins}Pass a journal (JSON lines), a HAR file, or JSON lines of { request, response }.\n`,
    })
  })

  test('says that a file cannot be read', async () => {
    const result = await run(folderWith(), 'missing.har')
    expect(result.code).toBe(3)
    expect(result.stderr).toMatch(/^Failed to read missing\.har: ENOENT.*\n$/)
  })

  test('writes a checklist, JSON and Markdown', async () => {
    const folder = folderWith({ 'journal.json': await journalOf({}) })
    const result = await run(folder, 'journal.json', '--json', '--plan', 'todo.md', '--report', 'markdown=report.md')
    expect(result.code).toBe(0)
    const json = JSON.parse(result.stdout)
    expect(json).toMatchObject({ v: 1, type: 'calibration', fits: true, calls: 4, events: 2 })
    expect(json.assumptions.find(({ name }: { name: string }) => name === 'start.again')).toMatchObject({
      class: 'provoked',
      tier: 'seen',
      status: 'confirmed',
    })
    expect(readFileSync(join(folder, 'todo.md'), 'utf8')).toMatch(
      /^# What to do in the real chat\n(.|\n)*- \[ \] End the handover once more\. \(end\.idle\)/,
    )
    expect(readFileSync(join(folder, 'report.md'), 'utf8')).toMatch(/^## The simulator fits the recordings\n/)
  })
})
