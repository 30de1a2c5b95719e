/** `run --ui`: scenarios are listed, run on request, and what happens is streamed. */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { call, finished, startRun } from '../runner/targets.ts'
import { ACCEPTED, connect, isDone, outcomeOf, politeTarget, scenarioFile, startUi } from './ui-client.ts'

/** Expectations wait for what comes, however busy the machine is. */
const scenario = (name: string, steps: string, more = '') => scenarioFile(name, ACCEPTED + steps, more, '60s')
const HELLO = '  - expect: { message: { message: Hello } }\n'
const GOODBYE = '  - expect: { message: { message: Goodbye }, within: 1ms }\n'
const LONG = { 'c.yaml': scenario('Cy', '  - none: { end: {}, for: 50s }\n') }
const TWO = {
  'a.yaml': scenario('Ada', HELLO, 'tags: [smoke]\n'),
  'b.yaml': scenario('Bo', HELLO + GOODBYE),
}

describe('the list', () => {
  it('has files, scenarios and steps with their places, and runs nothing', async () => {
    const { ui } = await startUi(TWO)
    const { catalogue, run, scenarios } = ui.state
    expect(catalogue).toMatchObject({
      files: [{ name: 'a.yaml', problems: [] }, { name: 'b.yaml' }],
      scenarios: [{ name: 'Ada', file: 'a.yaml', tags: ['smoke'] }, { name: 'Bo' }],
    })
    expect(catalogue.scenarios[0]?.steps).toMatchObject([
      { number: 1, verb: 'press', label: 'press handover', place: { file: 'a.yaml', line: 6 } },
      { number: 2, verb: 'expect', label: 'expect start' },
      { number: 3, verb: 'expect', place: { line: 8 } },
    ])
    expect({ run: run.state, results: scenarios.size }).toEqual({ run: 'idle', results: 0 })
  })

  it('shows why a file cannot be run, with its place, beside the others', async () => {
    const { ui } = await startUi({ ...TWO, 'b.yaml': 'version: 1\nname: Bo\nsteps:\n  - presss: handover\n' })
    const excerpt = expect.stringContaining('presss: handover')
    const problems = [{ file: 'b.yaml', line: 4, excerpt }]
    expect(ui.state.catalogue.files[1]).toMatchObject({ name: 'b.yaml', problems })
    await ui.run()
    await ui.until(state => outcomeOf(state, 'Ada') === 'pass')
  })

  it('has the scenarios that the flags select, and each run of --repeat, which is run by its name', async () => {
    const { ui } = await startUi(TWO, '--tag', 'smoke', '--repeat', '2')
    expect(ui.state.catalogue.scenarios.map(({ name }) => name)).toEqual(['Ada', 'Ada #2'])
    await ui.run('Ada #2')
    const state = await ui.until(one => outcomeOf(one, 'Ada #2') === 'pass')
    expect(outcomeOf(state, 'Ada')).toBeUndefined()
  })
})

it('returns the text of its files, and refuses what it does not have', async () => {
  const { ui } = await startUi({ ...TWO, 'secret.txt': 'hidden' })
  expect(await ui.get('/file?name=a.yaml')).toEqual({ status: 200, body: { name: 'a.yaml', text: TWO['a.yaml'] } })
  const refused = { status: 404, body: { error: { code: 'file_not_found' } } }
  for (const name of ['secret.txt', '../a.yaml', '/etc/passwd', '__proto__']) {
    expect(await ui.get(`/file?name=${encodeURIComponent(name)}`)).toMatchObject(refused)
    expect(await ui.send('PUT', '/watch', { all: false, files: ['a.yaml', name] })).toMatchObject(refused)
    expect(await ui.send('POST', '/open', { name })).toMatchObject({ status: 404 })
  }
  const message = expect.stringContaining('did you mean Ada?')
  expect(await ui.run('Adda')).toMatchObject({ status: 404, body: { error: { message } } })
  const headers = { origin: 'http://evil.example' }
  expect((await fetch(`${ui.url}/_sim/ui/run`, { method: 'POST', headers })).status).toBe(403)
})

describe('running', () => {
  it('streams steps and entries, and gives the same result as the JSON report', async () => {
    const { ui, folder } = await startUi(TWO)
    await ui.run()
    const state = await ui.until(isDone)
    expect([outcomeOf(state, 'Ada'), outcomeOf(state, 'Bo')]).toEqual(['pass', 'fail'])
    expect(state.steps.findLast(one => one.startsWith('Ada'))).toBe('Ada 3 pass')
    const bo = await ui.result('Bo')
    expect(bo.failures[0]).toMatchObject({ kind: 'expect', step: { number: 4, place: { file: 'b.yaml', line: 8 } } })
    expect(bo.journal.map(({ kind }) => kind)).toContain('api')
    expect(state.scenarios.get('Bo')?.last).toMatchObject({ failures: 1, summary: bo.failures[0]?.happened })
    expect(readdirSync(folder).sort()).toEqual(['a.yaml', 'b.yaml'])
  })

  it('shows each step while it waits, with the entries until then', async () => {
    const { ui } = await startUi(LONG)
    await ui.run('Cy')
    const state = await ui.until(({ scenarios }) => scenarios.get('Cy')?.steps[3] === 'running')
    expect(state.steps).toEqual(expect.arrayContaining(['Cy 2 pass', 'Cy 3 running']))
    const run = state.scenarios.get('Cy')?.run ?? 0
    const { entries } = await ui.until(one => one.entries.get(run)?.some(({ kind }) => kind === 'api') === true)
    expect(entries.get(run)?.map(({ seq }) => seq)).toEqual(entries.get(run)?.map((_, index) => index + 1))
    expect((await ui.send('POST', '/stop')).status).toBe(200)
    const stopped = await ui.until(one => one.run.state === 'idle')
    expect(outcomeOf(stopped, 'Cy')).toBe('inconclusive')
  })

  it('runs those that failed, and a second request after the first', async () => {
    const { ui } = await startUi(TWO)
    await ui.run('Ada')
    await ui.run('Bo')
    await ui.until(isDone)
    const before = (await ui.result('Ada')).startedAt
    expect((await ui.send('POST', '/run', { failed: true })).body).toEqual({ scenarios: ['Bo'] })
    await ui.until(({ run, scenarios }) => run.state === 'idle' && scenarios.get('Bo')?.state === 'idle')
    expect((await ui.result('Ada')).startedAt).toBe(before)
  })

  it('gives every run chats of its own: a call about another chat counts while a run lasts, a late one for none', async () => {
    const files = { ...TWO, 'c.yaml': scenario('Cy', '  - expect: message\n  - expect: end\n') }
    const { ui } = await startUi(files)
    const end = (chat_id: unknown) => call(ui.url, 'end', { bot_id: 1042, chat_id })
    await end('before')
    await ui.run('Ada')
    const ada = await ui.until(state => outcomeOf(state, 'Ada') === 'pass' && state.run.state === 'idle')
    expect(ada.run.failures).toEqual([])
    const [late] = Object.values((await ui.result('Ada')).conversations)
    await ui.run('Cy')
    const { entries } = await ui.until(({ scenarios }) => scenarios.get('Cy')?.steps[4] === 'running')
    const cy = [...entries.values()].at(-1)?.find(({ kind }) => kind === 'user')?.chat_id
    expect(cy).not.toBe(late)
    for (const chat of [late, 'during', cy]) await end(chat)
    const { run } = await ui.until(state => outcomeOf(state, 'Cy') !== undefined && state.run.state === 'idle')
    const chats = (await ui.result('Cy')).journal.filter(({ kind }) => kind === 'api').map(({ chat_id }) => chat_id)
    expect(chats).toContain('during')
    expect(chats).not.toContain(late)
    expect(run.failures).toEqual([])
  })

  it('says why when the target does not listen', async () => {
    const run = startRun(TWO, ['.', '--ui', '--target', 'http://127.0.0.1:1/webhook', '--port', '0'])
    const ui = await connect(run.io)
    await ui.run('Ada')
    const { scenarios } = await ui.until(state => outcomeOf(state, 'Ada') === 'error')
    expect(scenarios.get('Ada')?.last?.summary).toContain('is not reachable: nothing listens at 127.0.0.1:1')
  })
})

describe('a file that changes', () => {
  it('is run again when it is watched', async () => {
    const { ui, folder } = await startUi(TWO)
    await ui.send('PUT', '/watch', { all: false, files: ['b.yaml'] })
    await ui.run('Bo')
    await ui.until(state => outcomeOf(state, 'Bo') === 'fail')
    writeFileSync(join(folder, 'b.yaml'), scenario('Bo', HELLO))
    const state = await ui.until(one => outcomeOf(one, 'Bo') === 'pass')
    expect(outcomeOf(state, 'Ada')).toBeUndefined()
  })

  it('keeps its last outcome, marked as outdated, when it is broken, and when it is removed', async () => {
    const { ui, folder } = await startUi(TWO)
    await ui.run()
    await ui.until(isDone)
    writeFileSync(join(folder, 'a.yaml'), 'version: 1\nname: Ada\nsteps: 7\n')
    const { scenarios } = await ui.until(one => one.scenarios.get('Ada')?.last?.outdated === true)
    expect(scenarios.get('Ada')?.last?.outcome).toBe('pass')
    expect(ui.state.catalogue.files[0]?.problems).toMatchObject([{ file: 'a.yaml', line: 3 }])
    expect((await ui.run('Ada')).body).toEqual({ scenarios: [] })
    rmSync(join(folder, 'a.yaml'))
    const removed = await ui.until(({ catalogue }) => catalogue.files.at(-1)?.name === 'a.yaml')
    expect(removed.catalogue.files.at(-1)?.problems).toMatchObject([{ message: 'was removed.' }])
  })

  it('is listed when it is new, also after a rename in place of another', async () => {
    const { ui, folder } = await startUi(TWO)
    writeFileSync(join(folder, '.draft'), scenario('Cy', ''))
    renameSync(join(folder, '.draft'), join(folder, 'c.yaml'))
    await ui.until(({ catalogue }) => catalogue.scenarios.some(({ name }) => name === 'Cy'))
    renameSync(join(folder, 'c.yaml'), join(folder, 'd.yaml'))
    const { catalogue } = await ui.until(state => state.catalogue.scenarios.some(({ file }) => file === 'd.yaml'))
    expect(catalogue.files.map(({ name }) => name)).toEqual(['a.yaml', 'b.yaml', 'd.yaml'])
  })

  const part = (steps: string) => `version: 1\nkind: partial\nsteps:\n${steps}`
  const module = (message: string) =>
    `export default { version: 1, name: 'Ada', steps: [{ press: 'handover' }, { expect: 'start' }, ${message}] }\n`
  it.each([
    [
      'hello.part.yaml',
      'a part that it includes changes',
      { 'a.yaml': scenario('Ada', '  - include: hello.part.yaml\n'), 'hello.part.yaml': part(HELLO + GOODBYE) },
      part(HELLO),
    ],
    [
      'a.mjs',
      'it is a module',
      { 'a.mjs': module("{ expect: { end: {}, within: '1ms' } }") },
      module("{ expect: 'message' }"),
    ],
  ])('(%s) is read again when %s', async (name, _, files: Record<string, string>, text) => {
    const { ui, folder } = await startUi(files)
    await ui.send('PUT', '/watch', { all: true, files: [] })
    await ui.run()
    await ui.until(state => outcomeOf(state, 'Ada') === 'fail')
    writeFileSync(join(folder, name), text)
    await ui.until(state => outcomeOf(state, 'Ada') === 'pass')
    expect((await ui.get(`/file?name=${name}`)).body).toMatchObject({ text })
  })
})

describe('the command', () => {
  it('ends with 130 on Ctrl-C, also while it runs', async () => {
    const { ui, io, code } = await startUi(LONG)
    await ui.run()
    await ui.until(({ scenarios }) => scenarios.get('Cy')?.state === 'running')
    io.signal('SIGINT')
    expect(await code).toBe(130)
  })

  it.each([
    [['--list'], 'leave out --list'],
    [['--report', 'junit=r.xml'], 'leave out --report'],
    [['--no-inspector'], 'leave out --no-inspector'],
    [['--port', '0', '--target', 'http://192.0.2.1/'], 'is on another machine'],
  ])('refuses %j', async (flags, message) => {
    const target = flags.includes('--target') ? [] : ['--target', 'http://127.0.0.1:1/']
    const { code, out, err } = await finished(startRun(TWO, ['.', '--ui', ...target, ...flags]))
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(message) })
  })

  it('prints the token in its address, and needs it', async () => {
    const flags = ['.', '--ui', '--target', 'http://127.0.0.1:1/', '--port', '0', '--token', 'a-token-of-16-ch']
    const { io } = startRun(TWO, flags)
    const [, url = ''] = /UI mode: (\S+)/.exec(await io.stdout.until(/UI mode: \S+/)) ?? []
    expect(new URL(url).hash).toBe('#token=a-token-of-16-ch')
    const list = new URL('/_sim/ui', url)
    expect((await fetch(list)).status).toBe(401)
    expect((await fetch(list, { headers: { 'x-handover-sim-token': 'a-token-of-16-ch' } })).status).toBe(200)
  })
})

it('shows no secret: in files, labels and results', async () => {
  const files = { 'a.yaml': scenario('Ada', '  - user: "key $(env.DESK_KEY)"\n  - log: "tok-7f3a9c2b"\n') }
  const target = await politeTarget()
  const run = startRun(files, ['.', '--ui', '--target', target.url, '--port', '0'], { DESK_KEY: 'tok-7f3a9c2b' })
  const ui = await connect(run.io)
  await ui.run()
  const state = await ui.until(isDone)
  const shown = JSON.stringify([state.catalogue, await ui.result('Ada'), await ui.get('/file?name=a.yaml')])
  expect(shown).toContain('***')
  expect(shown).not.toContain('tok-7f3a9c2b')
})

it('report --open shows a saved run, runs nothing, and ends with the code of the run', async () => {
  const target = await politeTarget()
  const run = await finished(startRun(TWO, ['.', '--target', target.url, '--port', '0']))
  expect(run.code).toBe(1)
  const io = fakeIo(run.folder)
  const code = main(['report', '--open'], {}, io)
  const ui = await connect(io)
  expect(ui.state.catalogue).toMatchObject({ kind: 'report', scenarios: [{ name: 'Ada' }, { name: 'Bo' }] })
  expect([outcomeOf(ui.state, 'Ada'), outcomeOf(ui.state, 'Bo')]).toEqual(['pass', 'fail'])
  expect((await ui.result('Bo')).failures[0]?.happened).toContain('message')
  expect((await ui.get('/file?name=b.yaml')).body).toEqual({ name: 'b.yaml', text: TWO['b.yaml'] })
  expect((await ui.get('/file?name=.handover-sim/journal.jsonl')).status).toBe(404)
  expect((await ui.run()).status).toBe(409)
  io.signal('SIGINT')
  expect(await code).toBe(1)
})
