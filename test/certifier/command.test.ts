/** `handover-sim certify`: files, lists and reports. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { CHECKS } from '../../src/running/certifier/checks/index.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { type Files, folderOf } from '../scenario/format/written.ts'
import { startReceiver } from './target.ts'

async function run(files: Files, ...argv: string[]) {
  const io = fakeIo(folderOf(files))
  const code = await main(argv, {}, io)
  return { code, stdout: io.stdout.text, stderr: io.stderr.text, cwd: io.cwd }
}

const certify = (files: Files, ...flags: string[]) => run(files, 'certify', '--self-test', '--dry-run', ...flags)

const QUICK = ['--observe', '100ms', '--no-rotate-unspecified']
const KNOWN = 'version: 1\nexpected:\n  - check: SIG-03\n    because: the old gateway\n    until: 2099-01-31\n'

describe('expected failures', () => {
  it('do not fail the run, and are shown as failures with their reason', async () => {
    const target = await startReceiver((_, response) => void response.writeHead(401).end())
    const known = KNOWN.replace('SIG-03', 'SIG-01')
    const flags = ['--only', 'SIG-01', ...QUICK, '--expected-failures', 'known.yaml', '--report', 'json']
    const { code, stdout } = await run({ 'known.yaml': known }, 'certify', '--port', '0', '--target', target, ...flags)
    expect(code).toBe(0)
    const { checks, level } = JSON.parse(stdout)
    expect(level).toBeNull()
    expect(checks[0]).toMatchObject({ outcome: 'fail', expected_failure: { status: 'failed', until: '2099-01-31' } })
  })

  it.each([
    ['- check: SIG-3\n    because: x', 'known.yaml:3:12: expected[0].check: "SIG-3" is no check; did you mean SIG-03?'],
    ['- check: SIG-03', 'known.yaml:3:5: expected[0].because: is required'],
    ['- check: SIG-03\n    because: x\n    untill: 2027-01-01', 'untill: is not a known key; did you mean until?'],
    ['- check: SIG-03\n    because: x\n    until: 2027-02-30', 'must be a day such as 2027-01-31'],
    ['- { check: SIG-03, because: x }\n  - { check: SIG-03, because: y }', 'SIG-03 is in the list already'],
  ])('names the place of a mistake: %s', async (lines, message) => {
    const { code, stderr } = await certify(
      { 'known.yaml': `version: 1\nexpected:\n  ${lines}\n` },
      '--expected-failures',
      'known.yaml',
    )
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

describe('capabilities', () => {
  it('make checks not applicable', async () => {
    const driver = 'export const accept = () => {}, says = () => {}, inbox = () => []'
    const files = { 'c.yaml': 'version: 1\nattachments: false\n', 'driver.mjs': driver }
    const target = await startReceiver((_, response) => void response.end())
    const where = ['--port', '0', '--target', target, '--agent-driver', 'driver.mjs']
    const flags = ['--only', 'ATT-01', '--capabilities', 'c.yaml', '--report', 'json']
    const { stdout } = await run(files, 'certify', ...where, ...flags)
    const [check] = JSON.parse(stdout).checks
    expect(check).toMatchObject({ outcome: 'not_applicable', reason_code: 'capability_missing' })
  })

  it('name the place of a mistake', async () => {
    const { code, stderr } = await certify({ 'c.json': '{ "version": 1, "typng": false }' }, '--capabilities', 'c.json')
    expect(code).toBe(2)
    expect(stderr).toMatch(/c\.json:1:17: typng: .*did you mean typing\?/)
  })
})

it('exits with 70 at an internal error, and shows where it happened', async () => {
  const io = fakeIo(folderOf({}))
  Object.defineProperty(io, 'cwd', {
    get: () => {
      throw new TypeError('broken')
    },
  })
  expect(await main(['certify', '--self-test', '--dry-run', '--capabilities', 'c.yaml'], {}, io)).toBe(70)
  expect(io.stderr.text).toMatch(/^Internal error of handover-sim: TypeError: broken\n +at /)
})

it('validate checks both kinds of files', async () => {
  const files = { 'known.yaml': KNOWN, 'c.yaml': 'version: 1\ntyping: false\n' }
  const { code, stdout } = await run(files, 'validate', 'known.yaml', 'c.yaml')
  expect(code).toBe(0)
  expect(stdout).toBe('ok  known.yaml: expected failures, 1 check\nok  c.yaml: capabilities, 1 missing\n')
})

describe('without checking anything', () => {
  it('lists the checks, as text or as JSON', async () => {
    const { code, stdout } = await run({}, 'certify', '--list', '--only', 'SIG-01')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^SIG-01 {2}A valid signature is accepted {2}MUST, webhook, A4 WH2\n {2}sends {5}A validly/)
    const json = (await run({}, 'certify', '--list', '--json')).stdout.trimEnd().split('\n')
    expect(json.map(line => (JSON.parse(line) as { id: string }).id)).toEqual(CHECKS.map(({ id }) => id))
  })

  it('plans the checks of a run: without a driver, those of the profile webhook', async () => {
    const { stdout } = await run({}, 'certify', '--dry-run', '--target', 'http://127.0.0.1:1/webhook')
    const webhook = CHECKS.filter(({ profile }) => profile === 'webhook')
    expect(stdout.trimEnd().split('\n')).toHaveLength(webhook.length + 1)
    expect(stdout).toContain(`${webhook.length} checks would run`)
  })

  it('explains a check, and names the nearest for an unknown one', async () => {
    const { code, stdout } = await run({}, 'certify', '--explain', 'sig-01')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^SIG-01 {2}A valid signature is accepted/)
    expect(stdout).toContain('How to fix it')
    expect((await run({}, 'certify', '--explain', 'SIG-1')).stderr).toContain('did you mean SIG-01?')
  })

  it('says that a check needs an agent driver', async () => {
    const { id } = CHECKS.find(({ profile }) => profile === 'flow')!
    const { code, stderr } = await run({}, 'certify', '--only', id, '--target', 'http://127.0.0.1:1/webhook')
    expect(code).toBe(2)
    expect(stderr).toBe(`${id}: of the profile flow, which needs an agent driver: pass --agent-driver FILE.\n`)
  })

  it('refuses --json without --list', async () => {
    expect((await run({}, 'certify', '--json')).stderr).toContain('--report json')
  })
})

it('writes every report, with the command that runs the check again', async () => {
  const reports = 'json=r/c.json,junit=r/c.xml,markdown=r/c.md,badge=r/c.svg,tap=r/c.tap,ctrf=r/ctrf.json'
  const target = await startReceiver((_, response) => void response.end())
  const flags = ['--only', 'SIG-01', '--seed', '7', '--observe', '100ms', '--report', reports]
  const { code, stdout, stderr, cwd } = await run({}, 'certify', '--port', '0', '--target', target, ...flags)
  expect(code).toBe(0)
  expect(stdout).toMatch(/PASS SIG-01/)
  expect(stderr).toContain('badge report: r/c.svg')
  for (const name of ['c.json', 'c.xml', 'c.md', 'c.svg', 'c.tap', 'ctrf.json'])
    expect(existsSync(join(cwd, 'r', name))).toBe(true)
  const body = JSON.parse(readFileSync(join(cwd, 'r/c.json'), 'utf8'))
  expect(body.checks[0].rerun).toMatch(/--only SIG-01 --seed 7 --target http:\S+ --port 0 --observe 100ms$/)
  expect(body).toMatchObject({ level: null, level_obstacle: 'partial', partial: true, seed: 7 })
})
