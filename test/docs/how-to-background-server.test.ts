/** Runs the commands of docs/how-to/background-server.md as a user types them, through npx. */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { blocks, hasShell, pathOf, read } from './pages.ts'

const [whole = '', trap = '', readyFile = '', log = '', ampersand = '', ...others] = blocks(
  read('docs/how-to/background-server.md'),
  'sh',
)

const PACKAGE = JSON.stringify({
  private: true,
  scripts: {
    test: 'node test.mjs',
    leave: 'handover-sim start > left.out 2>&1 & handover-sim wait',
  },
})

/** Calls the simulator that the ready file or the variable names. */
const TEST = `import { readFileSync } from 'node:fs'
const { SIM_READY, HANDOVER_SIM_PORT } = process.env
const url = SIM_READY ? JSON.parse(readFileSync(SIM_READY, 'utf8')).url : 'http://127.0.0.1:' + HANDOVER_SIM_PORT
console.log('tested', (await fetch(url + '/_sim/readyz')).status)
`

/** A project with the package of this checkout. `type` resolves when every process that writes to the output has ended. */
async function project({ test = TEST, realNpx = false } = {}) {
  const folder = folderWith({ 'package.json': PACKAGE, 'test.mjs': test })
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(pathOf('.'), join(modules, 'handover-sim'))
  symlinkSync('../handover-sim/bin/handover-sim.js', join(modules, '.bin/handover-sim'))
  // `npx handover-sim` takes a second of processor time more than the command itself.
  const quick = folderWith({
    npx: `#!/bin/sh\nshift\nexec '${process.execPath}' '${pathOf('bin/handover-sim.js')}' "$@"\n`,
  })
  chmodSync(join(quick, 'npx'), 0o755)
  const port = await freePort()
  const { npm_lifecycle_script: _, ...inherited } = process.env
  const PATH = realNpx ? inherited.PATH : `${quick}:${inherited.PATH}`
  const env = {
    ...inherited,
    PATH,
    HANDOVER_SIM_PORT: String(port),
    npm_config_offline: 'true',
    npm_config_loglevel: 'error',
  }
  const type = (typed: string) =>
    new Promise<{ failed: boolean; stdout: string; stderr: string }>(resolve =>
      execFile('bash', ['--norc', '-euc', typed], { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) =>
        resolve({ failed: error !== null, stdout, stderr }),
      ),
    )
  onTestFinished(async () => void (await type(DIRECT('stop'))))
  return { folder, type, url: `http://127.0.0.1:${port}`, port }
}

const DIRECT = (command: string) => `'${process.execPath}' node_modules/.bin/handover-sim ${command}`

const linesOf = (text: string) => text.split('\n').filter(line => /^(Ready|Stopped|No simulator|tested)/.test(line))

describe.skipIf(!hasShell)('the background server (needs bash)', () => {
  it('starts, is tested and stops', async () => {
    const { type, url, port } = await project()
    const { failed, stdout, stderr } = await type(whole)
    expect({ failed, lines: linesOf(stdout) }, stderr).toEqual({
      failed: false,
      lines: [`Ready: ${url}`, 'tested 200', `Stopped: ${url}`],
    })
    expect(stderr).toMatch(
      new RegExp(
        `^Runs in the background \\(process \\d+\\)\\. To stop it: npx handover-sim stop --port ${port}$`,
        'm',
      ),
    )
    expect(others).toEqual([])
  })

  it('stops when the tests fail', async () => {
    const { type, url } = await project({ test: 'process.exit(1)' })
    const { failed, stdout } = await type(trap)
    expect({ failed, lines: linesOf(stdout) }).toEqual({ failed: true, lines: [`Ready: ${url}`, `Stopped: ${url}`] })
  })

  it('takes a free port, which the ready file names, and stops twice without an error', async () => {
    const { folder, type } = await project()
    const { failed, stdout, stderr } = await type(`${readyFile}npx handover-sim stop --ready-file sim.json`)
    expect(failed, stderr).toBe(false)
    const [ready, ...after] = linesOf(stdout)
    const stopped = `Stopped: ${ready?.replace('Ready: ', '')}`
    expect(after).toEqual(['tested 200', stopped, 'No simulator runs: its ready file "sim.json" is not there'])
    expect(existsSync(join(folder, 'sim.json'))).toBe(false)
  })

  it('names the token in the command that stops it, when a flag sets it', async () => {
    const { type, url, port } = await project()
    const { stdout, stderr } = await type(`${DIRECT('start --detach --token abc')}; ${DIRECT('stop --token=abc')}`)
    expect(stderr).toContain(`To stop it: npx handover-sim stop --port ${port} --token TOKEN\n`)
    expect(linesOf(stdout)).toEqual([`Ready: ${url}`, `Stopped: ${url}`])
  })

  it('writes the log to a file', async () => {
    const { folder, type } = await project()
    expect(await type(log)).toMatchObject({ failed: false, stderr: '' })
    expect(readFileSync(join(folder, 'simulator.log'), 'utf8')).toContain('Runs in the background')
  })

  it('ends with npx, and not with a script that leaves it running', async () => {
    const { type, url } = await project({ realNpx: true })
    const { failed, stdout, stderr } = await type(ampersand.replace('npx handover-sim wait', DIRECT('wait')))
    expect({ failed, lines: linesOf(stdout) }, stderr).toEqual({
      failed: false,
      lines: [`Ready: ${url}`, 'tested 200'],
    })
    const after = await type(`${DIRECT('stop')}; npm run leave; ${DIRECT('stop')}`)
    expect(linesOf(after.stdout)).toEqual([`No simulator runs: ${url}`, `Ready: ${url}`, `Stopped: ${url}`])
  })
})
