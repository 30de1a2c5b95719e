/** `run --ui` with processes: an intermediary that starts slowly, and the editor of the user. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { startRun } from '../runner/targets.ts'
import { freePort } from '../support/port.ts'
import { ACCEPTED, connect, scenarioFile, startUi } from './ui-client.ts'

describe('a target that starts slowly', () => {
  const SCRIPT = "require('fs').writeFileSync('up', String(process.pid)); setInterval(() => {}, 1000)"
  const start = async () => {
    const [port, ready] = [await freePort(), await freePort()]
    const driver = `version: 1
target: { start: [node, -e, "${SCRIPT}"], ready: "http://127.0.0.1:${ready}/", ready_timeout: 60s }
`
    const flags = ['--ui', '--target', `http://127.0.0.1:${port}/webhook`, '--port', '0', '--agent-driver', 'd.yaml']
    const run = startRun({ 'a.yaml': scenarioFile('Ada', ACCEPTED), 'd.yaml': driver }, ['a.yaml', ...flags])
    const ui = await connect(run.io)
    const pid = () => Number(readFileSync(join(run.folder, 'up'), 'utf8') || Number.NaN)
    await expect.poll(() => existsSync(join(run.folder, 'up')) && pid() > 0).toBe(true)
    return { ...run, ui, pid: pid() }
  }
  const isRunning = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  it('does not keep the page waiting, and Stop ends the wait for it', async () => {
    const { ui, pid } = await start()
    await ui.run()
    await ui.until(({ run }) => run.state === 'running')
    expect((await ui.send('POST', '/stop')).status).toBe(200)
    const { run, scenarios } = await ui.until(state => state.run.state === 'idle')
    expect(run.problem).toBeNull()
    expect(scenarios.get('Ada')).toMatchObject({ state: 'idle', last: null })
    expect(isRunning(pid)).toBe(true)
  })

  it('ends with the command', async () => {
    const { io, code, pid } = await start()
    io.signal('SIGINT')
    expect(await code).toBe(130)
    expect(isRunning(pid)).toBe(false)
    expect(io.stderr.text).toBe('')
  })
})

it('opens a file at a line in the editor, and says how to name one', async () => {
  const { ui } = await startUi({ 'a.yaml': scenarioFile('Ada', ACCEPTED) })
  const folder = folderWith()
  onTestFinished(() => void delete process.env.LAUNCH_EDITOR)
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
