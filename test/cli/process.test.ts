/** The built package as a user runs it. `npm test` builds first. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { processRuns } from '../../src/base/runtime/node.ts'
import { folderWith } from '../config/folder.ts'
import { fakeOutput } from './fake-io.ts'
import { BIN, startProgram } from './program.ts'

const run = (argv: string[], cwd = folderWith(), env: Record<string, string> = {}) =>
  startProgram([process.execPath, BIN, ...argv], { cwd, env })

const urlIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+/.exec(text)![0]

describe('the built command', () => {
  it('--version', async () => {
    const { stdout, code } = run(['--version'])
    expect(await code).toBe(0)
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(stdout.text).toBe(`${version}\n`)
  })

  it('says in one line that its working directory was deleted', async () => {
    const script = 'rmdir "$PWD" && exec "$0" "$1" start --port 0'
    const child = spawn('/bin/sh', ['-c', script, process.execPath, BIN], {
      cwd: folderWith(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const stderr = fakeOutput()
    child.stderr.setEncoding('utf8').on('data', stderr.write)
    expect(await new Promise(resolve => child.on('close', resolve))).toBe(3)
    expect(stderr.text).toBe(
      'Failed to read the working directory: it was deleted. Change to a directory that exists.\n',
    )
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('starts, serves, and stops on %s with %i', async (signal, expected) => {
    const folder = folderWith()
    const { child, stdout, stderr, code } = run(['start', '--port', '0', '--ready-file', 'ready.json'], folder)
    const url = urlIn(await stdout.until(/\n/))
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
    await stderr.until(/handover {2}/)
    child.kill(signal)
    expect(await code).toBe(expected)
    expect(stdout.text).toBe(`Ready: ${url}\n`)
    expect(existsSync(join(folder, 'ready.json'))).toBe(false)
  })

  it.runIf(existsSync('/dev/full'))('a full disk is said in words, without a stack', async () => {
    const child = spawn('sh', ['-c', '"$0" "$1" config > /dev/full', process.execPath, BIN], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const stderr = fakeOutput()
    child.stderr.setEncoding('utf8').on('data', stderr.write)
    expect(await new Promise(resolve => child.on('close', resolve))).toBe(3)
    expect(stderr.text).toMatch(/^stdout cannot be written: .*no space left.*\.\n$/)
  })

  it('--demo answers a handover request, and stops the child process with it', async () => {
    const { child, stdout, stderr, code } = run(['start', '--port', '0', '--demo'])
    await stdout.until(/\n/)
    const webhook = /webhook {3}(http:\S+)/.exec(await stderr.until(/handover {2}/))![1]!
    child.kill('SIGINT')
    expect(await code).toBe(130)
    await expect(fetch(webhook)).rejects.toThrow()
  })

  it
    .runIf(process.platform === 'linux')
    .each([
      'start --port 0 --demo',
      'run --ui --self-test two.yaml',
      'run --self-test two.yaml --jobs 1',
      'certify --self-test',
    ])('the intermediary that it started ends with it when it is killed: %s', async command => {
    // The first scenario fails, so that its line is printed at once; the second runs until the end of the test.
    const scenario = (wait: string, status: string) =>
      `version: 1\nname: wait ${wait}\ntimeouts: { expect: 100ms }\nsteps: [press: handover, wait: ${wait}, check: { status: ${status} }]\n`
    const two = [scenario('1ms', 'agent'), scenario('10m', 'pending')]
    const { child, stdout, stderr } = run(command.split(' '), folderWith({ 'two.yaml': two.join('---\n') }))
    // The intermediary serves when a command says that it is ready, or shows a first result.
    await Promise.race([stdout.until(/http|wait 1ms/), stderr.until(/handover {2}|http|wait 1ms|SIG-/)])
    const children = `/proc/${child.pid}/task/${child.pid}/children`
    await expect.poll(() => readFileSync(children, 'utf8')).toMatch(/^\d+ $/)
    const intermediary = Number(readFileSync(children, 'utf8'))
    child.kill('SIGKILL')
    onTestFinished(() => {
      if (processRuns(intermediary)) process.kill(intermediary, 'SIGKILL')
    })
    await expect.poll(() => processRuns(intermediary), { timeout: 10_000 }).toBe(false)
  })

  it('continues when the reader of its output closes the pipe', async () => {
    const { child, stdout, code } = run(['start', '--port', '0', '--json'])
    const url = urlIn(await stdout.until(/\n/))
    child.stdout.destroy()
    for (let i = 0; i < 3; i++) expect((await fetch(`${url}/nothing`)).status).toBe(404)
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
    child.kill('SIGINT')
    expect(await code).toBe(130)
  })

  it('reads YAML and TypeScript config files', async () => {
    const files = { 'a.yaml': 'bot: { id: 5 }', 'b.ts': 'export default { bot: { id: 6 as number } }' }
    for (const [name, id] of [
      ['a.yaml', 5],
      ['b.ts', 6],
    ] as const) {
      const { stdout, code } = run(['config', '--json', '--config', name], folderWith(files))
      expect(await code).toBe(0)
      expect(JSON.parse(stdout.text)).toMatchObject({ settings: { 'bot.id': { value: id } } })
    }
  })

  it('exits with 2 for invalid flags and files, without stdout and without a stack', async () => {
    for (const argv of [
      ['start', '--prot', '1'],
      ['start', '--port', 'x'],
      ['config', '--config', 'none.yaml'],
    ]) {
      const { stdout, stderr, code } = run(argv)
      expect(await code).toBe(2)
      expect(stdout.text).toBe('')
      expect(stderr.text).not.toContain('    at ')
    }
  })

  it('exits with 3 when another simulator has the port, and says how to end it', async () => {
    const first = run(['start', '--port', '0'])
    const { port } = new URL(urlIn(await first.stdout.until(/\n/)))
    const second = run(['start', '--port', port])
    expect(await second.code).toBe(3)
    expect(second.stderr.text).toContain(`:${port}: the port is in use by another handover-sim`)
    expect(second.stderr.text).toContain(
      `end it with npx handover-sim stop --port ${port} (run and certify need no start`,
    )
    first.child.kill('SIGINT')
    await first.code
  })
})
