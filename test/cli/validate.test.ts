/** `handover-sim validate`: files of every kind. */
import { describe, expect, it } from 'vitest'
import { type Files, folderOf } from '../scenario/format/written.ts'
import { runCommand } from './fake-io.ts'

const validate = (files: Files, ...args: string[]) => runCommand(['validate', ...args], { cwd: folderOf(files) })

const STEPS = '  - press: handover\n  - expect: start\n'
const scenario = (name: string, steps = STEPS) => `version: 1\nname: ${name}\nsteps:\n${steps}`
const DRIVER =
  'version: 1\nhttp: http://127.0.0.1:3100\naccept: { POST: "/desk/$(chat.id)/accept" }\ninbox: { GET: "/desk/$(chat.id)/inbox" }\n'
const PART = 'version: 1\nkind: partial\nsteps:\n  - agent: accept\n'
const GOOD = {
  'scenarios/a.yaml': `${scenario('A')}---\n${scenario('B')}`,
  'scenarios/m.yaml': `matrix: { x: [1, 2] }\n${scenario('M')}`,
  'scenarios/parts/p.yaml': PART,
  'driver.yaml': DRIVER,
  'handover-sim.config.yaml': 'version: 1\nport: 1\nknobs: { typing.webhook: off }\n',
  'other.json': '{ "version": 1, "port": 2 }',
  'driver.mjs': 'export const accept = async () => {}\nexport const inbox = async () => []\n',
}
describe('valid files', () => {
  it('have one line each with what they contain; scenarios, config and its driver when no file is named', async () => {
    const names = ['driver.yaml', 'driver.mjs', 'handover-sim.config.yaml', 'other.json']
    const ofScenarios = [
      'ok  scenarios/a.yaml: 2 scenarios, 4 steps',
      'ok  scenarios/m.yaml: 2 scenarios, 4 steps',
      'ok  scenarios/parts/p.yaml: part, 1 step',
    ]
    const { code, out, err } = await validate(GOOD, 'scenarios', ...names, '--allow-modules')
    expect([code, err]).toEqual([0, ''])
    const others = ['driver, 2 verbs', 'driver, 2 verbs', 'config, 2 settings', 'config, 1 setting']
    const ofOthers = names.map((name, index) => `ok  ${name}: ${others[index]}`)
    expect(out.split('\n')).toEqual([...ofScenarios, ...ofOthers, ''])
    const ofConfig = 'ok  handover-sim.config.yaml: config, 2 settings'
    expect((await validate(GOOD)).out.split('\n')).toEqual([...ofScenarios, ofConfig, ''])
    const named = { 'handover-sim.config.yaml': 'agent_driver: desk.yaml\n' }
    const misspelt = await validate({ ...named, 'desk.yaml': 'sayz: { POST: "http://127.0.0.1:9/" }\n' })
    expect([misspelt.code, misspelt.err]).toEqual([2, expect.stringMatching(/^desk\.yaml:1:1: sayz/)])
    expect((await runCommand(['validate', 'builtin:'])).out).toContain('ok  builtin:happy-path.yaml: 1 scenario, 14')
  })

  it('may have hints', async () => {
    const steps = '  - wait: 5s\n  - expect: start\n'
    const { code, out, err } = await validate({ 'a.yaml': scenario('A', steps) }, 'a.yaml')
    expect([code, out]).toEqual([0, 'ok  a.yaml: 1 scenario, 2 steps\n'])
    expect(err).toMatch(/^a\.yaml:4:5: warning: expect waits by itself: .* \(sleep-before-expect\)\n$/)
  })

  it('are one line of JSON each with --json', async () => {
    const { out } = await validate(GOOD, 'scenarios/a.yaml', 'driver.yaml', '--json')
    const common = { v: 1, type: 'file', ok: true, problems: [], warnings: [] }
    const [scenarios, driver] = out.split('\n')
    expect(JSON.parse(scenarios!)).toEqual({
      ...common,
      file: 'scenarios/a.yaml',
      kind: 'scenario',
      scenarios: 2,
      steps: 4,
    })
    expect(JSON.parse(driver!)).toEqual({ ...common, file: 'driver.yaml', kind: 'driver', verbs: 2 })
  })
})

const withPattern = (pattern: string) =>
  scenario('A', `  - press: handover\n  - expect: { message: { message: { $re: '${pattern}' } } }\n`)

const MISSPELT = /^a\.yaml:4:5: .* did you mean user\?\n {2}4 \| {3}- usr: Hi\n {4}\| {5}\^\^\^\n/

describe('invalid files', () => {
  it.each<[string, Files, RegExp]>([
    ['a misspelt key, with its line', { 'a.yaml': scenario('A', '  - usr: Hi\n') }, MISSPELT],
    ['a driver', { 'driver.yaml': 'version: 1\nacept: { POST: /a }\n' }, /^driver\.yaml:2:1: acept: .* mean accept\?/],
    ['a config file', { 'a.yaml': 'version: 1\nprot: 1\nseed: 2\n' }, /^a\.yaml:2:1: prot: .*did you mean port\?/],
    ['broken YAML', { 'a.yaml': 'version: {' }, /^a\.yaml:\d+:\d+: Flow map/],
    ['no file', {}, /^a\.yaml: cannot be read: there is no such file or folder\.\n$/],
    ['no regular expression', { 'a.yaml': withPattern('(a') }, /^a\.yaml:5:\d+: .* is not a regular expression: /],
    ['an empty message', { 'a.yaml': scenario('A', '  - user: ""\n') }, /^a\.yaml:4:11: .* string that is not empty/],
  ])('%s', async (_, files, message) => {
    const { code, out, err } = await validate(files, Object.keys(files)[0] ?? 'a.yaml')
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(message)
  })

  it('have every problem, and the valid files are listed too', async () => {
    const files = {
      'a.yaml': scenario('A', '  - usr: Hi\n  - expect: start\n'),
      'b.yaml': scenario('B'),
      'driver.yaml': DRIVER.replace('accept', 'acept'),
    }
    const { code, out, err } = await validate(files, 'a.yaml', 'b.yaml', 'driver.yaml')
    expect([code, out]).toEqual([2, 'ok  b.yaml: 1 scenario, 2 steps\n'])
    expect(err.match(/^[a-z.]+:\d+:\d+: /gm)).toEqual(['a.yaml:4:5: ', 'driver.yaml:3:1: '])
  })

  it('have their problems in JSON with --json', async () => {
    const { out, err, code } = await validate({ 'a.yaml': scenario('A', '  - wait: 5\n') }, 'a.yaml', '--json')
    expect([code, err]).toEqual([2, ''])
    const problem = { at: 'a.yaml:4:11: steps[0].wait', excerpt: '  4 |   - wait: 5\n    |           ^' }
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [problem] })
  })
})
