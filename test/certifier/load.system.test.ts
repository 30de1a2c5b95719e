/** CON-01 against servers with a short listen backlog, and without an answer. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { certify } from './target.ts'

/** While it works on a request it accepts no connection, and two wait to be accepted. */
const NODE = `const block = new Int32Array(new SharedArrayBuffer(4))
require('node:http').createServer((request, response) => {
  Atomics.wait(block, 0, 0, 250)
  response.end()
}).listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 1 })`

/** Its backlog is that of http.server: 5. */
const PYTHON = `import sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        time.sleep(0.2)
        self.send_response(200)
        self.end_headers()
HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()`

/** A help desk that does nothing, at once. */
const DRIVER = 'export const accept = () => {}, says = () => {}, inbox = () => []'

const hasPython = spawnSync('python3', ['-c', '']).status === 0

it.each([
  { name: 'Node with a backlog of 1', command: process.execPath, file: 'program.cjs', source: NODE, isThere: true },
  { name: 'http.server of Python', command: 'python3', file: 'program.py', source: PYTHON, isThere: hasPython },
])('$name: the number of events at once that have no answer is found', async ({ command, file, source, isThere }) => {
  if (!isThere) return
  const folder = folderWith({ [file]: source, 'driver.mjs': DRIVER })
  const port = await freePort()
  const program = spawn(command, [join(folder, file), String(port)], { stdio: 'ignore' })
  onTestFinished(() => void program.kill())
  const where = ['--target', `http://127.0.0.1:${port}/`, '--wait-for-target', '60s']
  const driver = ['--agent-driver', join(folder, 'driver.mjs')]
  const { checks } = await certify(...where, ...driver, '--only', 'CON-01', '--ack-limit', '2s', '--observe', '50ms')
  expect(checks).toMatchObject([{ id: 'CON-01', outcome: 'fail' }])
  const [{ findings, measurements }] = checks as [(typeof checks)[0]]
  const { events_at_once_answered: answered = 0 } = measurements
  expect(answered).toBeLessThan(100)
  expect(findings[0]).toMatchObject({ level: 'MUST', code: 'answers-missing-at-once', details: { answered } })
  expect(findings[0]?.happened).toMatch(
    /^Of \d+ events sent at once, each on a connection of its own, \d+ had no answer: .*timeout: .*$/,
  )
  expect(findings[0]?.hint).toMatch(/^The usual cause is a short listen backlog.* Some servers have 5: /)
})

it('events that have no answer under load are not said to have another one', async () => {
  // Answers all events but the request.
  const source = `require('node:http').createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (!body.includes('REQUESTING')) response.end()
}).listen(Number(process.argv[2]), '127.0.0.1')`
  const folder = folderWith({ 'program.cjs': source, 'driver.mjs': DRIVER })
  const port = await freePort()
  const program = spawn(process.execPath, [join(folder, 'program.cjs'), String(port)], { stdio: 'ignore' })
  onTestFinished(() => void program.kill())
  const where = ['--target', `http://127.0.0.1:${port}/`, '--wait-for-target', '60s', '--set', 'webhook.timeout=2s']
  const driver = ['--agent-driver', join(folder, 'driver.mjs')]
  const { checks } = await certify(...where, ...driver, '--only', 'CON-01', '--no-rotate-unspecified')
  expect(checks[0]?.measurements.events_at_once_answered).toBe(20)
  expect(checks[0]?.findings.map(({ happened }) => happened)).toEqual([
    'With 20 chats at once, 20 events had no answer: timeout: no complete answer within 2s.',
  ])
})
