/** Types the commands of two tutorials as they stand, in an empty folder. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startProgram } from '../cli/program.ts'
import { freePort } from '../support/port.ts'
import { blocks, hasShell, read } from './pages.ts'
import { createProject } from './project.ts'

describe.skipIf(!hasShell)('the tutorial (needs bash)', () => {
  it('from a chat to a test', async () => {
    const port = await freePort()
    const { folder, type } = createProject({}, { env: { HANDOVER_SIM_PORT: String(port) } })
    const [start = '', keep = '', play = '', fail = ''] = blocks(read('docs/tutorials/chat-to-test.md'), 'sh')
    expect((await type(start)).code).toBe(0)
    onTestFinished(async () => void (await type('npx handover-sim stop --ready-file sim.json')))
    const post = async (path: string, body: object) => {
      const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const response = await fetch(`http://127.0.0.1:${port}/_sim${path}`, request)
      expect(response.ok, path).toBe(true)
      return (await response.json()) as { chat_id: string }
    }
    // What a person does in the page.
    const { chat_id } = await post('/chats', {})
    await post(`/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
    await post('/agent', { verb: 'accept', chat_id })
    await post(`/chats/${chat_id}/messages?wait=ack`, { text: 'Where is my parcel?' })
    await post('/agent', { verb: 'says', chat_id, text: 'It is on its way.' })
    await post('/agent', { verb: 'leave', chat_id })

    expect(await type(keep)).toMatchObject({ code: 0, stdout: expect.stringContaining('it passes with the') })
    expect(readFileSync(join(folder, 'scenarios/parcel.yaml'), 'utf8')).toContain('says: It is on its way.')
    expect(await type(play)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') })
    expect(await type(fail)).toMatchObject({ code: 1, stdout: expect.stringContaining('It is lost') })
  })

  it('certify and fix', async () => {
    const page = read('docs/tutorials/certify-and-fix.md')
    const port = String(await freePort())
    const local = (text: string) => text.replace('127.0.0.1:3000', `127.0.0.1:${port}`).replace('3000,', `${port},`)
    const { folder, type } = createProject({}, { env: { HANDOVER_SIM_PORT: String(await freePort()) } })
    const file = join(folder, 'service.mjs')
    // It writes a line when it listens, which the page leaves out.
    writeFileSync(file, local(blocks(page, 'js')[0]!).replace(`'127.0.0.1')`, `'127.0.0.1', () => console.log('up'))`))
    const startService = async () => {
      const service = startProgram([process.execPath, file])
      await service.stdout.until(/up/)
      return service
    }
    const [certify = '', fix = '', again = ''] = blocks(page, 'sh')
    const service = await startService()
    const [cause = ''] = blocks(page, '')
    const found = await type(local(certify))
    expect(found.code).toBe(1)
    expect(found.stdout.replace(/\s+/g, ' ')).toContain(cause.trim())
    expect((await type(fix)).code).toBe(0)
    service.child.kill('SIGKILL')
    await service.code
    await startService()
    expect(await type(local(again))).toMatchObject({ code: 0, stdout: expect.stringContaining('SIG-07') })
    // The rest of the webhook, with which the page ends: a body that is no JSON.
    expect(await type(local(again.replace('SIG-07', 'WIR-02')))).toMatchObject({ code: 0 })
  })
})
