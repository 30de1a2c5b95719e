/** `handover-sim validate`: files of every kind. */
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { type Files, folderOf } from '../scenario/format/written.ts'
import { fakeIo } from './fake-io.ts'

async function validate(files: Files, ...args: string[]) {
  const io = fakeIo(folderOf(files))
  const code = await main(['validate', ...args], {}, io)
  return { code, stdout: io.stdout.text, stderr: io.stderr.text }
}

const scenario = (name: string, steps = '  - press: handover\n  - expect: start\n') =>
  `version: 1\nname: ${name}\nsteps:\n${steps}`
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
  it('prints one line for each file with what it contains', async () => {
    const { code, stdout, stderr } = await validate(
      GOOD,
      'scenarios',
      'driver.yaml',
      'driver.mjs',
      'handover-sim.config.yaml',
      'other.json',
      '--allow-modules',
    )
    expect(stderr).toBe('')
    expect(stdout.split('\n')).toEqual([
      'ok  scenarios/a.yaml: 2 scenarios, 4 steps',
      'ok  scenarios/m.yaml: 2 scenarios, 4 steps',
      'ok  scenarios/parts/p.yaml: part, 1 step',
      'ok  driver.yaml: driver, 2 verbs',
      'ok  driver.mjs: driver, 2 verbs',
      'ok  handover-sim.config.yaml: config, 2 settings',
      'ok  other.json: config, 1 setting',
      '',
    ])
    expect(code).toBe(0)
  })

  it('checks the folder scenarios when no file is named', async () => {
    expect((await validate(GOOD)).stdout).toBe((await validate(GOOD, 'scenarios')).stdout)
  })

  it('prints hints without failing', async () => {
    const { code, stdout, stderr } = await validate(
      { 'a.yaml': scenario('A', '  - wait: 5s\n  - expect: start\n') },
      'a.yaml',
    )
    expect(stderr).toBe(
      'a.yaml:4:5: warning: expect waits by itself: leave the wait out, or give it more time with `within` (sleep-before-expect)\n',
    )
    expect(stdout).toBe('ok  a.yaml: 1 scenario, 2 steps\n')
    expect(code).toBe(0)
  })

  it('prints one line of JSON for each file with --json', async () => {
    const { stdout } = await validate(GOOD, 'scenarios/a.yaml', 'driver.yaml', '--json')
    expect(
      stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as unknown),
    ).toEqual([
      {
        v: 1,
        type: 'file',
        file: 'scenarios/a.yaml',
        kind: 'scenario',
        ok: true,
        scenarios: 2,
        steps: 4,
        problems: [],
        warnings: [],
      },
      { v: 1, type: 'file', file: 'driver.yaml', kind: 'driver', ok: true, verbs: 2, problems: [], warnings: [] },
    ])
  })
})

describe('invalid files', () => {
  it('treats a driver whose only verb is misspelt as a driver', async () => {
    const { code, stderr } = await validate({ 'driver.yaml': 'version: 1\nacept: { POST: /accept }\n' }, 'driver.yaml')
    expect(stderr).toContain('driver.yaml:2:1: acept: is not a known key; did you mean accept?')
    expect(code).toBe(2)
  })

  it('prints every problem of every file, and the valid files too', async () => {
    const files = {
      'a.yaml': scenario('A', '  - usr: Hi\n  - expect: start\n'),
      'b.yaml': scenario('B'),
      'driver.yaml': DRIVER.replace('accept', 'acept'),
      'handover-sim.config.yaml': 'prot: 1\n',
      'broken.yaml': 'version: {',
    }
    const { code, stdout, stderr } = await validate(
      files,
      'a.yaml',
      'b.yaml',
      'driver.yaml',
      'handover-sim.config.yaml',
      'broken.yaml',
    )
    expect(code).toBe(2)
    expect(stdout).toBe('ok  b.yaml: 1 scenario, 2 steps\n')
    expect(stderr).toContain(
      'a.yaml:4:5: steps[0].usr: is not a known key; did you mean user?\n  4 |   - usr: Hi\n    |     ^^^\n',
    )
    expect(stderr).toMatch(/^driver\.yaml:3:1: acept: .*did you mean accept\?/m)
    expect(stderr).toMatch(/^handover-sim\.config\.yaml:1:1: prot: is not a known key; did you mean port\?/m)
    expect(stderr).toMatch(/^broken\.yaml:\d+:\d+: Flow map/m)
  })

  it('reports names that another file uses', async () => {
    const { code, stdout, stderr } = await validate(
      { 'a.yaml': scenario('A'), 'b.yaml': scenario('A') },
      'a.yaml',
      'b.yaml',
    )
    expect(code).toBe(2)
    expect(stdout).toBe('ok  a.yaml: 1 scenario, 2 steps\n')
    expect(stderr).toMatch(/^b\.yaml:2:7: name: "A" is taken: a\.yaml:2 has it\./)
  })

  it('reports a problem of a part once, also when several scenarios include it', async () => {
    const include = '  - include: p.yaml\n  - expect: start\n'
    const files = {
      'a.yaml': scenario('A', include),
      'b.yaml': scenario('B', include),
      'p.yaml': PART.replace('accept', 'acept'),
    }
    const { code, stdout, stderr } = await validate(files, '.')
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr.match(/p\.yaml:4:12/g)).toHaveLength(1)
  })

  it('prints the problems with --json', async () => {
    const { stdout, stderr, code } = await validate({ 'a.yaml': scenario('A', '  - wait: 5\n') }, 'a.yaml', '--json')
    expect(code).toBe(2)
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: [{ at: 'a.yaml:4:11: steps[0].wait', excerpt: '  4 |   - wait: 5\n    |           ^' }],
    })
  })

  it('reports a file that does not exist', async () => {
    expect(await validate({}, 'no.yaml')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'no.yaml: cannot be read: there is no such file or folder.\n',
    })
  })
})

describe('regular expressions', () => {
  const withPattern = (pattern: string) =>
    scenario('A', `  - press: handover\n  - expect: { message: { message: { $re: '${pattern}' } } }\n`)

  it('refuses a text that is none', async () => {
    const { code, stderr } = await validate({ 'a.yaml': withPattern('(a') }, 'a.yaml')
    expect(stderr).toMatch(/^a\.yaml:5:\d+: steps\[1\]\S* is not a regular expression: /m)
    expect(code).toBe(2)
  })

  it.each([
    '^(?:a{4})*$',
    String.raw`(?<!a)\bfoo(-?bar)?\b(?=x)`,
    String.raw`\p{Lu}\p{Ll}+( \p{Lu}\p{Ll}+)*`,
    '/^(?:[[a-z]&&[a-m]]+ )+$/v',
  ])('accepts %s', async pattern => {
    expect(await validate({ 'a.yaml': withPattern(pattern) }, 'a.yaml')).toMatchObject({ code: 0, stderr: '' })
  })
})

it('reports an empty message of the user', async () => {
  const { code, stderr } = await validate({ 'a.yaml': scenario('A', '  - user: ""\n') }, 'a.yaml')
  expect(stderr).toMatch(/^a\.yaml:4:11: steps\[0\]\.user: must be a string that is not empty/)
  expect(code).toBe(2)
})
