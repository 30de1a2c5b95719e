/** Runs that end before their time, or never begin: reports and exit codes say the same. */
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { against, finished, reported, runFiles, startAnswering, startRun, startTarget } from './targets.ts'

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
    const run = startRun({ 's.yaml': scenario(3_600_000) }, ['s.yaml', ...against(target)])
    await target.requested
    run.io.signal(signal)
    const { read, ...done } = await reported(run)
    expect(done.code).toBe(code)
    expect(done.out).toContain(`exit ${code}: ${meaning}\n`)
    expect(read('.handover-sim/journal.jsonl')).toContain(`"exit_code":${code}`)
  })

  it('ends the run before the target accepts connections', async () => {
    const argv = ['s.yaml', ...against(await nowhere()), '--wait-for-target', '1h']
    const run = startRun({ 's.yaml': scenario(100) }, argv)
    await expect.poll(() => run.io.watched).toBe(true)
    run.io.signal('SIGTERM')
    const { code, out } = await finished(run)
    expect(code).toBe(143)
    expect(out).toMatch(/^ERROR .* {2}the target http:\/\/\S+ is not reachable: .*; interrupted by SIGTERM\n/)
  })

  it('aborts a delivery that is under way', async () => {
    const closed = Promise.withResolvers<void>()
    const target = await startTarget(({ socket }) => {
      once(socket, 'close').then(() => closed.resolve())
      run.io.signal('SIGINT')
    })
    // An event with this fault has a connection of its own.
    const slowly = scenario(100, '  - fault: { on: { webhook: any }, drip: 10ms }\n')
    const run = startRun({ 's.yaml': slowly }, ['s.yaml', ...against(target), '--set', 'webhook.timeout=10m'])
    expect((await finished(run)).code).toBe(130)
    await closed.promise
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

it.each([
  [[], 0, 'Note: the journal report .handover-sim/journal.jsonl could not be written: part of the path is a file\n'],
  [['--report', 'journal=.handover-sim/j'], 3, '\nthe journal report .handover-sim/j could not be written: part of'],
] as const)(
  'only a report that a flag names changes the exit code when it cannot be written: %j',
  async (flags, exitCode, words) => {
    const files = { 'a.yaml': PENDING, '.handover-sim': 'a file' }
    const { code, err } = await finished(startRun(files, ['a.yaml', ...against(await startAnswering(200)), ...flags]))
    expect([code, `\n${err}`]).toEqual([exitCode, expect.stringContaining(words)])
  },
)

it('a step that has ended is not shown as waiting', async () => {
  const io = fakeIo(folderWith({ 's.yaml': scenario(300) }), true)
  await main(['run', 's.yaml', ...against(await startAnswering(200))], { NO_COLOR: '1' }, io)
  const [before, ...after] = io.stderr.text.split('waiting for late calls')
  expect(before).toContain('waiting for start')
  expect(after.length).toBeGreaterThan(0)
  expect(after.join('')).not.toContain('waiting for start')
})

it('a dumb terminal gets no escapes', async () => {
  const io = fakeIo(folderWith({ 's.yaml': scenario(300) }), true)
  await main(['run', 's.yaml', ...against(await startAnswering(200))], { TERM: 'dumb' }, io)
  expect(io.stderr.text + io.stdout.text).not.toContain('\u001b')
})

it('the rerun command of a repetition draws the same ids', async () => {
  const flags = ['--repeat', '3', '--clock', 'virtual']
  const { json } = await runFiles({ 's.yaml': scenario(100) }, await startAnswering(500), ...flags)
  const repetitions = json.scenarios.map(({ rerun }) => / --repeat \d+/.exec(rerun)?.[0])
  expect(repetitions).toEqual([undefined, ' --repeat 2', ' --repeat 3'])
  expect(json.scenarios[0]!.rerun).toContain(' --clock virtual')
})

it('manual verbs without a terminal are reported', async () => {
  const files = { 's.yaml': ACCEPT, 'd.yaml': 'version: 1\naccept: manual\n' }
  const argv = ['s.yaml', ...against(await startAnswering(200)), '--agent-driver', 'd.yaml']
  const { code, out } = await finished(startRun(files, argv))
  expect(code).toBe(4)
  expect(out).toContain('no verb that can be called here (a manual one needs a terminal)')
})

const faulty = (name: string, how: string) =>
  scenario(100, `  - fault: { name: ${name}, on: { webhook: REQUESTING TAKEOVER }, ${how}, times: 1 }\n`)

it('an event that a fault holds is not a failure of the webhook', async () => {
  const held = faulty('keeper', 'hold: 1').replace('expect: 100ms', 'ack: 200ms')
  const words = wordsOf(await runFiles({ 's.yaml': held }, await startAnswering(200)))
  expect(words).toMatch(/x step \d+: .*did not receive REQUESTING TAKEOVER, because the fault keeper held it/)
  expect(words).toContain('Write async: true')
})

it('an event with an invalid signature by a fault has no hint that it was signed correctly', async () => {
  const words = wordsOf(await runFiles({ 's.yaml': faulty('cutter', 'sign: wrong-key') }, await startAnswering(401)))
  expect(words).not.toContain('signed correctly')
  expect(words).toContain('The fault cutter changed this event')
})
