/** Types the commands of two tutorials as they stand, in an empty folder. `npm test` builds first. */
import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { blocks, hasShell, pathOf, read, run } from './pages.ts'

/** A folder with a program `npx` that runs this package, and a way to type commands in it. */
function emptyFolder(env: Readonly<Record<string, string>>) {
  const programs = folderWith({
    npx: `#!/bin/sh\nshift\nexec "${process.execPath}" "${pathOf('bin/handover-sim.js')}" "$@"\n`,
  })
  chmodSync(join(programs, 'npx'), 0o755)
  const cwd = folderWith()
  const type = (commands: string) =>
    run('sh', ['-euc', `cd "${cwd}"\n${commands}`], { PATH: `${programs}:${process.env.PATH}`, ...env })
  return { cwd, type }
}

describe.skipIf(!hasShell)('the tutorial', () => {
  it('from a chat to a test', async () => {
    const port = await freePort()
    const { cwd, type } = emptyFolder({ HANDOVER_SIM_PORT: String(port) })
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

    const kept = await type(keep)
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('it passes with the') })
    expect(readFileSync(join(cwd, 'scenarios/parcel.yaml'), 'utf8')).toContain('says: It is on its way.')
    expect(await type(play)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') })
    expect(await type(fail)).toMatchObject({ code: 1, stdout: expect.stringContaining('It is lost') })
  })

  it('certify and fix', async () => {
    const page = read('docs/tutorials/certify-and-fix.md')
    const [port, platform] = [await freePort(), await freePort()]
    const here = (text: string) => text.replace('127.0.0.1:3000', `127.0.0.1:${port}`).replace('3000,', `${port},`)
    const { cwd, type } = emptyFolder({ HANDOVER_SIM_PORT: String(platform) })
    const file = join(cwd, 'service.mjs')
    writeFileSync(file, here(blocks(page, 'js')[0]!))
    const startService = async () => {
      const child = spawn(process.execPath, [file], { stdio: 'inherit' })
      onTestFinished(() => void child.kill('SIGKILL'))
      await expect
        .poll(() => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => null))
        .not.toBeNull()
      return child
    }
    const [certify = '', fix = '', again = ''] = blocks(page, 'sh')
    const service = await startService()
    const [cause = ''] = blocks(page, '')
    const found = await type(here(certify))
    expect(found.code).toBe(1)
    expect(found.stdout.replace(/\s+/g, ' ')).toContain(cause.trim())
    expect((await type(fix)).code).toBe(0)
    service.kill('SIGKILL')
    await startService()
    expect(await type(here(again))).toMatchObject({ code: 0, stdout: expect.stringContaining('SIG-07') })
  })
})
