/** Runs `handover-sim load` as a user does: against the reference intermediary, and against one that fails in some way. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { type FakeIo, fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { startTarget } from '../runner/targets.ts'
import { writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'

const QUICK = ['--no-own-limit', '--port', '0']

const scenario = (name: string, steps: string, more = '') =>
  `version: 1\nname: ${name}\n${more}timeouts: { expect: 20s, settle: 50ms }\nsteps:\n${steps}`

const HANDOVER = `  - press: handover
  - agent: accept
  - expect: start
  - user: $(text)
  - agent: { sees: $(text) }
  - agent: { says: Hello }
  - expect: { message: { message: Hello } }
  - agent: leave
  - expect: end
`
const PLAIN = scenario('Plain', HANDOVER, 'vars: { text: Where is it? }\n')

interface Loaded {
  readonly code: number
  readonly io: FakeIo
  // biome-ignore lint/suspicious/noExplicitAny: the fields of the JSON report
  readonly report: any
}

async function load(folder: string, ...args: string[]): Promise<Loaded> {
  const io = fakeIo(folder)
  const code = await main(['load', ...args, ...QUICK, '--report', 'json=load.json'], {}, io)
  return { code, io, report: JSON.parse(readFileSync(join(folder, 'load.json'), 'utf8')) }
}

async function against(folder: string, bug: Parameters<typeof writeDriver>[2]): Promise<string[]> {
  const port = await freePort()
  return ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', writeDriver(folder, port, bug)]
}

async function refused(files: Readonly<Record<string, string>>, ...args: string[]): Promise<string> {
  const io = fakeIo(folderWith(files))
  const code = await main(['load', ...args, ...QUICK], {}, io)
  expect(code, io.stderr.text).toBe(2)
  return io.stderr.text
}

describe('load', () => {
  it('measures this machine, then begins conversations at the rate, and reports', { timeout: 60_000 }, async () => {
    const folder = folderWith({ 'plain.yaml': PLAIN })
    const io = fakeIo(folder)
    const reports = 'json=load.json,html=load.html,junit=load.xml,markdown=load.md'
    const flags = ['--self-test', '--arrivals', '4/s', '--for', '3s', '--warm-up', '1s', '--port', '0']
    const code = await main(['load', 'plain.yaml', ...flags, '--report', reports], {}, io)
    expect(code, io.stderr.text).toBe(0)
    const report = JSON.parse(readFileSync(join(folder, 'load.json'), 'utf8'))
    expect(report).toMatchObject({ started: 12, left_out: 4, exit_code: 0, arrivals: '4/s' })
    expect(report.all).toMatchObject({ conversations: 8, refused: 0, verdicts: { pass: 8, fail: 0 } })
    expect(report.own_limit).toBeGreaterThan(0)
    // Each conversation has two events, one text each way, and one accept.
    for (const [name, count] of Object.entries({ ack: 16, user_to_agent: 8, agent_to_user: 8, accept_to_start: 8 })) {
      const times = report.all.timings[name]
      expect(times.count).toBe(count)
      expect(times.p50).toBeGreaterThan(0)
      expect(times.max).toBeGreaterThanOrEqual(times.p99)
    }
    expect(io.stdout.text).toContain('Passed: 8 conversations, no threshold was crossed')
    expect(readFileSync(join(folder, 'load.html'), 'utf8')).toContain('user to agent, by time')
    expect(readFileSync(join(folder, 'load.xml'), 'utf8')).toMatch(/testcase [^>]*name="verdict.fail &gt; 0"/)
    expect(readFileSync(join(folder, 'load.md'), 'utf8')).toContain('acknowledgement')
  })

  it('fails with the conversations that fail, names the first, and counts the causes', {
    timeout: 60_000,
  }, async () => {
    // It never comes, so a second is enough to see that.
    const digits = scenario(
      'Digits',
      HANDOVER.replace('{ sees: $(text) }', '{ sees: $(text), within: 1s }'),
      'vars: { text: "4711" }\n',
    )
    const folder = folderWith({ 'plain.yaml': PLAIN, 'digits.yaml': digits })
    const target = await against(folder, 'takes-digits-for-a-code')
    const { code, io, report } = await load(
      folder,
      ...['plain.yaml=3', 'digits.yaml', ...target, '--arrivals', '6/s', '--for', '2s', '--seed', '1'],
    )
    expect(code).toBe(1)
    const { pass, fail } = report.all.verdicts
    expect(pass + fail).toBe(12)
    // A quarter, as far as 12 draws go.
    expect(fail).toBeGreaterThan(0)
    expect(fail).toBeLessThan(pass)
    expect(report.causes).toEqual([{ code: 'item_missing', count: fail }])
    expect(report.failed.length).toBe(Math.min(3, fail))
    expect(report.failed[0].name).toMatch(/^Digits/)
    expect(Object.keys(report.failed[0].chats)).toEqual(['main'])
    expect(report.thresholds[0]).toMatchObject({ text: 'verdict.fail > 0', measured: fail, is_met: false })
    expect(io.stdout.text).toContain('Failed: verdict.fail > 0')
    expect(io.stdout.text).toMatch(/FAILED Digits/)
  })

  it('names the chat whose text came to another one', { timeout: 60_000 }, async () => {
    const own = HANDOVER.replaceAll('Hello', '"Hello $(chat.id)"').replace('" } }', '" }, within: 1s }')
    const folder = folderWith({ 'plain.yaml': scenario('Plain', own, 'vars: { text: Hi }\n') })
    const target = await against(folder, 'mixes-up-chats')
    const { report } = await load(folder, 'plain.yaml', ...target, '--arrivals', '8/s', '--for', '2s')
    expect(report.all.verdicts.fail).toBeGreaterThan(0)
    const [{ text, from, to }] = report.failed.flatMap((one: { misrouted: unknown }) => one.misrouted)
    expect(text).toBe(`Hello ${from}`)
    expect(to).toMatch(/^[0-9a-f-]{36}$/)
    expect(to).not.toBe(from)
  })

  it('a threshold of time is crossed, and faults are told apart', { timeout: 60_000 }, async () => {
    const refusedOnce = HANDOVER.replace(
      '  - agent: { says: Hello }\n  - expect: { message: { message: Hello } }',
      `  - fault: { on: { api: message }, respond: { status: 429, headers: { Retry-After: "1" } }, times: 1 }
  - agent: { says: Hello }
  - expect: { message: { message: Hello }, times: 2 }`,
    )
    const folder = folderWith({
      'plain.yaml': PLAIN,
      'refused.yaml': scenario('Refused', refusedOnce, 'vars: { text: Where is it? }\n'),
    })
    const flags = ['--self-test', '--arrivals', '4/s', '--for', '2s', '--seed', '2']
    const limit = ['--fail-if', 'agent_to_user.max > 900ms', '--fail-if', 'ack.p50 > 10s']
    const { code, report } = await load(folder, 'plain.yaml', 'refused.yaml', ...flags, ...limit)
    expect(code).toBe(1)
    expect(report.thresholds.map((one: { is_met: boolean }) => one.is_met)).toEqual([false, true])
    const { with_faults: faulty, all } = report
    expect(all.conversations).toBe(8)
    expect(faulty.conversations).toBeGreaterThan(0)
    expect(faulty.conversations).toBeLessThan(8)
    expect(faulty.refused).toBe(faulty.conversations)
    expect(all.refused).toBe(faulty.refused)
    expect(faulty.timings.agent_to_user.min).toBeGreaterThan(900)
  })

  it('with fewer users than arrivals, conversations are late, and their times count from when they should begin', {
    timeout: 60_000,
  }, async () => {
    const folder = folderWith({
      'slow.yaml': scenario('Slow', `  - think: 1s..1s\n${HANDOVER}`, 'vars: { text: Hi }\n'),
    })
    const flags = ['--self-test', '--arrivals', '4/s', '--for', '2s', '--users', '2']
    const { code, report } = await load(folder, 'slow.yaml', ...flags, '--fail-if', 'late > 0')
    expect(code).toBe(1)
    expect(report).toMatchObject({ started: 8, most_active: 2 })
    expect(report.all.late).toBeGreaterThanOrEqual(4)
    // The fourth pair begins after three pairs of at least a second each.
    expect(report.all.timings.accept_to_start.max).toBeGreaterThan(1_500)
  })

  it('a target that does not answer for a time is an outage with its length', { timeout: 60_000 }, async () => {
    const folder = folderWith({ 'ack.yaml': scenario('Ack', '  - press: handover\n  - check: { status: pending }\n') })
    let requests = 0
    const target = await startTarget((request, response) => {
      requests++
      if (requests > 10 && requests <= 25) request.socket.destroy()
      else response.end()
    })
    const flags = ['--target', target.url, '--arrivals', '10/s', '--for', '4s', '--set', 'webhook.retry=[]']
    const { report, io } = await load(folder, 'ack.yaml', ...flags, '--fail-if', 'verdict.pass < 10')
    expect(report.outages.length, io.stdout.text).toBe(1)
    // Fifteen events, one each tenth of a second.
    expect(report.outages[0].seconds).toBeGreaterThan(1)
    expect(report.outages[0].seconds).toBeLessThan(2.2)
    expect(io.stdout.text).toMatch(/^Outage: no event reached the webhook for [\d.]+ s from \d{4}-/m)
  })

  it('Ctrl-C writes what was measured until then', { timeout: 60_000 }, async () => {
    const folder = folderWith({ 'plain.yaml': PLAIN })
    const io = fakeIo(folder)
    const flags = ['--self-test', '--arrivals', '3/s', '--for', '1h', ...QUICK, '--report', 'json=load.json']
    const ended = main(['load', 'plain.yaml', ...flags], {}, io)
    await io.stderr.until(/10s of 1h, 3 arrivals a second/)
    io.signal('SIGINT')
    expect(await ended).toBe(130)
    const report = JSON.parse(readFileSync(join(folder, 'load.json'), 'utf8'))
    expect(report.is_stopped).toBe(true)
    expect(report.all.conversations).toBeGreaterThan(10)
    expect(io.stdout.text).toContain('Stopped early: partial results')
  })

  it('--find-limit finds the rate that the thresholds allow', { timeout: 120_000 }, async () => {
    // Two users at a time, each for a second: about two conversations a second.
    const folder = folderWith({
      'slow.yaml': scenario('Slow', `  - think: 1s..1s\n${HANDOVER}`, 'vars: { text: Hi }\n'),
    })
    const flags = ['--self-test', '--arrivals', '2/s', '--for', '1s', '--users', '2', '--find-limit']
    const { code, io, report } = await load(folder, 'slow.yaml', ...flags, '--fail-if', 'accept_to_start.max > 1500ms')
    expect(code, io.stderr.text).toBe(0)
    const rates = report.steps.map(({ rate }: { rate: number }) => rate)
    expect(rates[0]).toBe(2)
    const met = report.steps.filter((one: { is_met: boolean }) => one.is_met).map((one: { rate: number }) => one.rate)
    expect(Math.max(...met)).toBeGreaterThanOrEqual(2)
    expect(Math.max(...met)).toBeLessThan(16)
    expect(io.stdout.text).toMatch(/^Limit: [\d.]+ conversations a second met the thresholds, [\d.]+ did not\.$/m)
  })
})

describe('report of several loads', () => {
  it('adds up what they counted, and evaluates the thresholds again', { timeout: 60_000 }, async () => {
    const folder = folderWith({ 'plain.yaml': PLAIN })
    const flags = ['--self-test', '--arrivals', '5/s', '--for', '2s', '--fail-if', 'verdict.pass > 15']
    const one = await load(folder, 'plain.yaml', ...flags, '--seed', '1')
    expect(one.code).toBe(0)
    writeFileSync(join(folder, 'one.json'), JSON.stringify(one.report))
    const io = fakeIo(folder)
    const code = await main(['report', 'one.json', 'load.json', '--report', 'json=both.json,html=both.html'], {}, io)
    // Twenty passed together, which crosses the threshold.
    expect(code, io.stderr.text).toBe(1)
    const both = JSON.parse(readFileSync(join(folder, 'both.json'), 'utf8'))
    expect(both).toMatchObject({
      started: 20,
      all: { conversations: 20, verdicts: { pass: 20 } },
      arrivals: '5/s + 5/s',
    })
    expect(both.all.timings.ack.count).toBe(2 * one.report.all.timings.ack.count)
    expect(both.all.timings.ack.max / one.report.all.timings.ack.max).toBeCloseTo(1, 2)
    expect(both.points[0].rate).toBe(10)
  })

  it.each([
    ['{}', 'it has no "type": "load" with "v": 1'],
    ['{"type":"load","v":1', 'JSON'],
    ['{"type":"load","v":1}', 'is no result of load that can be merged'],
  ])('refuses %s', async (text, message) => {
    const io = fakeIo(folderWith({ 'wrong.json': text }))
    expect(await main(['report', 'wrong.json'], {}, io)).toBe(2)
    expect(io.stderr.text).toContain('wrong.json')
    expect(io.stderr.text).toContain(message)
  })
})

describe('bad input of load', () => {
  it.each([
    [['plain.yaml', '--self-test'], 'load needs --arrivals, such as --arrivals 5/s'],
    [['plain.yaml', '--self-test', '--arrivals', '5'], '--arrivals must be a rate such as 50/s, or 0..200/s over 2m'],
    [
      ['plain.yaml', '--self-test', '--arrivals', '5/s', '--fail-if', 'ack.p98 > 1s'],
      '--fail-if there is no metric ack.p98',
    ],
    [['plain.yaml', '--self-test', '--arrivals', '5/s', '--for', '5s', '--warm-up', '5s'], '--warm-up must be shorter'],
    [
      ['plain.yaml', '--self-test', '--arrivals', '1/s for 3s, 2/s', '--find-limit'],
      '--find-limit begins with one rate',
    ],
    [['nothing.yaml', '--self-test', '--arrivals', '5/s'], 'nothing.yaml'],
    [['virtual.yaml', '--self-test', '--arrivals', '5/s'], '"Virtual" cannot run beside itself: its clock is virtual'],
    [
      ['hours.yaml', '--self-test', '--arrivals', '5/s'],
      '"Away" cannot run beside itself: it needs the whole help desk',
    ],
    [
      ['restart.yaml', '--self-test', '--arrivals', '5/s'],
      '"Restart" cannot run beside itself: it needs the whole help desk (target restart',
    ],
    [['fixed.yaml', '--self-test', '--arrivals', '5/s'], '"Fixed" cannot run beside itself: its user has a fixed id'],
    [
      ['plain.yaml', '--target', 'http://127.0.0.1:9/webhook', '--arrivals', '5/s'],
      'needs an agent driver with accept',
    ],
    [['team.yaml', '--self-test', '--arrivals', '5/s'], '"Team": '],
  ])('%j', async (args, message) => {
    const files = {
      'plain.yaml': PLAIN,
      'virtual.yaml': scenario('Virtual', HANDOVER, 'clock: virtual\nvars: { text: Hi }\n'),
      'hours.yaml': scenario('Away', '  - agent: away\n  - expect: { availability: { availability: CLOSED } }\n'),
      'restart.yaml': scenario('Restart', '  - target: restart\n  - check: { status: bot }\n'),
      'team.yaml': scenario('Team', HANDOVER, 'vars: { text: $(env.TEAM_OF_NO_ONE) }\n'),
      'fixed.yaml': scenario('Fixed', HANDOVER, 'chat: { user: { id: same } }\nvars: { text: Hi }\n'),
    }
    expect(await refused(files, ...args)).toContain(message)
  })
})
