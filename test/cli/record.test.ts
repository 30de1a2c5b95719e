/** `record` against a running simulator. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import type { SimulatorServer } from '../../src/index.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, read } from '../docs/pages.ts'
import { ANNA, startRecorder } from '../recorder/recorded.ts'
import { freePort } from '../support/port.ts'
import { fakeIo } from './fake-io.ts'

async function handover(options = {}) {
  const { sim, call } = await startRecorder(options)
  const chat = await sim.chat()
  await chat.press('handover')
  await call('start', chat, ANNA)
  return { sim, call, chat, ...record(sim) }
}

/** Runs commands in one folder. */
function record(sim: SimulatorServer, cwd = folderWith()) {
  const run = async (...argv: string[]) => {
    const io = fakeIo(cwd)
    const code = await main(argv, {}, io)
    return { code, out: io.stdout.text, err: io.stderr.text }
  }
  return { cwd, run, recorded: (file: string, ...argv: string[]) => run('record', file, '--url', sim.url, ...argv) }
}

describe('record', () => {
  it('writes a file that validates, named after the file', async () => {
    const { cwd, run, recorded } = await handover()
    const { code, out, err } = await recorded('lost-parcel.yaml')
    expect({ code, out }).toEqual({
      code: 0,
      out: 'lost-parcel.yaml: tried once: it passes with the 1 call recorded, and fails without any one of them\n',
    })
    expect(err).toContain('Steps of the agent are drawn from the calls')
    expect(readFileSync(join(cwd, 'lost-parcel.yaml'), 'utf8')).toContain('\nname: Lost parcel\n')
    expect(await run('validate', 'lost-parcel.yaml')).toMatchObject({ code: 0 })
  })

  it('writes the file that docs/how-to/recording.md shows', async () => {
    const page = read('docs/how-to/recording.md')
    const { sim, call } = await startRecorder()
    const chat = await sim.chat({ language: 'nb' })
    await chat.press('handover')
    await call('transcript', chat)
    await call('start', chat, ANNA)
    await chat.says('Hvor er pakken min?')
    await call('message/', chat, { ...ANNA, message: 'On its way!' })
    await call('end', chat)
    const { cwd, recorded } = record(sim)
    const { out } = await recorded('scenarios/lost-parcel.yaml')
    expect(blocks(page, '')[0]).toBe(`$ npx handover-sim record scenarios/lost-parcel.yaml\n${out}`)
    expect(readFileSync(join(cwd, 'scenarios/lost-parcel.yaml'), 'utf8')).toBe(blocks(page, 'yaml')[0])
  })

  it('writes to stdout, and prints the answer as JSON', async () => {
    const { recorded } = await handover()
    const plain = await recorded('-', '--name', 'By hand')
    expect(plain.out).toContain('name: By hand')
    expect(plain.err).toContain('By hand: tried once')
    const { code, out } = await recorded('-', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ name: 'Recorded conversation', tried: { outcome: 'pass' } })
  })

  it('keeps an existing file unless it is forced', async () => {
    const { cwd, recorded } = await handover()
    writeFileSync(join(cwd, 'mine.yaml'), 'mine')
    const refused = await recorded('mine.yaml')
    expect(refused).toEqual({
      code: 2,
      out: '',
      err: 'FILE: "mine.yaml" exists already: choose another name, or pass --force.\n',
    })
    expect(readFileSync(join(cwd, 'mine.yaml'), 'utf8')).toBe('mine')
    expect((await recorded('mine.yaml', '--force')).code).toBe(0)
    expect(readFileSync(join(cwd, 'mine.yaml'), 'utf8')).toContain('name: Mine')
  })

  it('records the chats and the range that it is asked for', async () => {
    const { sim, chat, recorded } = await handover()
    const other = await sim.chat()
    const after = sim.journal.nextSeq - 1
    await other.says('From the other')
    const { out } = await recorded('-', '--chat-id', other.id)
    expect(out).toContain('- user: From the other')
    expect(out).not.toContain('press')
    expect((await recorded('-', '--after', String(after))).out).toContain('- user: From the other')
    expect((await recorded('-', '--chat-id', chat.id, '--after', String(after))).err).toContain('nothing to record')
    expect((await recorded('-', '--before', '5x')).err).toBe(
      '--before: must be the number of a journal entry (its seq), got "5x".\n',
    )
  })

  it('exits with 1 when the trial does not pass, and says why', async () => {
    const { sim, call, recorded } = await handover({ knobs: { 'end.idle': 'accept' } })
    const chat = await sim.chat()
    await chat.says('Hi')
    await call('end', chat)
    await sim.configure({ 'end.idle': '409' })
    const { code, out } = await recorded('idle.yaml', '--chat-id', chat.id)
    expect(code).toBe(1)
    expect(out).toMatch(/^idle\.yaml: tried once, and it did not pass \(fail\):\n {2}.*409/)
  })
})

it('a handover with the demo becomes a scenario that the reference intermediary passes', {
  timeout: 60_000,
}, async () => {
  const cwd = folderWith()
  const io = fakeIo(cwd)
  const started = main(['start', '--demo', '--port', '0', '--output', 'quiet'], {}, io)
  const url = /Ready: (\S+)/.exec(await io.stdout.until(/Ready: \S+/))![1]!
  const ask = async (path: string, body?: object) => {
    const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(`${url}/_sim${path}`, request)).json()
  }
  const { chat_id } = await ask('/chats', { language: 'nb' })
  const act = async (verb: string, call: string, text?: string) => {
    await ask('/agent', { verb, chat_id, text })
    expect(await ask(`/wait?call=${call}&chat_id=${chat_id}&timeout=20s`)).toMatchObject({ status: 200 })
  }
  await ask(`/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
  await act('accept', 'start')
  await ask(`/chats/${chat_id}/messages?wait=ack`, { text: 'Hvor er pakken?' })
  await act('says', 'message', 'On its way!')
  await act('leave', 'end')
  const out = fakeIo(cwd)
  expect(await main(['record', 'demo.yaml', '--url', url], {}, out)).toBe(0)
  expect(out.stderr.text).toBe('')
  io.signal('SIGINT')
  await started
  expect(readFileSync(join(cwd, 'demo.yaml'), 'utf8')).toContain('- agent: { says: On its way! }')
  expect(await main(['run', 'demo.yaml', '--self-test'], {}, fakeIo(cwd))).toBe(0)
})

describe('errors', () => {
  it('no simulator, nothing happened, an unknown chat, a name that run cannot read', async () => {
    const { sim } = await startRecorder()
    const { run, recorded } = record(sim)
    const missing = await run('record', 'a.yaml', '--port', String(await freePort()))
    expect([missing.code, missing.err]).toEqual([
      3,
      expect.stringContaining('No simulator answers at http://127.0.0.1:'),
    ])
    expect(await recorded('a.yaml')).toEqual({
      code: 1,
      out: '',
      err: 'There is nothing to record: no chat was created yet.\n',
    })
    const unknown = await recorded('a.yaml', '--chat-id', 'no-such')
    expect([unknown.code, unknown.err]).toEqual([2, 'There is no chat "no-such". There are no chats yet.\n'])
    const name = await recorded('a.txt')
    expect([name.code, name.err]).toEqual([2, expect.stringContaining('must end in .yaml or .yml')])
  })
})
