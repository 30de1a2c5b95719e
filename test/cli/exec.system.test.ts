/** `handover-sim exec`: the built package as a user runs it. `npm test` builds first. */
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { processRuns } from '../../src/base/runtime/node.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { receiver } from '../webhooks/receiver.ts'
import { BIN, startProgram } from './program.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/intermediary/main.js', import.meta.url))

function exec(argv: readonly string[], { cwd = folderWith(), env = {} as Record<string, string> } = {}) {
  return { ...startProgram([process.execPath, BIN, 'exec', ...argv], { cwd, env }), cwd }
}

const node = (script: string) => ['--', process.execPath, '--input-type=module', '-e', script]
const CALL = `const { HANDOVER_SIM_URL: url, HANDOVER_SIM_API_KEY: key, HANDOVER_SIM_BOT_ID: bot } = process.env
const control = async (path, body) => (await fetch(url + '/_sim' + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json()
const call = (path, body) => fetch(url + '/api/v2/handover/' + path, { method: 'POST', headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' }, body: JSON.stringify({ bot_id: Number(bot), ...body }) })
`
/** A program that prints its process id and runs until it is ended. */
const ENDLESS = `process.stdout.write('pid ' + process.pid + '\\n'); setInterval(() => {}, 1000)`

describe('exec', () => {
  it('gives the command a simulator, and its streams; exit code 0', async () => {
    const script = `${CALL}
const { chat_id } = await control('/chats', {})
console.log((await call('start', { chat_id, sender: { name: 'Anna' } })).status, process.env.HANDOVER_SIM_WEBHOOK_URL, process.argv[1])`
    const { stdout, stderr, code } = exec(['--webhook-url', 'http://127.0.0.1:9/hook', ...node(script), 'last'])
    expect([await code, stdout.text, stderr.text]).toEqual([0, '200 http://127.0.0.1:9/hook last\n', ''])
  })

  it.each([
    ['process.exit(7)', 7],
    ["process.kill(process.pid, 'SIGTERM')", 143],
  ])('passes on how the command ended: %s', async (script, expected) => {
    const { stderr, code } = exec(node(script))
    expect(await code).toBe(expected)
    expect(stderr.text).toContain('the command ended with')
  })

  it('shows everything that the simulator saw in a report', async () => {
    const script = `${CALL}
await control('/chats', { id: 'one' })
await call('message', { chat_id: 'one', message: 'Hi' })
process.exit(3)`
    const { code, cwd } = exec(['--report', 'json=r.json,html=r.html', ...node(script)])
    expect(await code).toBe(3)
    const { scenarios } = JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8'))
    const failure = { happened: 'the command ended with exit code 3' }
    expect(scenarios).toMatchObject([{ outcome: 'fail', failures: [failure] }])
    expect(readFileSync(join(cwd, 'r.html'), 'utf8')).toContain('/api/v2/handover/message')
  })

  it('gives chats new ids in each run, except with --seed', async () => {
    const script = `${CALL}console.log((await control('/chats', {})).chat_id)`
    const runs = [[], [], ['--seed', '7'], ['--seed', '7']].map(flags => exec([...flags, ...node(script)]))
    expect(await Promise.all(runs.map(({ code }) => code))).toEqual([0, 0, 0, 0])
    const ids = runs.map(({ stdout }) => stdout.text)
    expect([new Set(ids).size, ids[2]]).toEqual([3, ids[3]])
  })

  it('--strict fails for a finding of the linter', async () => {
    const script = `${CALL}
const { chat_id } = await control('/chats', {})
await control('/chats/' + chat_id + '/press', { button: 'handover' })
await call('start', { chat_id, sender: { name: 'Anna' }, colour: 'red' })`
    expect(await exec(node(script)).code).toBe(0)
    const { stderr, code } = exec(['--strict', ...node(script)])
    expect([await code, stderr.text]).toEqual([1, expect.stringContaining('colour')])
  })

  it('fails when a scenario of POST /_sim/plays did not pass, whatever the command says', async () => {
    const yaml = 'version: 1\nname: Played\ntimeouts: { expect: 100ms }\nsteps:\n  - check: { status: agent }\n'
    const script = `${CALL}await control('/plays', ${JSON.stringify({ yaml })})`
    const { stderr, code } = exec(['--webhook-url', 'http://127.0.0.1:9/hook', ...node(script)])
    expect([await code, stderr.text]).toEqual([1, expect.stringContaining('Played')])
  })

  it('passes a signal on, and kills the command after --grace', async () => {
    const polite = exec(node(`process.on('SIGINT', () => process.exit(9)); ${ENDLESS}`))
    await polite.stdout.until(/pid \d+\n/)
    polite.child.kill('SIGINT')
    expect(await polite.code).toBe(9)

    const deaf = exec(['--grace', '300ms', ...node(`process.on('SIGTERM', () => {}); ${ENDLESS}`)])
    const pid = Number(/pid (\d+)/.exec(await deaf.stdout.until(/pid \d+\n/))?.[1])
    deaf.child.kill('SIGTERM')
    expect(await deaf.code).toBe(137)
    expect(processRuns(pid)).toBe(false)
  })

  it('ends programs that the command started and left', async () => {
    const script = `import { spawn } from 'node:child_process'
spawn(process.execPath, ['-e', ${JSON.stringify(ENDLESS)}], { stdio: 'inherit' }).unref()
setTimeout(() => process.exit(0), 500)`
    const { stdout, code } = exec(node(script))
    const pid = Number(/pid (\d+)/.exec(await stdout.until(/pid \d+\n/))?.[1])
    expect(await code).toBe(0)
    expect(processRuns(pid)).toBe(false)
  })

  it.each([
    [
      '--wait-for http://127.0.0.1:9/ --wait-timeout 200ms -- true',
      /^--wait-for: http:\S+ does not serve after 200ms: /,
    ],
    ['-- no-such-program-here', /^exec: the command did not start: .*no-such-program-here.*\n$/],
  ])('exits with 3 and says why for exec %s', async (line, message) => {
    const { stderr, code } = exec(line.split(' '))
    expect([await code, stderr.text]).toEqual([3, expect.stringMatching(message)])
  })

  it('does not start the command after a signal during --wait-for', async () => {
    const starting = await receiver((_got, response) => response.writeHead(503).end())
    const { child, stdout, code } = exec(['--wait-for', starting.url, ...node(ENDLESS)])
    await starting.arrived(1)
    child.kill('SIGTERM')
    expect([await code, stdout.text]).toEqual([143, ''])
  })

  it('--scenarios runs them against the service that the command starts, and ends it', async () => {
    const port = await freePort()
    const driver = readFileSync(new URL('../../examples/intermediary/driver.yaml', import.meta.url), 'utf8')
    const scenario = `version: 1\nname: Takeover\nsteps:\n  - press: handover\n  - agent: accept\n  - expect: start\n`
    const host = `127.0.0.1:${port}`
    const cwd = folderWith({ 'one.yaml': scenario, 'driver.yaml': driver.replace('127.0.0.1:3000', host) })
    const flags = `--scenarios one.yaml --agent-driver driver.yaml --webhook-url http://${host}/webhook`.split(' ')
    const run = (...more: string[]) =>
      exec([...more, ...flags, '--', process.execPath, EXAMPLE], { cwd, env: { PORT: String(port) } })
    const { stdout, code } = run()
    expect([await code, stdout.text]).toEqual([0, expect.stringContaining('1 passed')])
    await expect(fetch(`http://${host}/`)).rejects.toThrow()

    // A driver that starts the service too, and one service that both have started.
    appendFileSync(join(cwd, 'driver.yaml'), `target: { start: [node, x.js], ready: http://${host}/ }\n`)
    const twice = run()
    expect([await twice.code, twice.stderr.text]).toEqual([2, expect.stringContaining('starts a target already')])
    const once = run('--wait-for', `http://${host}/webhook`)
    expect([await once.code, once.stderr.text]).toEqual([0, expect.stringContaining('is running already')])
  })
})
