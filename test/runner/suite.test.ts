/** A run as a whole: which scenarios, beside which others, with which ids, and what it comes to. */
import { describe, expect, it } from 'vitest'
import { callsAbout, finished, type RunReport, runFiles, startEager, startRun, startTarget } from './targets.ts'

const scenario = (name: string, steps: string, more = '') =>
  `version: 1\nname: ${name}\n${more}timeouts: { expect: 30s, settle: 50ms }\nsteps:\n${steps}`

const ACCEPTED = '  - press: handover\n  - expect: start\n  - check: { status: agent }\n'
const STARTED = '  - press: handover\n  - expect: { start: {}, capture: { id: response.chatmessage_id } }\n'
const THREE = {
  'a.yaml': scenario('Ada', ACCEPTED, 'tags: [smoke]\n'),
  'b.yaml': scenario('Bo', ACCEPTED),
  'c.yaml': scenario('Cy', ACCEPTED, 'tags: [smoke, slow]\n'),
}

const runEager = async (files: Record<string, string>, ...flags: string[]) =>
  runFiles(files, await startEager(), ...flags)
const outcomesOf = ({ json }: { json: RunReport }) => json.scenarios.map(({ name, outcome }) => `${name}: ${outcome}`)

describe('the selected scenarios', () => {
  it('are all files of a folder, and they pass', async () => {
    const done = await runEager(THREE)
    expect(done.code).toBe(0)
    expect(outcomesOf(done)).toEqual(['Ada: pass', 'Bo: pass', 'Cy: pass'])
  })

  it.each([
    ['', 'Ada Bo Cy'],
    ['--only b', 'Bo'],
    ['--only ada --only cy', 'Ada Cy'],
    ['--tag smoke', 'Ada Cy'],
    ['--tag slow', 'Cy'],
    ['--shard 1/2', 'Ada Cy'],
    ['--shard 2/2', 'Bo'],
  ])('%s: %s', async (flags, names) => {
    const argv = ['.', '--dry-run', '--target', 'http://127.0.0.1:1/', ...flags.split(' ').filter(Boolean)]
    const { code, out } = await finished(startRun(THREE, argv))
    expect(code).toBe(0)
    expect([...out.matchAll(/^[abc]\.yaml:2 {2}(\w+) {2}3 steps$/gm)].map(([, name]) => name).join(' ')).toBe(names)
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
})

describe('ids', () => {
  const BO = { 'b.yaml': scenario('Bo', STARTED) }
  const ALL = { 'a.yaml': scenario('Ada', STARTED), ...BO, 'c.yaml': scenario('Cy', STARTED) }

  /** The ids of the chats and of their messages, and the names of their users. */
  const chatsOf = async (files: Record<string, string>, ...flags: string[]) => {
    const { json, read } = await runEager(files, ...flags)
    const lines = read('.handover-sim/journal.jsonl').trim().split('\n')
    const entries = lines.map(line => JSON.parse(line).entry).filter(entry => entry?.note === 'conversation')
    const nameOf = (id: unknown) => entries.find(entry => entry.chat_id === id).chat.name as string
    return json.scenarios.map(({ conversations: { main }, captures }) => [main, captures.id, nameOf(main)] as const)
  }

  it('and names of users are equal for equal seeds, whichever other scenarios run', async () => {
    const all = await chatsOf(ALL, '--seed', '1')
    expect(await chatsOf(BO, '--jobs', '1', '--seed', '1')).toEqual([all[1]])
    const other = await chatsOf(ALL, '--seed', '2')
    for (const column of [0, 1, 2]) {
      const values = all.map(row => row[column])
      expect(new Set(values).size).toBe(3)
      expect(other.map(row => row[column])).not.toEqual(values)
    }
  })

  it('are new in every run without a seed, because an intermediary may remember the last run', async () => {
    expect(await chatsOf(BO)).not.toEqual(await chatsOf(BO))
    const configured = { ...BO, 'handover-sim.config.yaml': 'seed: 1\n' }
    expect(await chatsOf(configured)).toEqual(await chatsOf(configured))
  })

  it('are new in every repetition', async () => {
    const chats = await chatsOf(BO, '--repeat', '5')
    for (const column of [0, 1]) expect(new Set(chats.map(row => row[column])).size).toBe(5)
  })

  it('--seed overrides the seed of the file', async () => {
    const files = { 'a.yaml': scenario('Ada', ACCEPTED, 'seed: 7\n') }
    const seedOf = async (...flags: string[]) => (await runEager(files, ...flags)).json.scenarios[0]!.seed
    expect([await seedOf(), await seedOf('--seed', '9')]).toEqual([7, 9])
  })
})

describe('concurrent scenarios', () => {
  it('run alone when they change the availability, and the others stay open', async () => {
    const closed = '  - expect: { availability: { availability: CLOSED } }\n  - check: { availability: CLOSED }\n'
    const files = { ...THREE, 'd.yaml': scenario('Away', `  - press: handover\n  - expect: start\n${closed}`) }
    let chats = 0
    const desk = await startEager(async calls => {
      chats += 1
      if (chats === 4) await calls('availability', { availability: 'CLOSED', bot_id: undefined, chat_id: undefined })
    })
    const done = await runFiles(files, desk, '--jobs', '10')
    expect(outcomesOf(done)).toEqual(['Ada: pass', 'Bo: pass', 'Cy: pass', 'Away: pass'])
  })

  it('have separate settings, clocks and faults', async () => {
    const deliver = '  - deliver: { event: REQUESTING TAKEOVER }\n  - expect: start\n  - check: { status: bot }\n'
    const blocked = 'availability: CLOSED\nconfig: { availability.closedBlocksStart: "on" }\n'
    const fault = '  - fault: { on: { api: start }, respond: { status: 503 } }\n'
    const files = {
      'a.yaml': scenario('Blocked', deliver, blocked),
      'b.yaml': scenario('Open', ACCEPTED),
      'c.yaml': scenario('Hours', `${ACCEPTED}  - wait: 12h\n  - check: { status: agent }\n`, 'clock: virtual\n'),
      'd.yaml': scenario('Broken', `${fault}${ACCEPTED}`.replace('agent', 'pending')),
    }
    const done = await runEager(files, '--jobs', '10')
    expect(outcomesOf(done)).toEqual(['Blocked: pass', 'Open: pass', 'Hours: pass', 'Broken: pass'])
  })

  it('do not affect each other, 30 at once', async () => {
    const done = await runEager(THREE, '--repeat', '10', '--jobs', '30')
    expect(outcomesOf(done).filter(line => line.endsWith(': pass'))).toHaveLength(30)
    expect(done.code).toBe(0)
  })
})

describe('unexpected calls', () => {
  it('about an unknown chat fail the run, and no scenario', async () => {
    const desk = await startEager(calls => calls('end', { chat_id: 'somebody-elses' }))
    const listening = { ...THREE, 'a.yaml': scenario('Ada', `${ACCEPTED}  - none: { message: {}, for: 500ms }\n`) }
    const { code, json } = await runFiles(listening, desk, '--jobs', '10')
    expect(code).toBe(1)
    expect(json.failures[0]!.happened).toContain('is about chat "somebody-elses", which no scenario has')
  })

  it('after the end of a scenario fail this scenario, and are saved with it', async () => {
    // The second wants to be alone, so the first is over when its call comes.
    const files = { 'a.yaml': THREE['a.yaml'], 'b.yaml': scenario('Bo', ACCEPTED, 'exclusive: true\n') }
    const chats: string[] = []
    const desk = await startEager(async (calls, id) => {
      chats.push(id)
      if (chats.length === 2) await calls('end', { chat_id: chats[0] })
    })
    const { code, json, read } = await runFiles(files, desk)
    expect(code).toBe(1)
    const saved = read('.handover-sim/journal.jsonl').trim().split('\n')
    const [head, ...entries] = saved.map(line => JSON.parse(line)).filter(({ scenario }) => scenario === 1)
    const endpoints = entries.map(({ entry }) => entry.endpoint).filter(Boolean)
    expect([head.entries, endpoints]).toEqual([entries.length, ['start', 'end']])
    expect(json.scenarios.map(({ failures }) => failures.map(({ kind }) => kind))).toEqual([['late'], []])
  })

  it('with the text of a user in another scenario are a leak, which fails the run', async () => {
    const chats: string[] = []
    const sender = { name: 'Anna', avatar: 'https://desk.example.test/a.png' }
    const target = await startTarget(async (_, response, body) => {
      const { event, chat, message } = body as unknown as { event: string; chat: { id: string }; message?: string }
      const calls = callsAbout(body)
      response.end()
      if (event === 'REQUESTING TAKEOVER') {
        chats.push(chat.id)
        return void calls('start', { sender })
      }
      if (message === undefined) return
      await expect.poll(() => chats.length).toBe(2)
      void calls('message/', { bot_id: 1042, chat_id: chats.find(id => id !== chat.id), message, sender })
    })
    const files = {
      'ada.yaml': scenario('Ada', `${ACCEPTED}  - user: My card has the number 4929\n`),
      'bo.yaml': scenario(
        'Bo',
        '  - { press: handover, id: asked }\n  - expect: start\n  - expect: { message: {}, since: asked }\n',
      ),
    }
    const done = await runFiles(files, target)
    expect(done.code).toBe(1)
    expect(outcomesOf(done)).toEqual(['Ada: pass', 'Bo: pass'])
    expect(done.json.failures.map(({ kind, happened }) => `${kind}: ${happened}`)).toEqual([
      expect.stringMatching(/^leak: .*chat "main" of "Bo".*My card has the number 4929/),
    ])
  })
})

it.each([
  ['--shard 5/4', /--shard must be written n\/of, such as 1\/4/],
  ['--repeat 0', /--repeat must be a whole number from 1/],
  ['--jobs many', /--jobs must be a whole number/],
  ['--timeout 5', /--timeout must be /],
  ['--timeout 0s', /--timeout must be /],
  ['--bail 0', /--bail must be /],
  ['--wait-for-target 30', /--wait-for-target must be a duration with a unit/],
  ['--target localhost:3000', /--target must be an http or https URL/],
  ['--target http://example.test/', /another machine.*--allow-remote/],
  ['--self-test --target http://127.0.0.1:1/', /leave out --target/],
  ['--report junt=x', /junit/],
  ['', /No target URL: pass --target/],
])('the flags %j: exit 2', async (flags, says) => {
  const argv = ['.', '--port', '0', ...flags.split(' ').filter(Boolean)]
  const { code, err } = await finished(startRun(THREE, argv))
  expect(code).toBe(2)
  expect(err).toMatch(says)
})
