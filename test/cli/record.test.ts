/** `record` against a running simulator. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SimulatorServer } from '../../src/index.ts'
import { folderWith } from '../config/folder.ts'
import { ANNA, startRecorder } from '../recorder/recorded.ts'
import { createControlClient } from '../support/control-client.ts'
import { serveExample } from '../support/example-service.ts'
import { freePort } from '../support/port.ts'
import { fakeIo, runCommand, started } from './fake-io.ts'

async function handover(options = {}) {
  const { sim, call } = await startRecorder(options)
  const chat = await sim.chat()
  await chat.press('handover')
  await call('start', chat, ANNA)
  return { sim, call, chat, ...record(sim) }
}

/** Records from a simulator into one folder. */
function record(sim: SimulatorServer, cwd = folderWith()) {
  const recorded = (file: string, ...argv: string[]) => runCommand(['record', file, '--url', sim.url, ...argv], { cwd })
  return { cwd, recorded }
}

describe('record', () => {
  it('writes a file that validates, which docs/how-to/recording.md shows', async () => {
    const page = readFileSync(new URL('../../docs/how-to/recording.md', import.meta.url), 'utf8')
    const { sim, call } = await startRecorder()
    const chat = await sim.chat({ language: 'nb' })
    await chat.press('handover')
    await call('transcript', chat)
    await call('start', chat, ANNA)
    await chat.says('Hvor er pakken min?')
    await call('message/', chat, { ...ANNA, message: 'On its way!' })
    await call('end', chat)
    const { cwd, recorded } = record(sim)
    const { out, err } = await recorded('scenarios/lost-parcel.yaml')
    expect(err).toContain('Steps of the agent are drawn from the calls')
    expect((await runCommand(['validate', 'scenarios/lost-parcel.yaml'], { cwd })).code).toBe(0)
    expect(page).toContain(`$ npx handover-sim record scenarios/lost-parcel.yaml\n${out}`)
    expect(page).toContain(readFileSync(join(cwd, 'scenarios/lost-parcel.yaml'), 'utf8'))
  })

  it('writes to stdout, and prints the answer as JSON', async () => {
    const { recorded } = await handover()
    expect((await recorded('-', '--name', 'By hand')).out).toContain('name: By hand')
    const { code, out } = await recorded('-', '--json')
    expect([code, JSON.parse(out)]).toMatchObject([0, { name: 'Recorded conversation', tried: { outcome: 'pass' } }])
  })

  it('keeps an existing file unless it is forced', async () => {
    const { cwd, recorded } = await handover()
    writeFileSync(join(cwd, 'mine.yaml'), 'mine')
    const err = 'FILE: "mine.yaml" exists already: choose another name, or pass --force.\n'
    expect(await recorded('mine.yaml')).toMatchObject({ code: 2, out: '', err })
    expect(readFileSync(join(cwd, 'mine.yaml'), 'utf8')).toBe('mine')
    expect((await recorded('mine.yaml', '--force')).code).toBe(0)
    expect(readFileSync(join(cwd, 'mine.yaml'), 'utf8')).toContain('name: Mine')
  })

  it('records the chats and the range that it is asked for', async () => {
    const { sim, chat, recorded } = await handover()
    const other = await sim.chat()
    const after = String(sim.journal.nextSeq - 1)
    await other.says('From the other')
    const { out } = await recorded('-', '--chat-id', other.id)
    expect(out).toContain('- user: From the other')
    expect(out).not.toContain('press')
    expect((await recorded('-', '--after', after)).out).toContain('- user: From the other')
    expect((await recorded('-', '--chat-id', chat.id, '--after', after)).err).toContain('nothing to record')
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

  it('a handover in a help desk becomes a scenario that the same service passes', async () => {
    const example = await serveExample()
    const io = fakeIo(folderWith({ 'driver.json': example.driver }))
    const where = ['--webhook-url', example.webhookUrl, '--agent-driver', 'driver.json']
    const { url, stop } = await started([...where, '--output', 'quiet'], {}, io)
    example.usePlatform(url)
    const ask = createControlClient({ url })
    const { chat_id } = (await ask('POST', '/chats', { body: { language: 'nb' } })).body
    const act = async (verb: string, call: string, text?: string) => {
      await ask('POST', '/agent', { body: { verb, chat_id, text } })
      expect((await ask('GET', `/wait?call=${call}&chat_id=${chat_id}&timeout=20s`)).body.status).toBe(200)
    }
    await ask('POST', `/chats/${chat_id}/press?wait=ack`, { body: { button: 'handover' } })
    await act('accept', 'start')
    await ask('POST', `/chats/${chat_id}/messages?wait=ack`, { body: { text: 'Hvor er pakken?' } })
    await act('says', 'message', 'On its way!')
    await act('leave', 'end')
    const { cwd } = io
    // The intermediary reads the transcript.
    const err = expect.stringMatching(/^note: Calls that only read the chat are left out: .*\n$/)
    expect(await runCommand(['record', 'demo.yaml', '--url', url], { cwd })).toMatchObject({ code: 0, err })
    await stop()
    expect(readFileSync(join(cwd, 'demo.yaml'), 'utf8')).toContain('- agent: { says: On its way! }')
    const port = String(await freePort())
    example.usePlatform(`http://127.0.0.1:${port}`)
    expect(await runCommand(['run', 'demo.yaml', '--port', port, ...where], { cwd })).toMatchObject({ code: 0 })
  })

  it('says what it cannot record', async () => {
    const { recorded } = record((await startRecorder()).sim)
    const rows: [string[], number, string][] = [
      [['a.yaml'], 1, 'There is nothing to record: no chat was created yet.\n'],
      [['a.yaml', '--chat-id', 'no-such'], 2, 'There is no chat "no-such". There are no chats yet.\n'],
      [['a.txt'], 2, 'must end in .yaml or .yml'],
      [['-', '--before', '5x'], 2, '--before: must be the number of a journal entry (its seq), got "5x".\n'],
    ]
    for (const [[file = '', ...flags], expected, message] of rows) {
      const { code, out, err } = await recorded(file, ...flags)
      expect([code, out, err]).toEqual([expected, '', expect.stringContaining(message)])
    }
  })
})
