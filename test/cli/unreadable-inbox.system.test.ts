/** An inbox of another form is a mistake of the driver: each command says so at its first read, with the same exit code. */
import { expect, it } from 'vitest'
import { serveExample } from '../support/example-service.ts'
import { freePort } from '../support/port.ts'
import { runCommand } from './fake-io.ts'

it.each([
  ['run', '--builtin', '--only', 'happy path'],
  ['certify', '--only', 'FLW-02', '--only', 'ACK-01'],
  ['explore', '--conversations', '1'],
  ['load', 'builtin:happy-path.yaml', '--arrivals', '5/s', '--for', '1s', '--no-own-limit'],
])('%s', async (command, ...flags) => {
  const port = String(await freePort())
  const patches = [{ file: 'desk-api.js', find: 'ok(chat.inbox)', replacement: "ok('hello')" }]
  const example = await serveExample({ platformUrl: `http://127.0.0.1:${port}`, patches })
  const where = ['--port', port, '--target', example.webhookUrl, '--agent-driver', 'd.json']
  const { code, out, err } = await runCommand([command, ...where, ...flags], { files: { 'd.json': example.driver } })
  expect(code, out + err).toBe(3)
  expect(out + err).toMatch(/inbox .*must be .*hello/s)
})
