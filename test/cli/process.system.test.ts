/** The built package as a user runs it. `npm test` builds first. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { processRuns } from '../../src/base/runtime/node.ts'
import { startServer } from '../../src/server/start.ts'
import { folderWith } from '../config/folder.ts'
import { createControlClient } from '../support/control-client.ts'
import { BIN, startProgram } from './program.ts'

const run = (argv: string[], cwd = folderWith(), env: Record<string, string> = {}) =>
  startProgram([process.execPath, BIN, ...argv], { cwd, env })

const urlIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+/.exec(text)![0]

describe('the built command', () => {
  it('says in one line that its working directory was deleted', async () => {
    const script = 'rmdir "$PWD" && exec "$0" "$1" start --port 0'
    const { stderr, code } = startProgram(['/bin/sh', '-c', script, process.execPath, BIN])
    expect(await code).toBe(3)
    expect(stderr.text).toMatch(/^Failed to read the working directory: it was deleted\. .*\n$/)
  })

  it.runIf(existsSync('/dev/full'))('a full disk is said in words, without a stack', async () => {
    const { stderr, code } = startProgram(['/bin/sh', '-c', '"$0" "$1" config > /dev/full', process.execPath, BIN])
    expect(await code).toBe(3)
    expect(stderr.text).toMatch(/^stdout cannot be written: .*no space left.*\.\n$/)
  })

  it('--demo plays a handover in the help desk of its intermediary, and stops that with it', async () => {
    const folder = folderWith()
    const { child, stdout, stderr, code } = run('start --port 0 --demo --ready-file ready.json'.split(' '), folder)
    const url = urlIn(await stdout.until(/\n/))
    const webhook = /webhook {3}(http:\S+)/.exec(await stderr.until(/handover {2}/))![1]!
    const ask = createControlClient({ url })
    expect((await ask('GET', '/agent')).body).toMatchObject({ plays: 'demo', webhook_url: webhook })
    const { chat_id } = (await ask('POST', '/chats', { body: {} })).body
    await ask('POST', `/chats/${chat_id}/press?wait=ack`, { body: { button: 'handover' } })
    expect((await ask('GET', `/agent/inbox?chat_id=${chat_id}`)).body.items).toMatchObject([{ request: true }])
    await ask('POST', '/agent', { body: { verb: 'accept', chat_id } })
    expect((await ask('GET', `/wait?call=start&chat_id=${chat_id}`)).body).toMatchObject({ status: 200 })
    child.kill('SIGINT')
    expect(await code).toBe(130)
    expect(stdout.text).toBe(`Ready: ${url}\n`)
    expect(existsSync(join(folder, 'ready.json'))).toBe(false)
    await expect(fetch(webhook)).rejects.toThrow()
  })

  it
    .runIf(process.platform === 'linux')
    .each(['start --port 0 --demo', 'run --ui --self-test two.yaml', 'run --self-test two.yaml --jobs 1'])(
    'the intermediary that it started ends with it when it is killed: %s',
    async command => {
      // The first scenario fails, so that its line is printed at once; the second runs until the end of the test.
      const scenario = (wait: string, status: string) =>
        `version: 1\nname: wait ${wait}\ntimeouts: { expect: 100ms }\nsteps: [press: handover, wait: ${wait}, check: { status: ${status} }]\n`
      const two = [scenario('1ms', 'agent'), scenario('10m', 'pending')]
      const { child, stdout, stderr } = run(command.split(' '), folderWith({ 'two.yaml': two.join('---\n') }))
      // The intermediary serves when a command says that it is ready, or shows a first result.
      await Promise.race([stdout.until(/http|wait 1ms/), stderr.until(/handover {2}|http|wait 1ms/)])
      const children = `/proc/${child.pid}/task/${child.pid}/children`
      await expect.poll(() => readFileSync(children, 'utf8')).toMatch(/^\d+ $/)
      const intermediary = Number(readFileSync(children, 'utf8'))
      child.kill('SIGKILL')
      onTestFinished(() => {
        if (processRuns(intermediary)) process.kill(intermediary, 'SIGKILL')
      })
      await expect.poll(() => processRuns(intermediary)).toBe(false)
    },
  )

  it.each(['stdout', 'stderr'] as const)('continues when the reader of %s closes the pipe', async name => {
    const program = run(['start', '--port', '0', ...(name === 'stdout' ? ['--json'] : [])])
    const url = urlIn(await program.stdout.until(/\n/))
    program.child[name].destroy()
    for (let i = 0; i < 3; i++) expect((await fetch(`${url}/nothing`)).status).toBe(404)
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
    program.child.kill('SIGTERM')
    expect(await program.code).toBe(143)
  })

  it.each<Record<string, string>>([{}, { NO_PROXY: 'intern.example' }])(
    'reaches a simulator on this machine although the environment names a proxy, and %j',
    async env => {
      const server = await startServer({ port: 0, host: '127.0.0.1' })
      onTestFinished(() => server.close())
      // Nothing listens there.
      const proxy = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: '1' }
      expect(await run(['wait', '--url', server.url], folderWith(), { ...proxy, ...env }).code).toBe(0)
    },
  )
})
