/** Runs that end before their time, or never begin: reports and exit codes say the same. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { finished, inFolder, runFiles, startAnswering, startRun, startTarget } from './targets.ts'

const scenario = (expectMs: number, steps = '') =>
  `version: 1\nname: One\ntimeouts: { expect: ${expectMs}ms, settle: 50ms }\nsteps:\n${steps}  - press: handover\n  - expect: start\n`

/** A URL without a server. */
const nowhere = async () => ({ url: `http://127.0.0.1:${await freePort()}/webhook` })

/** The words of a report, whatever its lines. */
const wordsOf = ({ out }: { out: string }) => out.replace(/\s+/g, ' ')

describe('a signal', () => {
  it.each([
    ['SIGINT', 130, 'interrupted (SIGINT)'],
    ['SIGTERM', 143, 'terminated (SIGTERM)'],
  ] as const)('%s is the exit code in the reports too', async (signal, code, meaning) => {
    const target = await startAnswering(200)
    const argv = ['s.yaml', '--target', target.url, '--port', '0', '--report', 'pretty,json=r.json']
    const run = startRun({ 's.yaml': scenario(3_600_000) }, argv)
    await target.requested
    run.io.signal(signal)
    const done = await finished(run)
    expect(done.code).toBe(code)
    expect(done.out).toContain(`exit ${code}: ${meaning}\n`)
    expect(existsSync(inFolder(done.folder, '.handover-sim/journal.jsonl'))).toBe(true)
  })

  it('ends the run before the target accepts connections', async () => {
    const argv = ['s.yaml', '--target', (await nowhere()).url, '--port', '0', '--wait-for-target', '1h']
    const run = startRun({ 's.yaml': scenario(100) }, argv)
    await expect.poll(() => run.io.watched).toBe(true)
    run.io.signal('SIGTERM')
    const { code, out } = await finished(run)
    expect(code).toBe(143)
    expect(out).toMatch(/^ERROR .* {2}the target http:\/\/\S+ is not reachable: .*; interrupted by SIGTERM\n/)
  })

  it('aborts a delivery that is under way', async () => {
    let closed: Promise<unknown> = Promise.reject(new Error('no delivery'))
    closed.catch(() => {})
    const target = await startTarget(({ socket }) => {
      closed = once(socket, 'close')
      run.io.signal('SIGINT')
    })
    // An event with this fault has a connection of its own.
    const slowly = scenario(100, '  - fault: { on: { webhook: any }, drip: 10ms }\n')
    const argv = ['s.yaml', '--target', target.url, '--port', '0', '--set', 'webhook.timeout=10m']
    const run = startRun({ 's.yaml': slowly }, argv)
    expect((await finished(run)).code).toBe(130)
    await closed
  })
})

it.each([
  [[], /\(ECONNREFUSED\); start it first, or wait for it with --wait-for-target 30s\n/],
  [['--wait-for-target', '200ms'], /\(ECONNREFUSED\), after waiting 200ms\n/],
])('an unreachable target is reported, with %j', async (flags, words) => {
  const { out } = await runFiles({ 's.yaml': scenario(100) }, await nowhere(), ...flags)
  expect(out).toMatch(words)
})

const PENDING = 'version: 1\nname: A\nsteps: [{ press: handover }, { check: { status: pending } }]\n'
const ACCEPT = 'version: 1\nname: B\nsteps: [{ press: handover }, { agent: accept }, { expect: start }]\n'

it.each([
  [[], 0, 'exit 0: passed, but 1 result inconclusive; with --strict this is exit 4\n'],
  [['--strict'], 4, 'exit 4: '],
] as const)('an inconclusive run is not reported as passed, with %j', async (flags, exitCode, words) => {
  const { code, out } = await runFiles({ 'a.yaml': PENDING, 'b.yaml': ACCEPT }, await startAnswering(200), ...flags)
  expect(code).toBe(exitCode)
  expect(out).toContain(words)
})

it('a step that has ended is not shown as waiting', async () => {
  const target = await startAnswering(200)
  const io = fakeIo(folderWith({ 's.yaml': scenario(300) }), true)
  await main(['run', 's.yaml', '--target', target.url, '--port', '0'], { TERM: 'dumb' }, io)
  const [before, ...after] = io.stderr.text.split('waiting for late calls')
  expect(before).toContain('waiting for start')
  expect(after.length).toBeGreaterThan(0)
  expect(after.join('')).not.toContain('waiting for start')
})

it('the rerun command of a repetition draws the same ids', async () => {
  const flags = ['--repeat', '3', '--clock', 'virtual']
  const { read } = await runFiles({ 's.yaml': scenario(100) }, await startAnswering(500), ...flags)
  const { scenarios } = JSON.parse(read('r.json')) as { scenarios: { rerun: string }[] }
  const repetitions = scenarios.map(({ rerun }) => / --repeat \d+/.exec(rerun)?.[0])
  expect(repetitions).toEqual([undefined, ' --repeat 2', ' --repeat 3'])
  expect(scenarios[0]!.rerun).toContain(' --clock virtual')
})

it('manual verbs without a terminal are reported', async () => {
  const argv = ['s.yaml', '--target', (await startAnswering(200)).url, '--port', '0', '--agent-driver', 'd.yaml']
  const files = { 's.yaml': ACCEPT, 'd.yaml': 'version: 1\naccept: manual\n' }
  const { code, out } = await finished(startRun(files, argv))
  expect(code).toBe(4)
  expect(out).toContain('no verb that can be called here (a manual one needs a terminal)')
})

it('an event that a fault holds is not a failure of the webhook', async () => {
  const fault = '  - fault: { name: keeper, on: { webhook: REQUESTING TAKEOVER }, hold: 1, times: 1 }\n'
  const held = scenario(100, fault).replace('expect: 100ms', 'ack: 200ms')
  const words = wordsOf(await runFiles({ 's.yaml': held }, await startAnswering(200)))
  expect(words).toMatch(/x step \d+: .*did not receive REQUESTING TAKEOVER, because the fault keeper held it/)
  expect(words).toContain('Write async: true')
})

it('an event with an invalid signature by a fault has no hint that it was signed correctly', async () => {
  const fault = '  - fault: { name: cutter, on: { webhook: REQUESTING TAKEOVER }, sign: wrong-key, times: 1 }\n'
  const words = wordsOf(await runFiles({ 's.yaml': scenario(100, fault) }, await startAnswering(401)))
  expect(words).not.toContain('signed correctly')
  expect(words).toContain('The fault cutter changed this event')
})
