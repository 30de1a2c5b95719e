/** A run as a whole: which scenarios, beside which others, with which ids, and what it comes to. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { call, finished, inFolder, startRun, startTarget, type Target } from './targets.ts'

interface RowsReport {
  readonly exit_code: number
  readonly scenarios: readonly {
    readonly name: string
    readonly outcome: string
    readonly seed: number
    readonly conversations: Readonly<Record<string, string>>
    readonly failures: readonly { readonly kind: string; readonly expected: string; readonly happened: string }[]
  }[]
  readonly failures: readonly { readonly kind: string; readonly happened: string }[]
}

const scenario = (name: string, steps: string, more = '') =>
  `version: 1\nname: ${name}\n${more}timeouts: { expect: 30s, settle: 50ms }\nsteps:\n${steps}`

const ACCEPTED = '  - press: handover\n  - expect: start\n  - check: { status: agent }\n'

interface Desk extends Target {
  /** Where the platform is, once the run has said so. */
  platform: string
}

/** Takes every chat over as soon as it is asked to. */
async function eagerDesk(more: (desk: Desk, chatId: string) => void = () => {}): Promise<Desk> {
  const target = await startTarget((_, response, body) => {
    response.end()
    const { event, chat, bot } = body as unknown as {
      event: string
      chat?: { id: string; _links: { self: string } }
      bot: { id: number }
    }
    if (event !== 'REQUESTING TAKEOVER') return
    desk.platform = new URL(chat!._links.self).origin
    void call(desk.platform, 'start', { bot_id: bot.id, chat_id: chat!.id }).then(() => more(desk, chat!.id))
  })
  const desk: Desk = Object.assign(target, { platform: '' })
  return desk
}

async function runFiles(desk: Target, files: Record<string, string>, ...flags: string[]) {
  const argv = ['.', '--target', desk.url, '--port', '0', '--report', 'json=r.json', ...flags]
  const { code, out, err, folder } = await finished(startRun(files, argv))
  const report = JSON.parse(readFileSync(inFolder(folder, 'r.json'), 'utf8')) as RowsReport
  return { code, out, err, folder, report, names: report.scenarios.map(({ name }) => name) }
}

const THREE = {
  'a.yaml': scenario('Ada', ACCEPTED, 'tags: [smoke]\n'),
  'b.yaml': scenario('Bo', ACCEPTED),
  'c.yaml': scenario('Cy', ACCEPTED, 'tags: [smoke, slow]\n'),
}

describe('the selected scenarios', () => {
  it('are all files of a folder, and they pass', async () => {
    const { code, names, report } = await runFiles(await eagerDesk(), THREE)
    expect({ code, names }).toEqual({ code: 0, names: ['Ada', 'Bo', 'Cy'] })
    expect(report.scenarios.map(({ outcome }) => outcome)).toEqual(['pass', 'pass', 'pass'])
  })

  it.each([
    [['--only', 'b'], ['Bo']],
    [
      ['--only', 'ada', '--only', 'cy'],
      ['Ada', 'Cy'],
    ],
    [
      ['--tag', 'smoke'],
      ['Ada', 'Cy'],
    ],
    [['--tag', 'slow'], ['Cy']],
    [
      ['--shard', '1/2'],
      ['Ada', 'Cy'],
    ],
    [['--shard', '2/2'], ['Bo']],
    [
      ['--only', 'Bo', '--repeat', '3'],
      ['Bo', 'Bo', 'Bo'],
    ],
  ])('%j: %j', async (flags, names) => {
    expect((await runFiles(await eagerDesk(), THREE, ...flags)).names).toEqual(names)
  })

  it('are none: a message, exit 4', async () => {
    const { code, err } = await finished(startRun(THREE, ['.', '--self-test', '--tag', 'none']))
    expect({ code, err }).toEqual({ code: 4, err: 'No scenario in . matches --tag none.\n' })
  })

  it('--dry-run escapes marks that change the direction of text', async () => {
    const files = { 'a.yaml': 'version: 1\nname: "a \\u202e b"\nsteps: [{ expect: end }]\n' }
    const { out } = await finished(startRun(files, ['a.yaml', '--dry-run']))
    expect(out).toContain('  a <U+202E> b  1 step\n')
  })

  it('--dry-run lists all and runs none', async () => {
    const { code, out } = await finished(startRun(THREE, ['.', '--dry-run', '--target', 'http://127.0.0.1:1/']))
    expect(code).toBe(0)
    expect(out).toBe('a.yaml:2  Ada  3 steps\nb.yaml:2  Bo  3 steps\nc.yaml:2  Cy  3 steps\n3 to run\n')
  })
})

describe('ids', () => {
  const laneIds = ({ report }: { report: RowsReport }) =>
    Object.fromEntries(report.scenarios.map(({ name, conversations }) => [name, conversations.main]))

  it('are equal for equal seeds, whichever other scenarios run', async () => {
    const all = laneIds(await runFiles(await eagerDesk(), THREE, '--seed', '1'))
    const one = laneIds(await runFiles(await eagerDesk(), { 'b.yaml': THREE['b.yaml'] }, '--jobs', '1', '--seed', '1'))
    const other = laneIds(await runFiles(await eagerDesk(), THREE, '--seed', '2'))
    expect(one.Bo).toBe(all.Bo)
    expect(new Set(Object.values(all)).size).toBe(3)
    expect(other.Bo).not.toBe(all.Bo)
  })

  it('are new in every run without a seed, because an intermediary may remember the last run', async () => {
    const desk = await eagerDesk()
    const [first, second] = [laneIds(await runFiles(desk, THREE)), laneIds(await runFiles(desk, THREE))]
    expect(second.Bo).not.toBe(first.Bo)
    const configured = { ...THREE, 'handover-sim.config.yaml': 'seed: 1\n' }
    const [third, fourth] = [laneIds(await runFiles(desk, configured)), laneIds(await runFiles(desk, configured))]
    expect(fourth).toEqual(third)
  })

  it('are new in every repetition', async () => {
    const { report } = await runFiles(await eagerDesk(), { 'a.yaml': THREE['a.yaml'] }, '--repeat', '5')
    expect(new Set(report.scenarios.map(({ conversations }) => conversations.main)).size).toBe(5)
  })

  it('--seed overrides the seed of the file, and the file overrides the config', async () => {
    const files = { 'a.yaml': scenario('Ada', ACCEPTED, 'seed: 7\n') }
    const seedOf = async (...flags: string[]) =>
      (await runFiles(await eagerDesk(), files, ...flags)).report.scenarios[0]!.seed
    expect([await seedOf(), await seedOf('--seed', '9')]).toEqual([7, 9])
  })
})

describe('concurrent scenarios', () => {
  const AWAY = scenario(
    'Away',
    '  - press: handover\n  - expect: start\n  - expect: { availability: { availability: CLOSED } }\n  - check: { availability: CLOSED }\n',
  )

  it('run alone when they change the availability, and the others stay open', async () => {
    const desk = await eagerDesk((self, chatId) => {
      if (self.requests.length === 4) void call(self.platform, 'availability', { availability: 'CLOSED', chat: chatId })
    })
    const { code, report } = await runFiles(desk, { ...THREE, 'd.yaml': AWAY }, '--jobs', '10')
    expect(report.scenarios.map(({ name, outcome }) => `${name}: ${outcome}`)).toEqual([
      'Ada: pass',
      'Bo: pass',
      'Cy: pass',
      'Away: pass',
    ])
    expect(code).toBe(0)
  })

  it('have separate settings, clocks and faults', async () => {
    const files = {
      'a.yaml': scenario(
        'Blocked',
        '  - press: handover\n  - expect: start\n  - check: { status: bot }\n',
        'availability: CLOSED\nconfig: { availability.closedBlocksStart: "on" }\n',
      ).replace('press: handover\n', 'deliver: { event: REQUESTING TAKEOVER }\n'),
      'b.yaml': scenario('Open', ACCEPTED),
      'c.yaml': scenario('Hours', `${ACCEPTED}  - wait: 12h\n  - check: { status: agent }\n`, 'clock: virtual\n'),
      'd.yaml': scenario(
        'Broken',
        '  - fault: { on: { api: start }, respond: { status: 503 } }\n  - press: handover\n  - expect: start\n  - check: { status: pending }\n',
      ),
    }
    const { report } = await runFiles(await eagerDesk(), files, '--jobs', '10')
    expect(report.scenarios.map(({ name, outcome }) => `${name}: ${outcome}`)).toEqual([
      'Blocked: pass',
      'Open: pass',
      'Hours: pass',
      'Broken: pass',
    ])
  })

  it('do not affect each other, 30 at once', async () => {
    const { code, report } = await runFiles(await eagerDesk(), THREE, '--repeat', '10', '--jobs', '30')
    expect(report.scenarios.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect([code, report.scenarios.length]).toEqual([0, 30])
  })
})

describe('unexpected calls', () => {
  it('about an unknown chat fail the run, and no scenario', async () => {
    const desk = await eagerDesk(self => void call(self.platform, 'end', { bot_id: 1042, chat_id: 'somebody-elses' }))
    const listening = { ...THREE, 'a.yaml': scenario('Ada', `${ACCEPTED}  - none: { message: {}, for: 500ms }\n`) }
    const { code, report } = await runFiles(desk, listening, '--jobs', '10')
    expect(code).toBe(1)
    expect(report.failures.map(({ happened }) => happened).join('\n')).toContain(
      'is about chat "somebody-elses", which no scenario has',
    )
  })

  it('after the end of a scenario fail this scenario, and are saved with it', async () => {
    // The second wants to be alone, so the first is over when its call comes.
    const files = { 'a.yaml': THREE['a.yaml'], 'b.yaml': scenario('Bo', ACCEPTED, 'exclusive: true\n') }
    const chats: string[] = []
    const desk = await eagerDesk((self, chatId) => {
      chats.push(chatId)
      if (chats.length === 2) void call(self.platform, 'end', { bot_id: 1042, chat_id: chats[0] })
    })
    const { code, report, folder } = await runFiles(desk, files)
    expect(code).toBe(1)
    const saved = readFileSync(inFolder(folder, '.handover-sim/journal.jsonl'), 'utf8').trim().split('\n')
    const [head, ...entries] = saved.map(line => JSON.parse(line)).filter(({ scenario }) => scenario === 1)
    const endpoints = entries.map(({ entry }) => entry.endpoint).filter(Boolean)
    expect([head.entries, endpoints]).toEqual([entries.length, ['start', 'end']])
    const kinds = report.scenarios.map(({ name, failures }) => [name, failures.map(({ kind }) => kind)])
    expect(kinds).toEqual([
      ['Ada', ['late']],
      ['Bo', []],
    ])
  })
})

describe('flags', () => {
  it.each([
    [['--shard', '5/4'], /--shard must be written n\/of, such as 1\/4/],
    [['--repeat', '0'], /--repeat must be a whole number from 1/],
    [['--jobs', 'many'], /--jobs must be a whole number/],
    [['--wait-for-target', '30'], /--wait-for-target must be a duration with a unit/],
    [['--target', 'localhost:3000'], /--target must be an http or https URL/],
    [['--target', 'http://example.test/'], /another machine.*--allow-remote/],
    [['--self-test', '--target', 'http://127.0.0.1:1/'], /leave out --target/],
    [['--report', 'junt=x'], /junit/],
    [[], /No target URL: pass --target/],
  ])('%j: exit 2', async (flags, says) => {
    const { code, err } = await finished(startRun(THREE, ['.', '--port', '0', ...flags]))
    expect(code).toBe(2)
    expect(err).toMatch(says)
  })
})
