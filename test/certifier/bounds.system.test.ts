import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { certify, startReceiver } from './target.ts'

const QUICK = ['--observe', '100ms', '--set', 'webhook.timeout=300ms', '--no-rotate-unspecified']

describe('a certification ends with a report', () => {
  it('when the target answers no event', async () => {
    const target = await startReceiver(() => {})
    const { stopped, checks, exitCode } = await certify('--target', target, '--jobs', '2', ...QUICK)
    expect(stopped).toMatch(/the intermediary answered no event of 4 checks in a row/)
    expect(checks.filter(({ outcome }) => outcome === 'fail').length).toBeLessThanOrEqual(5)
    expect(checks.some(({ reason_code }) => reason_code === 'stopped')).toBe(true)
    expect(exitCode).toBe(1)
  })

  it('when the target closes every connection', async () => {
    const target = await startReceiver(request => void request.socket.destroy())
    const { stopped } = await certify('--target', target, '--jobs', '2', ...QUICK)
    expect(stopped).toMatch(/answered no event of 4 checks in a row/)
  })

  it('when the target ends in the middle, without a failure of every check', async () => {
    let events = 0
    const target = await startReceiver((_, response, server) => {
      response.end('{}')
      if (++events < 4) return
      server.close()
      server.closeAllConnections()
    })
    const { stopped, checks } = await certify('--target', target, '--jobs', '1', ...QUICK)
    expect(stopped).toMatch(/the intermediary is gone: nothing listens at 127.0.0.1:\d+ \(ECONNREFUSED\)/)
    expect(stopped).toMatch(/\. Look at SIG-03, and in its log, for what ended it$/)
    const failed = checks.filter(({ outcome }) => outcome === 'fail')
    expect(failed.length).toBeLessThanOrEqual(3)
    expect(checks.at(-1)).toMatchObject({ outcome: 'inconclusive', reason_code: 'stopped' })
  })

  it('when the run takes too long', async () => {
    const target = await startReceiver(() => {})
    const flags = ['--timeout', '1s', '--only', 'SIG', '--set', 'webhook.timeout=20s']
    const { stopped, checks, exitCode } = await certify('--target', target, ...flags)
    expect(stopped).toBe('the run took longer than 1s (--timeout)')
    expect(checks.map(({ outcome }) => outcome)).toEqual(checks.map(() => 'inconclusive'))
    expect(exitCode).toBe(4)
  })

  it('after as many failures as --bail allows', async () => {
    const target = await startReceiver((_, response) => void response.writeHead(500).end())
    const { stopped } = await certify('--target', target, '--jobs', '1', '--bail', '1', '--only', 'SIG', ...QUICK)
    expect(stopped).toBe('1 check failed (--bail 1), so no other one was started')
  })

  it('at Ctrl-C, with exit code 130', async () => {
    const arrived = Promise.withResolvers<void>()
    const target = await startReceiver(() => arrived.resolve())
    const io = fakeIo(process.cwd())
    const code = main(['certify', '--port', '0', '--report', 'json', '--target', target], {}, io)
    await arrived.promise
    io.signal('SIGINT')
    expect(await code).toBe(130)
    expect(JSON.parse(io.stdout.text)).toMatchObject({ stopped: 'interrupted by SIGINT', exit_code: 130 })
    expect(io.exits).toEqual([])
  })
})

it('a second Ctrl-C ends a certification at once', async () => {
  const arrived = Promise.withResolvers<void>()
  const target = await startReceiver(() => arrived.resolve())
  const io = fakeIo(process.cwd())
  const code = main(['certify', '--port', '0', '--target', target], {}, io)
  await arrived.promise
  io.signal('SIGINT')
  io.signal('SIGINT')
  expect(io.exits).toEqual([130])
  await code
})

it('ends the process although the target has not answered a delivery', async () => {
  const target = await startReceiver(() => {})
  // Of this check, deliveries have connections of their own.
  const flags = ['--only', 'WIR-01', '--timeout', '1s', '--set', 'webhook.timeout=10m']
  const command = fileURLToPath(new URL('../../bin/handover-sim.js', import.meta.url))
  const child = spawn(process.execPath, [command, 'certify', '--target', target, ...flags])
  child.stderr.resume()
  const report = await text(child.stdout)
  expect(report).toContain('stopped early: the run took longer than 1s (--timeout)')
  expect(await new Promise(resolve => child.once('close', resolve))).toBe(4)
})
