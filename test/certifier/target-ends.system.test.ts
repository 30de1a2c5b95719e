import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { wallTimer } from '../../src/base/runtime/clock.ts'
import { folderWith } from '../config/folder.ts'
import { writeDriverOf } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { certify, certifyExample } from './target.ts'

/** Ends at its first event. What it does when it is started again comes after this. */
const ENDS_ONCE = `
const { existsSync, writeFileSync } = require('node:fs')
const again = existsSync('started')
writeFileSync('started', '')
const answer = (request, response) => (request.url === '/health' || again ? response.end() : process.exit(3))
require('node:http').createServer(answer).listen(Number(process.env.PORT), '127.0.0.1')
`

/** Certifies a program by these checks. */
async function certifyProgram(source: string, ...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'handover-ends-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  writeFileSync(join(folder, 'program.cjs'), source)
  const start = [process.execPath, join(folder, 'program.cjs')]
  const driver = writeDriverOf({ folder, port, start, cwd: folder })
  return certify('--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver, ...flags)
}

/** Ends at a request without the header that names the algorithm, and answers all others, after this time. */
const diesOfAMissingHeader = (afterMs: number) => `
const server = require('node:http').createServer(async (request, response) => {
  request.resume()
  if (${afterMs} > 0) await new Promise(resolve => setTimeout(resolve, ${afterMs}))
  if (request.url !== '/health') request.headers['kindly-hmac-algorithm'].toString()
  response.end()
})
server.listen(Number(process.argv[2]), '127.0.0.1')
`

describe('an intermediary that nothing starts again', () => {
  // It answers and ends at once, so that no other unusual request is open when it ends.
  it('fails the check whose request it died of, and no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'handover-ends-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const port = await freePort()
    writeFileSync(join(folder, 'program.cjs'), diesOfAMissingHeader(0))
    const program = spawn(process.execPath, [join(folder, 'program.cjs'), String(port)])
    onTestFinished(() => void program.kill())
    const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--wait-for-target', '60s']
    const { checks, causes, stopped, exitCode } = await certify(...where, '--observe', '400ms', '--seed', '1')
    const failed = checks.filter(({ outcome }) => outcome === 'fail' || outcome === 'warn')
    expect(failed).toHaveLength(1)
    // Both send a request without this header, at about the same time.
    expect(['SIG-02', 'SIG-06']).toContain(failed[0]?.id)
    expect(failed[0]?.findings).toMatchObject([{ level: 'MUST', code: 'target-ended' }])
    expect(causes).toMatchObject([
      {
        check: failed[0]?.id,
        text: expect.stringMatching(/^The intermediary ended when it received REQUESTING TAKEOVER/),
      },
    ])
    const reasons = checks.filter(({ outcome }) => outcome === 'inconclusive').map(({ reason_code }) => reason_code)
    expect(reasons).toContain('target_unreachable')
    expect(reasons).toContain('stopped')
    expect(stopped).toMatch(/^the intermediary is gone: /)
    expect(exitCode).toBe(1)
  })
})

/** Certifies a program that runs already, and that nothing starts again. */
async function certifyRunning(source: string, ...flags: string[]) {
  const port = await freePort()
  const files = {
    'program.cjs': source,
    'driver.yaml': `http: http://127.0.0.1:${port}\naccept: { POST: /accept/$(chat.id) }\nsays: { POST: /says/$(chat.id) }\n`,
  }
  const folder = folderWith(files)
  const program = spawn(process.execPath, ['program.cjs', String(port)], { cwd: folder, stdio: 'ignore' })
  onTestFinished(() => void program.kill())
  const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--wait-for-target', '60s', '--observe', '400ms']
  return certify(...where, '--agent-driver', join(folder, 'driver.yaml'), '--seed', '1', ...flags)
}

/** Answers each request after 100 ms, so that several are open at a time, and throws where `breaks` is true. */
const opensSeveral = (breaks: string) => `
require('node:http').createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  await new Promise(resolve => setTimeout(resolve, 100))
  if (${breaks}) throw new Error('out of order')
  response.end()
}).listen(Number(process.argv[2]), '127.0.0.1')
`

const WEBHOOK = ['--profile', 'webhook', '--skip', 'ACK-03']

describe('an intermediary with several requests open that nothing starts again', () => {
  it('fails only the check whose event nobody else sends', async () => {
    const { checks, exitCode, stopped } = await certifyRunning(
      opensSeveral(`body.includes('CUSTOMER RATING')`),
      ...WEBHOOK,
    )
    const [first, ...others] = checks.filter(({ outcome }) => outcome === 'fail' || outcome === 'warn')
    expect(others).toEqual([])
    expect(first).toMatchObject({ id: 'EVT-01', findings: [{ level: 'MUST', code: 'target-ended' }] })
    for (const { outcome, reason_code } of checks)
      if (outcome === 'inconclusive')
        expect(['stopped', 'target_unreachable', 'no_visible_effect']).toContain(reason_code)
    expect(stopped).toMatch(/\. Look at EVT-01, and in its log, for what ended it$/)
    expect(exitCode).toBe(1)
  })

  it('fails no check when the request is like those of others, and names those that were open', async () => {
    const only = ['SIG-01', 'SIG-07', 'ACK-01', 'ACK-04', 'EVT-02', 'EVT-05', 'EVT-06'].flatMap(id => ['--only', id])
    // The fourth request ends it, while three others are open.
    const source = `let requests = 0
require('node:http').createServer(() => { if (++requests === 4) throw new Error('out of order') }).listen(Number(process.argv[2]), '127.0.0.1')`
    const { checks, exitCode, stopped } = await certifyRunning(source, ...only)
    expect(checks.filter(({ outcome }) => outcome === 'fail' || outcome === 'warn')).toEqual([])
    const suspects = checks.filter(({ reason }) => reason?.includes('it is not known which of these requests ended it'))
    // Those that waited to be accepted had no answer either.
    expect(suspects.length).toBeGreaterThanOrEqual(4)
    for (const { reason } of suspects) for (const { id } of suspects) expect(reason).toContain(` of ${id}`)
    expect(stopped).toContain(`Look at ${suspects.map(({ id }) => id).join(', ')}, and in its log`)
    expect(exitCode).toBe(4)
  })

  it('blames no request that was only open when it ended by what it did after an answer', async () => {
    const source = opensSeveral('false').replace(
      'response.end()',
      `response.end()
  if (body.includes('CUSTOMER RATING')) setTimeout(() => { throw new Error('later') }, 5)`,
    )
    const { checks, exitCode } = await certifyRunning(source, ...WEBHOOK)
    expect(checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(checks.find(({ id }) => id === 'EVT-01')?.reason).toMatch(
      /not known which of these requests ended it: .*CUSTOMER RATING GIVEN of EVT-01/,
    )
    expect(exitCode).toBe(4)
  })

  it('fails the check whose agent acted, when that ended it', async () => {
    const only = ['--only', 'FLW-01', '--only', 'SIG-01', '--only', 'EVT-06']
    const { checks } = await certifyRunning(opensSeveral(`request.url.startsWith('/accept')`), ...only)
    const failed = checks.filter(({ outcome }) => outcome === 'fail')
    expect(failed).toMatchObject([{ id: 'FLW-01', findings: [{ code: 'target-ended' }] }])
    expect(failed[0]?.findings[0]?.happened).toMatch(
      /^The intermediary ended when the agent driver performed accept in this check: connection closed by /,
    )
  })
})

/** Starts a program again 300 ms after each end, as nodemon, Docker and systemd do. */
function supervise(args: readonly string[]): { readonly starts: () => number } {
  let starts = 0
  let isOver = false
  let program: ChildProcess | null = null
  const start = () => {
    if (isOver) return
    starts++
    program = spawn(process.execPath, args).once('exit', () => wallTimer(300, start))
  }
  start()
  onTestFinished(() => {
    isOver = true
    program?.kill()
  })
  return { starts: () => starts }
}

describe('an intermediary that something else starts again', () => {
  it('fails the checks that end it, and others that ran meanwhile are repeated and pass', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'handover-ends-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const port = await freePort()
    writeFileSync(join(folder, 'program.cjs'), diesOfAMissingHeader(30))
    const { starts } = supervise([join(folder, 'program.cjs'), String(port)])
    const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--wait-for-target', '60s']
    const ids = ['SIG-01', 'SIG-02', 'SIG-06', 'SIG-07', 'WIR-01', 'WIR-02', 'ACK-01', 'ACK-02', 'ACK-04', 'EVT-03']
    const only = ids.flatMap(id => ['--only', id])
    const { checks, stopped } = await certify(...where, ...only, '--observe', '400ms', '--seed', '1')
    expect(stopped).toBeNull()
    expect(starts()).toBeGreaterThan(2)
    // Each sends a request without this header, and ends the program also when it runs alone.
    const failed = checks.filter(({ outcome }) => outcome !== 'pass')
    expect(failed.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['SIG-02', 'fail'],
      ['SIG-06', 'fail'],
    ])
    for (const { findings } of failed) expect(findings[0]).toMatchObject({ level: 'MUST', code: 'target-ended' })
    expect(failed[0]?.findings[0]?.happened).toContain('right after that, nothing listened at')
  })
})

describe('an intermediary that ends by itself', () => {
  it('is started again, and only the check that ends it fails', async () => {
    const ids = ['ACK-01', 'EVT-01', 'EVT-02', 'FLW-01']
    const folder = folderWith()
    const reports = ['pretty', 'html', 'junit', 'ctrf', 'tap', 'markdown'].map(name => `${name}=${join(folder, name)}`)
    const flags = [...ids.flatMap(id => ['--only', id]), '--no-rotate-unspecified', '--report', reports.join(',')]
    const { checks, stopped, exitCode } = await certifyExample('ends-at-unknown-events', ...flags)
    const results = checks.map(({ id, outcome, reason }) => [id, outcome, reason])
    expect(results).toEqual(ids.map(id => [id, id === 'EVT-01' ? 'fail' : 'pass', null]))
    const { findings: [first] = [], target_output: output } = checks.find(({ id }) => id === 'EVT-01') ?? {}
    expect(output).toMatchObject({ ended: 'the intermediary ended by itself with exit code 3' })
    expect(output?.lines).toContain('no case CUSTOMER RATING GIVEN')
    for (const name of ['pretty', 'html', 'junit', 'ctrf', 'tap', 'markdown'])
      expect(readFileSync(join(folder, name), 'utf8'), name).toContain('no case CUSTOMER RATING GIVEN')
    expect(first).toMatchObject({ level: 'MUST', code: 'target-ended' })
    expect(first?.happened).toMatch(/^The intermediary ended by itself after CUSTOMER RATING GIVEN: .* exit code 3/)
    expect({ stopped, exitCode }).toEqual({ stopped: null, exitCode: 1 })
  })

  it('is started again when that takes long, and the checks after it run', async () => {
    // It begins to listen later than something else would have to start it again, and is asked for both at once.
    const source = `
const server = require('node:http').createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (body.includes('CUSTOMER RATING')) process.exit(3)
  if (request.url !== '/health') await new Promise(resolve => setTimeout(resolve, 1000))
  response.end()
})
setTimeout(() => server.listen(Number(process.env.PORT), '127.0.0.1'), 3500)`
    const only = ['--only', 'SIG-01', '--only', 'EVT-01', '--observe', '400ms', '--no-rotate-unspecified']
    const { checks, stopped } = await certifyProgram(source, ...only)
    const results = checks.map(({ id, outcome, reason }) => [id, outcome, reason])
    expect([results, stopped]).toEqual([
      [
        ['SIG-01', 'pass', null],
        ['EVT-01', 'fail', null],
      ],
      null,
    ])
  })

  it('is not passed when no check ends it alone', async () => {
    const { checks } = await certifyProgram(ENDS_ONCE, '--only', 'SIG-01')
    expect(checks[0]).toMatchObject({ outcome: 'inconclusive', reason_code: 'target_ended', findings: [] })
    expect(checks[0]?.reason).toMatch(/ended by itself while SIG-01 ran \(it ended with exit code 3\)/)
  })

  it('ends the run when it cannot be started again', async () => {
    const source = `${ENDS_ONCE}\nif (again) process.exit(9)`
    const { stopped, checks, exitCode } = await certifyProgram(source, '--only', 'SIG', '--jobs', '1')
    expect(stopped).toMatch(/^the intermediary ended, and could not be started again: .* exit code 9/)
    expect(checks.map(({ reason_code }) => reason_code)).toEqual(checks.map(() => 'stopped'))
    expect(exitCode).toBe(4)
  })
})
