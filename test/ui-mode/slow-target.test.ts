/** `run --ui` while the agent driver starts the intermediary, which takes long. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startRun } from '../runner/targets.ts'
import { freePort } from '../support/port.ts'
import { ACCEPTED, connect, scenarioFile } from './ui-client.ts'

describe('a target that starts slowly', () => {
  const files = async () => ({
    'a.yaml': scenarioFile('Ada', ACCEPTED),
    'd.yaml': `version: 1
target: { start: [node, -e, "require('fs').writeFileSync('up', String(process.pid)); setInterval(() => {}, 1000)"], ready: "http://127.0.0.1:${await freePort()}/", ready_timeout: 60s }
`,
  })
  const start = async () => {
    const target = `http://127.0.0.1:${await freePort()}/webhook`
    const flags = ['a.yaml', '--ui', '--target', target, '--port', '0', '--agent-driver', 'd.yaml']
    const run = startRun(await files(), flags)
    const ui = await connect(run.io)
    const pid = () => Number(readFileSync(join(run.folder, 'up'), 'utf8') || Number.NaN)
    await expect.poll(() => existsSync(join(run.folder, 'up')) && pid() > 0, { timeout: 20_000 }).toBe(true)
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
