/** Types the commands of docs/how-to/background-server.md. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/port.ts'
import { blocks, hasShell, pathOf, read } from './pages.ts'
import { createProject } from './project.ts'

const PAGE = read('docs/how-to/background-server.md')
const [whole = '', trap = '', readyFile = '', log = '', ampersand = '', ...others] = blocks(PAGE, 'sh')

const PACKAGE = JSON.stringify({
  private: true,
  scripts: { test: 'node test.mjs', leave: 'handover-sim start > left.out 2>&1 & handover-sim wait' },
})

/** Calls the simulator that the ready file or the variable names. */
const TEST = `import { readFileSync } from 'node:fs'
const { SIM_READY, HANDOVER_SIM_PORT } = process.env
const url = SIM_READY ? JSON.parse(readFileSync(SIM_READY, 'utf8')).url : 'http://127.0.0.1:' + HANDOVER_SIM_PORT
console.log('tested', (await fetch(url + '/_sim/readyz')).status)
`
const NPX = 'npx handover-sim'
const linesOf = (text: string) => text.split('\n').filter(line => /^(Ready|Stopped|No simulator|tested)/.test(line))

/** Makes a project with this package installed, and stops its simulator when the test ends. */
async function projectWith(test = TEST) {
  const port = await freePort()
  const env = { HANDOVER_SIM_PORT: String(port), npm_config_offline: 'true', npm_config_loglevel: 'error' }
  const project = createProject({ 'package.json': PACKAGE, 'test.mjs': test }, { env })
  const modules = join(project.folder, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(pathOf('.'), join(modules, 'handover-sim'))
  symlinkSync('../handover-sim/bin/handover-sim.js', join(modules, '.bin/handover-sim'))
  onTestFinished(async () => void (await project.type(`${NPX} stop`)))
  return { ...project, url: `http://127.0.0.1:${port}`, port }
}

describe.skipIf(!hasShell)('the background server (needs bash)', () => {
  it('starts, is tested and stops', async () => {
    expect(others).toEqual([])
    const { type, url, port } = await projectWith()
    const { code, stdout, stderr } = await type(whole)
    expect([code, ...linesOf(stdout)], stderr).toEqual([0, `Ready: ${url}`, 'tested 200', `Stopped: ${url}`])
    expect(stderr).toMatch(new RegExp(`To stop it: npx handover-sim stop --port ${port}$`, 'm'))
  })

  it('stops when the tests fail', async () => {
    const { type, url } = await projectWith('process.exit(1)')
    const { code, stdout } = await type(trap)
    expect([code, ...linesOf(stdout)]).toEqual([1, `Ready: ${url}`, `Stopped: ${url}`])
  })

  it('takes a free port, which the ready file names, and stops twice without an error', async () => {
    const { folder, type } = await projectWith()
    const { code, stdout, stderr } = await type(`${readyFile}${NPX} stop --ready-file sim.json`)
    expect(code, stderr).toBe(0)
    const [ready = '', ...after] = linesOf(stdout)
    const stopped = ready.replace('Ready', 'Stopped')
    expect(after).toEqual(['tested 200', stopped, 'No simulator runs: its ready file "sim.json" is not there'])
    expect(existsSync(join(folder, 'sim.json'))).toBe(false)
  })

  it('writes the log to a file', async () => {
    const { folder, type } = await projectWith()
    expect(await type(log)).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(folder, 'simulator.log'), 'utf8')).toContain('Runs in the background')
  })

  it('ends with npx, and not with a script that leaves it running', async () => {
    const { type, url } = await projectWith()
    const realNpx = { PATH: process.env.PATH ?? '' }
    const { code, stdout, stderr } = await type(ampersand, realNpx)
    expect([code, ...linesOf(stdout)], stderr).toEqual([0, `Ready: ${url}`, 'tested 200'])
    const after = await type(`${NPX} stop; npm run leave; ${NPX} stop`)
    expect(linesOf(after.stdout)).toEqual([`No simulator runs: ${url}`, `Ready: ${url}`, `Stopped: ${url}`])
  })
})
