/** Runs `handover-sim load` in real time: against the reference intermediary, and against a service with a bug. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo, runCommand } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { patchesOf } from '../mutants/changes.ts'
import type { Patch } from '../mutants/patch.ts'
import { readCtrf } from '../reporters/read-ctrf.ts'
import { serveExample } from '../support/example-service.ts'
import { freePort } from '../support/port.ts'
import { HANDOVER, PLAIN, scenario } from './scenarios.ts'

const readJson = (folder: string, name = 'load.json') => JSON.parse(readFileSync(join(folder, name), 'utf8'))

/** Runs `load` with a scenario for a second against the example with these patches. */
async function loadExample(patches: readonly Patch[], text: string) {
  const port = await freePort()
  const example = await serveExample({ patches, platformUrl: `http://127.0.0.1:${port}` })
  const where = ['--target', example.webhookUrl, '--agent-driver', 'driver.json', '--port', String(port)]
  const flags = '--arrivals 8/s --for 1s --seed 1 --no-own-limit --report pretty,json=load.json'.split(' ')
  const files = { 'driver.json': example.driver, 'a.yaml': text }
  const ended = await runCommand(['load', 'a.yaml', ...where, ...flags], { files })
  return { ...ended, report: readJson(ended.cwd) }
}

describe('load', () => {
  it('measures this machine, begins conversations at the rate, and reports', async () => {
    const flags = '--self-test --arrivals 8/s --for 1500ms --warm-up 500ms --port 0 --seed 1'.split(' ')
    const failIf = ['--fail-if', 'verdict.fail > 0, verdict.pass > 15']
    const reports = ['--report', 'pretty,json=load.json,html=load.html,junit=load.xml,ctrf=ctrf.json,markdown=load.md']
    const files = { 'plain.yaml': PLAIN }
    const { code, out, err, cwd } = await runCommand(['load', 'plain.yaml', ...flags, ...failIf, ...reports], { files })
    // A machine that is too slow for the measurement is inconclusive only when a threshold was crossed.
    expect(code, err).toBe(0)
    const report = readJson(cwd)
    expect(report).toMatchObject({ started: 12, left_out: 4, exit_code: 0, arrivals: '8/s' })
    expect(report.all).toMatchObject({ conversations: 8, refused: 0, verdicts: { pass: 8, fail: 0 } })
    // Each conversation has two events, one text each way, and one accept.
    const counts = { ack: 16, user_to_agent: 8, agent_to_user: 8, accept_to_start: 8 }
    for (const [name, count] of Object.entries(counts)) expect(report.all.timings[name].count).toBe(count)
    expect(out).toContain('Passed: 8 conversations, no threshold was crossed')
    expect(readFileSync(join(cwd, 'load.html'), 'utf8')).toContain('Passed: 8 conversations')
    expect(readFileSync(join(cwd, 'load.xml'), 'utf8')).toMatch(/testcase [^>]*name="verdict.fail &gt; 0"/)
    const { tool, tests } = readCtrf(readFileSync(join(cwd, 'ctrf.json'), 'utf8'))
    expect([tool.name, tests.map(({ name, status }) => [name, status])]).toEqual([
      'handover-sim load',
      [
        ['verdict.fail > 0', 'passed'],
        ['verdict.pass > 15', 'passed'],
      ],
    ])
    expect(readFileSync(join(cwd, 'load.md'), 'utf8')).toContain('acknowledgement')
  })

  it('names the first conversations that fail, and the chat whose text came to another one', async () => {
    const own = HANDOVER.replaceAll('Hello', '"Hello $(chat.id)"').replace('" } }', '" }, within: 1s }')
    const { code, out, report } = await loadExample(
      patchesOf('mixes-up-chats'),
      scenario('Plain', own, 'vars: { text: Hi }\n'),
    )
    const [{ text, from, to }] = report.failed.flatMap((one: { misrouted: unknown }) => one.misrouted)
    expect(text).toBe(`Hello ${from}`)
    expect(to).toMatch(/^[0-9a-f-]{36}$/)
    expect(to).not.toBe(from)
    expect([code, out]).toEqual([1, expect.stringMatching(/Failed: verdict\.fail > 0[\s\S]*FAILED Plain/)])
  })

  it('Ctrl-C writes what was measured until then', async () => {
    const io = fakeIo(folderWith({ 'plain.yaml': PLAIN }), true)
    const flags = '--self-test --arrivals 8/s --for 1h --no-own-limit --port 0 --report pretty,json=load.json'
    const ended = main(['load', 'plain.yaml', ...flags.split(' ')], {}, io)
    await io.stderr.until(/[1-9]\d* pass/)
    io.signal('SIGINT')
    expect(await ended).toBe(130)
    expect(readJson(io.cwd)).toMatchObject({ is_stopped: true, all: { conversations: expect.any(Number) } })
    expect(io.stdout.text).toContain('Stopped early: partial results')
  })
})
