/** Runs that stop after failures or after a time: what was not run is in the reports, and the exit code is not 0. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  against,
  callsAbout,
  finished,
  inFolder,
  reported,
  runFiles,
  startAnswering,
  startRun,
  startTarget,
} from './targets.ts'

const scenario = (name: string, more = '', steps = '{ press: handover }, { expect: start }') =>
  `version: 1\nname: ${name}\n${more}timeouts: { expect: 100ms, settle: 50ms }\nsteps: [${steps}]\n`

const failing = (name: string) => scenario(name, '', '{ press: handover }, { check: { status: agent } }')
const hanging = (name: string) => scenario(name, '', '{ press: handover }, { expect: { start: {}, within: 1h } }')

const FOUR = Object.fromEntries(['Ada', 'Bo', 'Cy', 'Di'].map(name => [`${name}.yaml`, failing(name)]))

describe('--bail', () => {
  it.each([
    ['1', 3],
    ['2', 2],
  ])('%s starts no further scenario after so many have failed: %i skipped', async (bail, skipped) => {
    const { code, out, json, read } = await runFiles(FOUR, await startAnswering(200), '--bail', bail, '--jobs', '1')
    const failed = Array<string>(4 - skipped).fill('fail')
    expect(json.scenarios.map(({ outcome }) => outcome)).toEqual([...failed, ...Array(skipped).fill('skipped')])
    expect({ code, exit: json.exit_code }).toEqual({ code: 1, exit: 1 })
    expect(json.stopped).toMatch(/^[12] scenarios? failed or could not be run \(--bail [12]\), so no other one was st/)
    expect(out).toContain(`stopped early: ${json.stopped}`)
    expect(out).toMatch(/SKIP .* {2}not run, because the run had stopped/)
    expect(read('j.xml').match(/<skipped /g)).toHaveLength(skipped)
  })

  it('that is not reached changes nothing', async () => {
    const { json } = await runFiles(FOUR, await startAnswering(200), '--bail', '4', '--jobs', '4')
    expect(json.scenarios.map(({ outcome }) => outcome)).toEqual(['fail', 'fail', 'fail', 'fail'])
    expect(json.stopped).toBeNull()
  })
})

describe('a run that ends early', () => {
  it('makes what it interrupted inconclusive, skips what it did not run, and leaves a failure a failure', async () => {
    const files = { 'a.yaml': failing('Fails'), 'b.yaml': hanging('b'), 'c.yaml': hanging('c') }
    const target = await startTarget((_, response) => {
      response.end()
      if (target.requests.length === 2) setImmediate(() => run.io.signal('SIGINT'))
    })
    const run = startRun(files, ['.', ...against(target), '--jobs', '1'])
    const { json, read } = await reported(run)
    expect(json.scenarios).toMatchObject([
      { outcome: 'fail', reason_code: null },
      { outcome: 'inconclusive', reason_code: 'stopped' },
      { outcome: 'skipped', reason_code: 'run_stopped' },
    ])
    expect(read('j.xml')).toContain('skipped="2"')
  })

  it.each([
    ['nothing', () => startTarget(() => {})],
    ['every event', () => startAnswering(200)],
  ])('at --timeout has exit 4 when the target answers %s', async (_, start) => {
    const files = { 'a.yaml': hanging('a'), 'b.yaml': hanging('b') }
    const { code, out, json } = await runFiles(files, await start(), '--timeout', '400ms', '--jobs', '1')
    expect(code).toBe(4)
    expect(json).toMatchObject({ exit_code: 4, stopped: 'the run took longer than 400ms (--timeout)' })
    expect(out).toContain('exit 4: ')
  })

  it('at --timeout may still wait for the target', async () => {
    const flags = ['--timeout', '300ms', '--wait-for-target', '50s']
    const { code, json } = await runFiles(FOUR, { url: 'http://127.0.0.1:1/' }, ...flags)
    expect(code).toBe(3)
    expect(json.scenarios[0]!.reason).toMatch(/not reachable: .*; the run took longer than 300ms \(--timeout\)$/)
  })
})

it('a report file that cannot be written is in the exit code of every report', async () => {
  const files = { 'a.yaml': scenario('Passes', '', '{ press: handover }, { check: { status: pending } }'), taken: '' }
  const argv = ['a.yaml', ...against(await startAnswering(200)), '--report', 'tap=taken/j.tap']
  const { code, folder, out } = await finished(startRun(files, argv))
  expect(code).toBe(3)
  expect(out).toContain('exit 3: ')
  for (const file of ['r.json', '.handover-sim/journal.jsonl']) {
    const [first = ''] = readFileSync(inFolder(folder, file), 'utf8').split('\n')
    expect(JSON.parse(first).exit_code, file).toBe(3)
  }
})

describe('without a call', () => {
  const hintsOf = (out: string) => out.match(/Does the intermediary know the address of the platform/g)?.length ?? 0

  it('in the whole run, the address is blamed', async () => {
    const { out } = await runFiles({ 'a.yaml': scenario('A'), 'b.yaml': scenario('B') }, await startAnswering(200))
    // In both scenarios, and with the cause that they share.
    expect(hintsOf(out)).toBe(3)
  })

  it('in one scenario only, the address is not blamed', async () => {
    const calling = await startTarget(async (_, response, body) => {
      if (JSON.stringify(body).includes('caller')) await callsAbout(body)('start')
      response.end()
    })
    const files = { 'a.yaml': scenario('A', 'chat: { source: caller }\n'), 'b.yaml': scenario('B') }
    const { out, json } = await runFiles(files, calling)
    expect(json.scenarios.map(({ outcome }) => outcome)).toEqual(['pass', 'fail'])
    expect(hintsOf(out)).toBe(0)
  })
})
