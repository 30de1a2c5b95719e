/** Certifies the example as a function platform runs it: stopped after its last answer, until the next request comes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { pathOf, read } from '../docs/pages.ts'
import { freePort } from '../support/port.ts'
import { certify, startReceiver } from './target.ts'

/** Starts the example behind a front that stops it between requests, and resolves with the address of the front. */
async function startFrozen(platformUrl: string): Promise<string> {
  const port = await freePort()
  const env = { ...process.env, PORT: String(port), HANDOVER_SIM_URL: platformUrl }
  const program = spawn(process.execPath, [pathOf('examples/intermediary/main.js')], { env })
  onTestFinished(() => void program.kill('SIGKILL'))
  await once(program.stdout, 'data') // Ready
  program.stderr.resume()
  let open = 0
  return startReceiver((request, response) => {
    if (open++ === 0) program.kill('SIGCONT')
    response.once('close', () => {
      if (--open === 0) program.kill('SIGSTOP')
    })
    const { url: path, method, headers } = request
    const inner = send({ host: '127.0.0.1', port, path, method, headers, agent: false }, answer => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    inner.on('error', () => response.destroy())
    request.on('error', () => inner.destroy()).pipe(inner)
  })
}

it('FLW-01 finds that nothing runs after its answer, although other checks send requests', async () => {
  const port = await freePort()
  const target = await startFrozen(`http://127.0.0.1:${port}`)
  const driver = read('examples/intermediary/driver.yaml').replace('http://127.0.0.1:3000', new URL(target).origin)
  const file = `${folderWith({ 'driver.yaml': driver })}/driver.yaml`
  const only = ['FLW-01', 'SIG', 'EVT'].flatMap(id => ['--only', id])
  const where = ['--target', target, '--agent-driver', file, '--port', String(port)]
  const { checks } = await certify(...where, ...only, '--jobs', '8', '--within', '2s', '--observe', '400ms')
  const found = checks.find(({ id }) => id === 'FLW-01')
  expect(found).toMatchObject({ outcome: 'fail', findings: [{ code: 'call-missing' }] })
  expect(found?.findings[0]?.happened).toMatch(/the intermediary may stop after its answer, as on a function platform/)
})
