/** Runs that stop after failures or after a time: what was not run is in the reports, and the exit code is not 0. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { call, finished, inFolder, runFiles, startAnswering, startRun, startTarget } from './targets.ts'

const scenario = (name: string, more = '', steps = '{ press: handover }, { expect: start }') =>
  `version: 1\nname: ${name}\n${more}timeouts: { expect: 100ms, settle: 50ms }\nsteps: [${steps}]\n`

const failing = (name: string) => scenario(name, '', '{ press: handover }, { check: { status: agent } }')

const FOUR = Object.fromEntries(['Ada', 'Bo', 'Cy', 'Di'].map(name => [`${name}.yaml`, failing(name)]))

interface Reported {
  readonly exit_code: number
  readonly stopped: string | null
  readonly scenarios: readonly { name: string; outcome: string; reason: string | null; reason_code: string | null }[]
}

async function runReported(files: Record<string, string>, target: { readonly url: string }, ...flags: string[]) {
  const done = await runFiles(files, target, ...flags)
  return { ...done, json: JSON.parse(done.read('r.json')) as Reported }
}

const quiet = () => startAnswering(200)
/** Answers no request. */
const silent = () => startTarget(() => {})

describe('--bail', () => {
  it.each([
    ['1', ['fail', 'skipped', 'skipped', 'skipped']],
    ['2', ['fail', 'fail', 'skipped', 'skipped']],
  ])('%s starts no further scenario after so many have failed', async (bail, outcomes) => {
    const { code, out, json, read } = await runReported(FOUR, await quiet(), '--bail', bail, '--jobs', '1')
    expect(json.scenarios.map(({ outcome }) => outcome)).toEqual(outcomes)
    expect({ code, exit: json.exit_code }).toEqual({ code: 1, exit: 1 })
    expect(json.stopped).toMatch(
      /^[12] scenarios? failed or could not be run \(--bail [12]\), so no other one was started$/,
    )
    expect(out).toContain(`stopped early: ${json.stopped}`)
    expect(out).toMatch(/SKIP .* {2}not run, because the run had stopped/)
    expect(read('j.xml').match(/<skipped /g)).toHaveLength(outcomes.filter(outcome => outcome === 'skipped').length)
  })

  it('that is not reached changes nothing', async () => {
    const { json } = await runReported(FOUR, await quiet(), '--bail', '4', '--jobs', '4')
    expect(json.scenarios.map(({ outcome }) => outcome)).toEqual(['fail', 'fail', 'fail', 'fail'])
    expect(json.stopped).toBeNull()
  })
})

describe('a run that ends early', () => {
  const hanging = (name: string) => scenario(name, '', '{ press: handover }, { expect: { start: {}, within: 1h } }')
  const stopped = 'the run took longer than 400ms (--timeout)'

  it('makes what it interrupted inconclusive, skips what it did not run, and leaves a failure a failure', async () => {
    const files = { 'a.yaml': failing('Fails'), 'b.yaml': hanging('b'), 'c.yaml': hanging('c') }
    const target = await startTarget((_, response) => {
      response.end()
      if (target.requests.length === 2) setImmediate(() => run.io.signal('SIGINT'))
    })
    const reports = ['--report', 'pretty,json=r.json,junit=j.xml']
    const run = startRun(files, ['.', '--target', target.url, '--port', '0', '--jobs', '1', ...reports])
    const { folder } = await finished(run)
    const json = JSON.parse(readFileSync(inFolder(folder, 'r.json'), 'utf8')) as Reported
    expect(json.scenarios.map(({ outcome, reason_code }) => [outcome, reason_code])).toEqual([
      ['fail', null],
      ['inconclusive', 'stopped'],
      ['skipped', 'run_stopped'],
    ])
    expect(readFileSync(inFolder(folder, 'j.xml'), 'utf8')).toContain('skipped="2"')
  })

  it.each([
    ['nothing', silent],
    ['every event', quiet],
  ])('at --timeout has exit 4 when the target answers %s', async (_, start) => {
    const files = { 'a.yaml': hanging('a'), 'b.yaml': hanging('b') }
    const { code, out, json } = await runReported(files, await start(), '--timeout', '400ms', '--jobs', '1')
    expect({ code, exit: json.exit_code, stopped: json.stopped }).toEqual({ code: 4, exit: 4, stopped })
    expect(out).toContain('exit 4: ')
  })

  it('at --timeout may still wait for the target', async () => {
    const flags = ['--timeout', '300ms', '--wait-for-target', '50s']
    const { code, json } = await runReported(FOUR, { url: 'http://127.0.0.1:1/' }, ...flags)
    expect(code).toBe(3)
    expect(json.scenarios[0]!.reason).toMatch(/not reachable: .*; the run took longer than 300ms \(--timeout\)$/)
  })

  it.each([
    ['--timeout', '5'],
    ['--timeout', '0s'],
    ['--bail', '0'],
  ])('%s %s: exit 2', async (...flags) => {
    const { code, err } = await finished(startRun(FOUR, ['.', '--target', 'http://127.0.0.1:1/', ...flags]))
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`${flags[0]} must be `) })
  })
})

it('a report file that cannot be written is in the exit code of every report', async () => {
  const files = { 'a.yaml': scenario('Passes', '', '{ press: handover }, { check: { status: pending } }'), taken: '' }
  const argv = ['a.yaml', '--target', (await quiet()).url, '--port', '0', '--report', 'json=r.json,junit=taken/j.xml']
  const { code, folder, out } = await finished(startRun(files, argv))
  expect(code).toBe(3)
  expect(out).toContain('exit 3: ')
  for (const file of ['r.json', '.handover-sim/journal.jsonl']) {
    const [first = ''] = readFileSync(inFolder(folder, file), 'utf8').split('\n')
    expect(JSON.parse(first).exit_code, file).toBe(3)
  }
})

describe('no call', () => {
  const hintsOf = (out: string) => out.match(/Does the intermediary know the address of the platform/g)?.length ?? 0

  it('blames the address when no call came in the whole run', async () => {
    const { out } = await runReported({ 'a.yaml': scenario('A'), 'b.yaml': scenario('B') }, await quiet())
    // In both scenarios, and with the cause that they share.
    expect(hintsOf(out)).toBe(3)
  })

  it('does not blame the address when another scenario had a call', async () => {
    const calling = await startTarget(async (_, response, body) => {
      const { chat, bot } = body as unknown as { chat: { id: string; _links: { self: string } }; bot: { id: number } }
      const ids = { bot_id: bot.id, chat_id: chat.id }
      if (JSON.stringify(body).includes('caller')) await call(new URL(chat._links.self).origin, 'start', ids)
      response.end()
    })
    const files = { 'a.yaml': scenario('A', 'chat: { source: caller }\n'), 'b.yaml': scenario('B') }
    const { out, json } = await runReported(files, calling)
    expect(json.scenarios.map(({ outcome }) => outcome)).toEqual(['pass', 'fail'])
    expect(hintsOf(out)).toBe(0)
  })
})
