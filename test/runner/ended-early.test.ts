/** Runs that end before their time, or never begin: reports and exit codes say the same. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { finished, inFolder, startRun, startTarget } from './targets.ts'

const scenario = (expectMs: number) =>
  `version: 1\nname: One\ntimeouts: { expect: ${expectMs}ms, settle: 50ms }\nsteps:\n  - press: handover\n  - expect: start\n`

/** A URL without a server. */
const nowhere = async (): Promise<string> => `http://127.0.0.1:${await freePort()}/webhook`

describe('a signal', () => {
  it.each([
    ['SIGINT', 130, 'interrupted (SIGINT)'],
    ['SIGTERM', 143, 'terminated (SIGTERM)'],
  ] as const)('%s is the exit code in the reports too', async (signal, code, meaning) => {
    const target = await startTarget((_, response) => void response.end())
    const argv = ['s.yaml', '--target', target.url, '--port', '0', '--report', 'pretty,json=r.json']
    const run = startRun({ 's.yaml': scenario(50_000) }, argv)
    await target.requested
    run.io.signal(signal)
    const { out, folder, ...done } = await finished(run)
    expect(done.code).toBe(code)
    expect(existsSync(inFolder(folder, '.handover-sim/journal.jsonl'))).toBe(true)
    expect(out).toContain(`exit ${code}: ${meaning}\n`)
    expect(JSON.parse(readFileSync(inFolder(folder, 'r.json'), 'utf8')).exit_code).toBe(code)
  })

  it('ends the run before the target accepts connections', async () => {
    const run = startRun({ 's.yaml': scenario(100) }, [
      's.yaml',
      '--target',
      await nowhere(),
      '--port',
      '0',
      '--wait-for-target',
      '50s',
    ])
    await expect.poll(() => run.io.watched).toBe(true)
    run.io.signal('SIGTERM')
    const { code, out } = await finished(run)
    expect(code).toBe(143)
    expect(out).toMatch(/^ERROR .* {2}the target http:\/\/\S+ is not reachable: .*; interrupted by SIGTERM\n/)
  })
})

describe('an unreachable target', () => {
  it('is reported with the option that waits for it, or with the time waited', async () => {
    const at = ['s.yaml', '--target', await nowhere(), '--port', '0']
    const hurried = await finished(startRun({ 's.yaml': scenario(100) }, at))
    expect(hurried.out).toMatch(/\(ECONNREFUSED\); start it first, or wait for it with --wait-for-target 30s\n/)
    const patient = await finished(startRun({ 's.yaml': scenario(100) }, [...at, '--wait-for-target', '200ms']))
    expect(patient.out).toMatch(/\(ECONNREFUSED\), after waiting 200ms\n/)
  })
})

it('an inconclusive run is not reported as passed', async () => {
  const target = await startTarget((_, response) => void response.end())
  const files = {
    'a.yaml': 'version: 1\nname: A\nsteps: [{ press: handover }, { check: { status: pending } }]\n',
    'b.yaml': 'version: 1\nname: B\nsteps: [{ press: handover }, { agent: accept }, { expect: start }]\n',
  }
  const { code, out } = await finished(startRun(files, ['.', '--target', target.url, '--port', '0']))
  expect(code).toBe(0)
  expect(out).toContain('exit 0: passed, but 1 result inconclusive; with --strict this is exit 4\n')
})

it('a step that has ended is not shown as waiting', async () => {
  const target = await startTarget((_, response) => void response.end())
  const io = fakeIo(folderWith({ 's.yaml': scenario(300) }), true)
  await main(['run', 's.yaml', '--target', target.url, '--port', '0'], { TERM: 'dumb' }, io)
  const [before, ...after] = io.stderr.text.split('waiting for late calls')
  expect(before).toContain('waiting for start')
  expect(after.join('')).not.toContain('waiting for start')
})

it('the rerun command of a repetition draws the same ids', async () => {
  const target = await startTarget((_, response) => void response.writeHead(500).end())
  const argv = [
    's.yaml',
    '--target',
    target.url,
    '--port',
    '0',
    '--repeat',
    '3',
    '--clock',
    'virtual',
    '--report',
    'json=r.json',
  ]
  const { folder } = await finished(startRun({ 's.yaml': scenario(100) }, argv))
  const { scenarios } = JSON.parse(readFileSync(inFolder(folder, 'r.json'), 'utf8')) as {
    scenarios: { rerun: string }[]
  }
  expect(scenarios.map(({ rerun }) => / --repeat \d+/.exec(rerun)?.[0])).toEqual([
    undefined,
    ' --repeat 2',
    ' --repeat 3',
  ])
  expect(scenarios[0]!.rerun).toContain(' --clock virtual')
})

it('manual verbs without a terminal are reported', async () => {
  const target = await startTarget((_, response) => void response.end())
  const files = {
    's.yaml': 'version: 1\nname: A\nsteps: [{ press: handover }, { agent: accept }, { expect: start }]\n',
    'd.yaml': 'version: 1\naccept: manual\n',
  }
  const argv = ['s.yaml', '--target', target.url, '--port', '0', '--agent-driver', 'd.yaml']
  const { code, out } = await finished(startRun(files, argv))
  expect(code).toBe(4)
  expect(out).toContain('no verb that can be called here (a manual one needs a terminal)')
})

it('aborts a delivery that is under way when the run ends', async () => {
  let closed: Promise<unknown> = Promise.reject(new Error('no delivery'))
  closed.catch(() => {})
  const target = await startTarget(({ socket }) => {
    closed = once(socket, 'close')
    run.io.signal('SIGINT')
  })
  // An event with this fault has a connection of its own.
  const slowly = scenario(100).replace('steps:', 'steps:\n  - fault: { on: { webhook: any }, drip: 10ms }')
  const argv = ['s.yaml', '--target', target.url, '--port', '0', '--set', 'webhook.timeout=10m']
  const run = startRun({ 's.yaml': slowly }, argv)
  expect((await finished(run)).code).toBe(130)
  await closed
})

it('an event that a fault holds is not a failure of the webhook', async () => {
  const target = await startTarget((_, response) => void response.end())
  const head = 'version: 1\nname: A\ntimeouts: { ack: 200ms, settle: 50ms }\n'
  const files = {
    's.yaml': `${head}steps:
  - fault: { name: keeper, on: { webhook: REQUESTING TAKEOVER }, hold: 1, times: 1 }
  - press: handover
  - check: { status: pending }
`,
  }
  const { out } = await finished(startRun(files, ['s.yaml', '--target', target.url, '--port', '0']))
  expect(out.replace(/\s+/g, ' ')).toMatch(
    /x step \d+: .*the webhook did not receive REQUESTING TAKEOVER, because the fault keeper held it/,
  )
  expect(out).toContain('Write async: true')
})

it('an event with an invalid signature by a fault has no hint that it was signed correctly', async () => {
  const server = createHttpServer(
    (request, response) => void request.resume().on('end', () => response.writeHead(401).end()),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/webhook`
  const files = {
    's.yaml': `version: 1
name: A
timeouts: { settle: 50ms }
steps:
  - fault: { name: cutter, on: { webhook: REQUESTING TAKEOVER }, truncate: true, times: 1 }
  - press: handover
  - check: { status: pending }
`,
  }
  const { out } = await finished(startRun(files, ['s.yaml', '--target', url, '--port', '0']))
  expect(out).not.toContain('signed correctly')
  expect(out).toContain('The fault cutter changed this event')
})
