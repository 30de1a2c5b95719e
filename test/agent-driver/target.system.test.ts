/** The intermediary as a process: started, ready, restarted, killed, lost, and never left behind. */
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { processRuns } from '../../src/base/runtime/node.ts'
import { freePort } from '../support/port.ts'
import { context, drive, never, openDesk, SIM, until } from './desk.ts'

/** A server with a child process; `MODE` selects how it misbehaves. It logs its actions into `log`. */
const APP = `import { spawn } from 'node:child_process'
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
const { MODE, PORT } = process.env
if (MODE === 'dies') { console.error('cannot read settings'); process.exit(1) }
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
writeFileSync('pids.tmp', JSON.stringify([process.pid, child.pid]))
renameSync('pids.tmp', 'pids')
let asked = 0
createServer((request, response) => {
  if (request.url === '/die') process.exit(7)
  if (request.url === '/health' && MODE === 'never') response.statusCode = 503
  if (request.url === '/health' && MODE === 'late' && ++asked < 3) response.statusCode = 503
  if (request.url === '/health' && MODE === 'hangs' && ++asked < 2) return
  response.end(JSON.stringify({ env: process.env, args: process.argv.slice(2) }))
}).listen(Number(PORT), '127.0.0.1', () => console.log('listening'))
process.on('SIGTERM', () => {
  appendFileSync('log', 'SIGTERM\\n')
  if (MODE !== 'deaf') process.exit(0)
})`

async function rig(mode = '', more = '') {
  const port = await freePort()
  const lost: string[] = []
  const text = `http: http://127.0.0.1:${port}
accept: { POST: /accept }
target:
  start: [${JSON.stringify(process.execPath)}, app.mjs, "at $(sim.url)"]
  env: { PORT: "${port}", MODE: "${mode}", WHO: "$(env.WHO)/$(sim.bot_id)" }
  ready: http://127.0.0.1:${port}/health
  ${more}`
  const onExit = (why: string) => void lost.push(why)
  const { driver, folder } = await drive(text, { files: { 'app.mjs': APP }, env: { WHO: 'me', KEPT: 'yes' }, onExit })
  const url = `http://127.0.0.1:${port}`
  const inFolder = (name: string) => readFileSync(join(folder, name), 'utf8')
  return {
    driver,
    folder,
    target: driver.target!,
    lost,
    ask: async (path = '/') => JSON.parse(await (await fetch(url + path)).text()),
    pids: () => JSON.parse(inFolder('pids')) as number[],
    log: () => (existsSync(join(folder, 'log')) ? inFolder('log') : ''),
  }
}

const problemOf = async (work: Promise<unknown>): Promise<string> => {
  const error = (await work.catch((thrown: unknown) => thrown)) as Error
  expect(error.name).toBe('TargetStartError')
  return error.message
}

describe('the start of the target', () => {
  it.each(['late', 'hangs'])('waits until a target that is %s is ready, and passes it the simulator', async mode => {
    const { target, ask } = await rig(mode)
    expect(target.running).toBe(false)
    await target.start()
    expect(target.running).toBe(true)
    const { env, args } = await ask()
    expect(args).toEqual([`at ${SIM.url}`])
    expect(env).toMatchObject({
      ...{ HANDOVER_SIM_URL: SIM.url, HANDOVER_SIM_API_KEY: SIM.apiKey, HANDOVER_SIM_BOT_API_KEY: SIM.botApiKey },
      ...{ HANDOVER_SIM_WEBHOOK_SECRET: SIM.apiKey, HANDOVER_SIM_BOT_ID: '7', WHO: 'me/7', KEPT: 'yes' },
    })
  })

  it('rejects at once when the target ends, with its output', async () => {
    const { target } = await rig('dies')
    expect(await problemOf(target.start())).toMatch(/exit code 1\. Its last output:\ncannot read settings$/)
    expect(target.running).toBe(false)
  })

  it('rejects when the target is not ready in time, and leaves no process', async () => {
    const { target, pids } = await rig('never', 'ready_timeout: 2s')
    expect(await problemOf(target.start())).toMatch(/health was not ready within 2s; at last: it answered 503\./)
    await until(() => !pids().some(processRuns))
  })

  it('rejects when another program serves at the address', async () => {
    const desk = await openDesk()
    const { driver } = await drive(`target: { start: [x], ready: "${desk.url}/health" }`)
    expect(await problemOf(driver.target!.start())).toContain(`another program answers at ${desk.url}/health already`)
  })

  it.each([
    ['[./none]', '"./none" cannot be started: there is no such program'],
    ['[node], cwd: nowhere', 'its folder '],
    ['[node, "a\\0b"]', 'null bytes'],
    ['[./script]', 'cannot be started: the file exists, but the interpreter that its first line names does not'],
  ])('start: %s', async (start, why) => {
    const text = `target: { start: ${start}, ready: "http://127.0.0.1:${await freePort()}/" }`
    const { driver, folder } = await drive(text, { files: { script: '#!/none/sh\n' } })
    chmodSync(join(folder, 'script'), 0o755)
    const message = await problemOf(driver.target!.start())
    expect(message).toMatch(/^The target did not start: /)
    expect(message).toContain(why)
  })

  it('is interrupted when the driver closes', async () => {
    const { driver, folder, target, pids } = await rig('never')
    const started = problemOf(target.start())
    await until(() => existsSync(join(folder, 'pids')))
    await driver.close()
    expect(await started).toMatch(/^The target did not start: the run is over\./)
    await until(() => !pids().some(processRuns))
    expect(await problemOf(target.start())).toBe('The target did not start: the run is over.')
  })
})

describe('the end of the target', () => {
  it.each<['stop' | 'kill' | 'close', string, string]>([
    ['stop', '', 'SIGTERM\n'],
    ['stop', 'deaf', 'SIGTERM\n'],
    ['kill', '', ''],
    ['close', '', 'SIGTERM\n'],
  ])('%s ends it with the processes that it started, mode %j', async (how, mode, logged) => {
    const { driver, target, pids, log, ask, lost } = await rig(mode, 'stop_timeout: 200ms')
    await target.start()
    await (how === 'close' ? driver.close() : target[how]())
    expect(target.running).toBe(false)
    expect(log()).toBe(logged)
    await expect(ask()).rejects.toThrow()
    await until(() => !pids().some(processRuns))
    if (how !== 'close') await target[how]()
    expect(lost).toEqual([])
  })

  it.each(['stop', 'kill'] as const)('after %s the target can start again, and calls continue', async how => {
    const { driver, target, pids } = await rig()
    await Promise.all([target.start(), target.kill(), target.start()])
    const before = pids()
    await target.start()
    expect(pids()).toEqual(before)
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'ok' })
    await target[how]()
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'unreachable' })
    await target.start()
    expect(pids()).not.toEqual(before)
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'ok' })
  })
})

describe('a target that ends by itself', () => {
  it('is reported with its last output, and can start again', async () => {
    const { target, ask, lost, pids } = await rig()
    await target.start()
    await ask('/die').catch(() => {})
    await until(() => lost.length > 0)
    expect(lost).toEqual(['The target ended during the run: it ended with exit code 7. Its last output:\nlistening'])
    expect(target.running).toBe(false)
    await until(() => !pids().some(processRuns))
    await target.start()
    expect(target.running).toBe(true)
    expect(lost).toHaveLength(1)
  })
})
