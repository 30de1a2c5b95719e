/** `run --ui`: scenarios are listed, run on request, and what happens is streamed. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { call, finished, startRun } from '../runner/targets.ts'
import { ACCEPTED, connect, isDone, outcomeOf, politeTarget, scenarioFile, startUi, stepsOf } from './ui-client.ts'

const TWO = {
  'a.yaml': scenarioFile('Ada', `${ACCEPTED}  - expect: { message: { message: Hello } }\n`, 'tags: [smoke]\n'),
  // It fails, because no step expects the message.
  'b.yaml': scenarioFile('Bo', ACCEPTED),
}

const OTHER_WORDS = scenarioFile('Bo', `${ACCEPTED}  - expect: { message: { message: Goodbye } }\n`)

describe('the list', () => {
  it('has files, scenarios and steps with their places, and runs nothing', async () => {
    const { ui } = await startUi(TWO)
    const { catalogue, run, scenarios } = ui.state
    expect(catalogue).toMatchObject({
      kind: 'run',
      files: [
        { name: 'a.yaml', problems: [] },
        { name: 'b.yaml', problems: [] },
      ],
      scenarios: [{ name: 'Ada', file: 'a.yaml', tags: ['smoke'] }, { name: 'Bo' }],
    })
    expect(catalogue.scenarios[0]?.steps).toMatchObject([
      { number: 1, verb: 'press', label: 'press handover', place: { file: 'a.yaml', line: 6 } },
      { number: 2, verb: 'expect', label: 'expect start', place: { line: 7 } },
      { number: 3, verb: 'expect', place: { line: 8 } },
    ])
    expect({ run: run.state, results: scenarios.size }).toEqual({ run: 'idle', results: 0 })
  })

  it('shows why a file cannot be run, with its place, beside the others', async () => {
    const { ui } = await startUi({ ...TWO, 'b.yaml': 'version: 1\nname: Bo\nsteps:\n  - presss: handover\n' })
    const [, broken] = ui.state.catalogue.files
    expect(broken).toMatchObject({ name: 'b.yaml', problems: [{ file: 'b.yaml', line: 4 }] })
    expect(broken?.problems[0]?.excerpt).toContain('presss: handover')
    await ui.run()
    await ui.until(state => outcomeOf(state, 'Ada') === 'pass')
  })

  it('returns the text of its files and of no other', async () => {
    const { ui } = await startUi({ ...TWO, 'secret.txt': 'hidden' })
    expect(await ui.get('/file?name=a.yaml')).toEqual({ status: 200, body: { name: 'a.yaml', text: TWO['a.yaml'] } })
    for (const name of ['secret.txt', '../a.yaml', '/etc/passwd']) {
      expect((await ui.get(`/file?name=${encodeURIComponent(name)}`)).status).toBe(404)
    }
  })

  it('opens a file at a line in the editor, and says how to name one', async () => {
    const { ui } = await startUi(TWO)
    const folder = mkdtempSync(join(tmpdir(), 'editor-'))
    onTestFinished(() => {
      rmSync(folder, { recursive: true })
      delete process.env.LAUNCH_EDITOR
    })
    const [editor, opened] = [join(folder, 'editor.sh'), join(folder, 'opened')]
    writeFileSync(editor, `#!/bin/sh\necho "$1:$2" > ${opened}\n`, { mode: 0o755 })
    process.env.LAUNCH_EDITOR = editor
    expect((await ui.send('POST', '/open', { name: 'a.yaml', line: 7 })).status).toBe(200)
    await expect.poll(() => existsSync(opened) && readFileSync(opened, 'utf8')).toMatch(/\/a\.yaml:7\n$/)
    expect(await ui.send('POST', '/open', { name: '../a.yaml' })).toMatchObject({ status: 404 })
    process.env.LAUNCH_EDITOR = join(folder, 'no-such-editor')
    expect(await ui.send('POST', '/open', { name: 'a.yaml' })).toMatchObject({
      status: 409,
      body: { error: { code: 'no_editor', message: expect.stringContaining('LAUNCH_EDITOR=code') } },
    })
  })

  it('has the scenarios that the flags select', async () => {
    const { ui } = await startUi(TWO, '--tag', 'smoke')
    expect(ui.state.catalogue.scenarios.map(({ name }) => name)).toEqual(['Ada'])
  })

  it('has each run of --repeat, which is run by its name', async () => {
    const { ui } = await startUi(TWO, '--repeat', '2')
    expect(ui.state.catalogue.scenarios.map(({ name }) => name)).toEqual(['Ada', 'Bo', 'Ada #2', 'Bo #2'])
    await ui.run('Ada #2')
    const state = await ui.until(one => outcomeOf(one, 'Ada #2') === 'pass')
    expect(outcomeOf(state, 'Ada')).toBeUndefined()
  })
})

describe('running', () => {
  it('streams steps and entries, and gives the same result as the JSON report', async () => {
    const { ui, folder } = await startUi({ ...TWO, 'b.yaml': OTHER_WORDS })
    await ui.run()
    const state = await ui.until(isDone)
    expect([outcomeOf(state, 'Ada'), outcomeOf(state, 'Bo')]).toEqual(['pass', 'fail'])
    expect(stepsOf('Ada', state.steps).at(-1)).toBe('Ada 3 pass')
    const bo = await ui.result('Bo')
    expect(bo.failures[0]).toMatchObject({
      kind: 'expect',
      step: { number: 3, place: { file: 'b.yaml', line: 7 } },
      nearest: [{ differences: [{ path: 'message', expected: '"Goodbye"', received: '"Hello"' }] }],
    })
    expect(bo.journal.map(({ kind }) => kind)).toContain('api')
    expect(state.scenarios.get('Bo')?.last).toMatchObject({ failures: 1, summary: bo.failures[0]?.happened })
    expect(readdirSync(folder).sort()).toEqual(['a.yaml', 'b.yaml'])
  })

  it('shows each step while it waits, with the entries until then', async () => {
    const { ui } = await startUi({ 'c.yaml': scenarioFile('Cy', `${ACCEPTED}  - none: { end: {}, for: 50s }\n`) })
    await ui.run('Cy')
    const state = await ui.until(({ scenarios }) => scenarios.get('Cy')?.steps[3] === 'running')
    expect(stepsOf('Cy', state.steps)).toEqual(expect.arrayContaining(['Cy 2 pass', 'Cy 3 running']))
    const run = state.scenarios.get('Cy')?.run ?? 0
    const { entries } = await ui.until(one => one.entries.get(run)?.some(({ kind }) => kind === 'api') === true)
    const seqs = entries.get(run)?.map(({ seq }) => seq) ?? []
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect((await ui.send('POST', '/stop')).status).toBe(200)
    const stopped = await ui.until(({ run }) => run.state === 'idle')
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

  it('names a scenario that it does not have', async () => {
    const { ui } = await startUi(TWO)
    const { status, body } = await ui.send('POST', '/run', { scenarios: ['Adda'] })
    expect(status).toBe(404)
    expect(body).toMatchObject({
      error: { message: 'There is no scenario "Adda"; did you mean Ada? GET /_sim/ui lists all 2.' },
    })
  })

  it('gives every run chats of its own', async () => {
    const { ui } = await startUi(TWO)
    await ui.run('Ada')
    const first = await ui.until(state => outcomeOf(state, 'Ada') !== undefined)
    const { run } = first.scenarios.get('Ada')?.last ?? {}
    const chats = Object.values((await ui.result('Ada')).conversations)
    await ui.run('Ada')
    const second = await ui.until(({ scenarios }) => (scenarios.get('Ada')?.last?.run ?? run) !== run)
    expect(outcomeOf(second, 'Ada')).toBe('pass')
    expect(Object.values((await ui.result('Ada')).conversations)).not.toEqual(chats)
  })

  it('counts a call about another chat for the run in which it comes, and a late one for none', async () => {
    const files = { ...TWO, 'c.yaml': scenarioFile('Cy', `${ACCEPTED}  - expect: message\n  - expect: end\n`) }
    const { ui } = await startUi(files)
    await call(ui.url, 'end', { bot_id: 1042, chat_id: 'before' })
    await ui.run('Ada')
    expect(
      (await ui.until(state => outcomeOf(state, 'Ada') === 'pass' && state.run.state === 'idle')).run.failures,
    ).toEqual([])
    const [late = ''] = Object.values((await ui.result('Ada')).conversations)
    await ui.run('Cy')
    await ui.until(({ scenarios }) => scenarios.get('Cy')?.steps[4] === 'running')
    await call(ui.url, 'end', { bot_id: 1042, chat_id: late })
    await call(ui.url, 'end', { bot_id: 1042, chat_id: 'during' })
    const { run } = await ui.until(state => outcomeOf(state, 'Cy') !== undefined && state.run.state === 'idle')
    const calls = (await ui.result('Cy')).journal.flatMap(entry =>
      entry.kind === 'api' ? (entry.chat_id ?? null) : [],
    )
    expect(calls).toContain('during')
    expect(calls).not.toContain(late)
    expect(run.failures).toEqual([])
  })

  it('says why when the target does not listen, and runs when it does', async () => {
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
    writeFileSync(join(folder, 'b.yaml'), `${TWO['b.yaml']}  - expect: message\n`)
    const state = await ui.until(one => outcomeOf(one, 'Bo') === 'pass')
    expect(outcomeOf(state, 'Ada')).toBeUndefined()
  })

  it.each(['/etc/passwd', '__proto__', '../a.yaml'])('can only be watched when UI mode has it: %s', async name => {
    const { ui } = await startUi(TWO)
    const { status, body } = await ui.send('PUT', '/watch', { all: false, files: ['a.yaml', name] })
    expect({ status, body }).toMatchObject({ status: 404, body: { error: { code: 'file_not_found' } } })
  })

  it('keeps its last outcome, marked as outdated, when it is broken, and when it is removed', async () => {
    const { ui, folder } = await startUi(TWO)
    await ui.run()
    await ui.until(isDone)
    writeFileSync(join(folder, 'a.yaml'), 'version: 1\nname: Ada\nsteps: 7\n')
    const broken = await ui.until(({ catalogue }) => catalogue.files[0]?.problems.length === 1)
    expect(broken.catalogue.files[0]?.problems[0]).toMatchObject({ file: 'a.yaml', line: 3 })
    const { scenarios } = await ui.until(one => one.scenarios.get('Ada')?.last?.outdated === true)
    expect(scenarios.get('Ada')?.last?.outcome).toBe('pass')
    expect((await ui.send('POST', '/run', { scenarios: ['Ada'] })).body).toEqual({ scenarios: [] })
    rmSync(join(folder, 'a.yaml'))
    const removed = await ui.until(({ catalogue }) => catalogue.files.at(-1)?.name === 'a.yaml')
    expect(removed.catalogue.files.at(-1)?.problems).toMatchObject([{ message: 'was removed.' }])
  })

  it('is listed when it is new, also after a rename in place of another', async () => {
    const { ui, folder } = await startUi(TWO)
    writeFileSync(join(folder, '.draft'), scenarioFile('Cy', ACCEPTED))
    renameSync(join(folder, '.draft'), join(folder, 'c.yaml'))
    await ui.until(({ catalogue }) => catalogue.scenarios.some(({ name }) => name === 'Cy'))
    renameSync(join(folder, 'c.yaml'), join(folder, 'd.yaml'))
    const { catalogue } = await ui.until(state => state.catalogue.scenarios.some(({ file }) => file === 'd.yaml'))
    expect(catalogue.files.map(({ name }) => name)).toEqual(['a.yaml', 'b.yaml', 'd.yaml'])
  })

  it('is read again when a part that it includes changes', async () => {
    const part = (text: string) => `version: 1\nkind: partial\nsteps:\n  - expect: { message: { message: ${text} } }\n`
    const files = {
      'a.yaml': scenarioFile('Ada', `${ACCEPTED}  - include: hello.part.yaml\n`),
      'hello.part.yaml': part('Goodbye'),
    }
    const { ui, folder } = await startUi(files)
    await ui.send('PUT', '/watch', { all: true, files: [] })
    await ui.run()
    await ui.until(state => outcomeOf(state, 'Ada') === 'fail')
    writeFileSync(join(folder, 'hello.part.yaml'), part('Hello'))
    await ui.until(state => outcomeOf(state, 'Ada') === 'pass')
    expect((await ui.get('/file?name=hello.part.yaml')).body).toMatchObject({ text: part('Hello') })
  })

  it('is loaded again when it is a module', async () => {
    const module = (text: string) =>
      `export default { version: 1, name: 'Ada', steps: [{ press: 'handover' }, { expect: 'start' }, { expect: { message: { message: '${text}' } } }] }\n`
    const { ui, folder } = await startUi({ 'a.mjs': module('Goodbye') })
    await ui.send('PUT', '/watch', { all: true, files: [] })
    writeFileSync(join(folder, 'a.mjs'), module('Hello'))
    await ui.until(state => outcomeOf(state, 'Ada') === 'pass')
  })
})

describe('the command', () => {
  it('ends with 130 on Ctrl-C, also while it runs', async () => {
    const { ui, io, code } = await startUi({
      'c.yaml': scenarioFile('Cy', '  - press: handover\n  - none: { end: {}, for: 50s }\n'),
    })
    await ui.run()
    await ui.until(({ scenarios }) => scenarios.get('Cy')?.state === 'running')
    io.signal('SIGINT')
    expect(await code).toBe(130)
  })

  it.each([
    [['--list'], '--ui shows scenarios and results in a page: leave out --list.'],
    [['--report', 'junit=r.xml'], '--ui shows scenarios and results in a page: leave out --report.'],
    [['--no-inspector'], '--ui needs the page: leave out --no-inspector.'],
  ])('refuses %j', async (flags, message) => {
    const { code, err } = await finished(startRun(TWO, ['.', '--ui', '--target', 'http://127.0.0.1:1/', ...flags]))
    expect({ code, err }).toEqual({ code: 2, err: `${message}\n` })
  })

  it('refuses a target on another machine before it serves', async () => {
    const run = startRun(TWO, ['.', '--ui', '--port', '0', '--target', 'http://192.0.2.1/'])
    const { code, out, err } = await finished(run)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('is on another machine')
  })
})

it('shows no secret: in files, labels and results', async () => {
  const files = {
    'a.yaml': scenarioFile('Ada', `${ACCEPTED}  - user: "key $(env.DESK_KEY)"\n  - log: "tok-7f3a9c2b"\n`),
  }
  const target = await politeTarget()
  const run = startRun(files, ['.', '--ui', '--target', target.url, '--port', '0'], { DESK_KEY: 'tok-7f3a9c2b' })
  const ui = await connect(run.io)
  await ui.run()
  const state = await ui.until(isDone)
  const shown = JSON.stringify([state.catalogue, await ui.result('Ada'), await ui.get('/file?name=a.yaml')])
  expect(shown).toContain('***')
  expect(shown).not.toContain('tok-7f3a9c2b')
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

it('refuses pages of other sites, as all of the control API does', async () => {
  const { ui } = await startUi(TWO)
  const answer = await fetch(`${ui.url}/_sim/ui/run`, { method: 'POST', headers: { origin: 'http://evil.example' } })
  expect(answer.status).toBe(403)
})

describe('report --open', () => {
  it('shows a saved run, runs nothing, and ends with the code of the run', async () => {
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
    expect((await ui.send('POST', '/run', {})).status).toBe(409)
    io.signal('SIGINT')
    expect(await code).toBe(1)
  })
})
