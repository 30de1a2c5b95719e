/** Tests which files load, in which forms, and what they include. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/evaluation/scenario/compile/compile.ts'
import { findFiles } from '../../../src/evaluation/scenario/load/find.ts'
import { loadScenarios, loadValues } from '../../../src/evaluation/scenario/load/load.ts'
import { allSteps, complaints, type Files, folderOf, HEAD, load, plansOf } from './written.ts'

const scenario = (name: string, steps = '  - expect: start\n') => `version: 1\nname: ${name}\nsteps:\n${steps}`
const namesOf = async (files: Files, patterns?: readonly string[]) => (await load(files, patterns)).map(one => one.name)

describe('one file', () => {
  const expected = { version: 1, name: 'T', steps: [{ expect: 'start' }] }
  const list = JSON.stringify([expected, { ...expected, name: 'B' }])

  it.each([
    ['s.yaml', scenario('T')],
    ['s.yml', `# a word\n---\n${scenario('T')}---\n`],
    ['s.json', JSON.stringify(expected)],
    ['s.mjs', `export default ${JSON.stringify(expected)}`],
    ['s.js', `module.exports = ${JSON.stringify(expected)}`],
  ])('loads %s', async (name, text) => {
    expect((await load({ [name]: text })).map(({ value }) => value)).toEqual([expected])
  })

  it.each([
    ['s.yaml', `${scenario('T')}---\n${scenario('B')}`],
    ['s.json', list],
    ['s.mjs', `export default ${list}`],
  ])('several scenarios load from %s', async (name, text) => {
    expect(await namesOf({ [name]: text })).toEqual(['T', 'B'])
  })

  it('lines are counted over all documents of a file', async () => {
    const [, second] = await plansOf(`${scenario('A')}---\n# more\n${scenario('B')}`)
    const place = { file: 's.yaml', line: 8, column: 7 }
    expect(second).toMatchObject({ place, steps: [{ place: { file: 's.yaml', line: 10, column: 5 } }] })
    expect(await complaints(`${scenario('A')}---\n${scenario('B', '  - wait: 5\n')}`)).toMatch(
      /^s\.yaml:9:11: steps\[0\]\.wait/,
    )
  })

  it('a problem in a list names the index of the scenario', async () => {
    const text = JSON.stringify([expected, { ...expected, name: 'U', steps: [{ wait: 5 }] }])
    expect(await complaints({ 's.json': text })).toMatch(/^s\.json:1:\d+: \[1\]\.steps\[0\]\.wait: /)
    expect(await complaints({ 's.mjs': `export default ${text}` })).toMatch(/^s\.mjs: \[1\]\.steps\[0\]\.wait: /)
  })

  it('a module without a default export, and .ts in an old Node, are refused', async () => {
    expect(await complaints({ 's.mjs': 'export const a = 1' })).toMatch(
      /^s\.mjs: must have a default export: export default define/,
    )
    const old = load({ 's.ts': 'export default {}' }, undefined, 'v22.10.0')
    await expect(old).rejects.toThrow('s.ts: needs Node 22.18 or newer, this is v22.10.0.')
  })

  it('loadValues checks values like files', async () => {
    const options = { cwd: '/', nodeVersion: process.version }
    expect(compile(await loadValues([expected], options))[0]!.name).toBe('T')
    await expect(loadValues([{ ...expected, steps: [{ wait: 5 }] }], options)).rejects.toThrow(
      /^scenario: \[0\]\.steps\[0\]\.wait: /,
    )
  })
})

it.skipIf(process.platform === 'win32')(
  'a file that several links lead to is found once, also where links lead back or nowhere',
  () => {
    const folder = folderOf({ 's/a.yaml': '', 's/deep/b.yaml': '', 'other/c.yaml': '', 's/node_modules/x/d.yaml': '' })
    const links = { back: '..', again: 'deep', itself: '.', round: 'round', nowhere: 'none' }
    for (const [name, to] of Object.entries(links)) symlinkSync(to, join(folder, 's', name))
    symlinkSync('../..', join(folder, 's/node_modules/up'))
    const names = findFiles(['s'], { cwd: folder }).map(({ name }) => name)
    expect(names).toEqual(['s/a.yaml', 's/back/other/c.yaml', 's/deep/b.yaml'])
  },
)

describe('which files', () => {
  const files = {
    'a.yaml': scenario('A'),
    'deep/b.yml': scenario('B'),
    'deep/er/c.json': JSON.stringify({ version: 1, name: 'C', steps: [{ expect: 'end' }] }),
    'deep/part.yaml': 'version: 1\nkind: partial\nsteps: [{ press: handover }]\n',
    'deep/notes.md': 'no scenario',
    'notes/a.md': 'no scenario',
    'node_modules/x/d.yaml': 'nonsense',
    '.hidden/e.yaml': 'nonsense',
    'deep/handover-sim.config.yaml': 'port: 1',
  }
  it.each<[string, string[], string[]]>([
    ['a file, named as asked for', ['./a.yaml'], ['./a.yaml']],
    ['a folder, parts and others passed over', ['.'], ['a.yaml', 'deep/b.yml', 'deep/er/c.json']],
    ['a folder below', ['deep'], ['deep/b.yml', 'deep/er/c.json']],
    ['a pattern', ['deep/*.yml'], ['deep/b.yml']],
    ['a deep pattern', ['**/*.{yml,json}'], ['deep/b.yml', 'deep/er/c.json']],
    ['a pattern of any depth', ['deep/**/c.json'], ['deep/er/c.json']],
    ['the order asked for, each once', ['deep/b.yml', 'a.yaml', '.'], ['deep/b.yml', 'a.yaml', 'deep/er/c.json']],
  ])('loads %s', async (_what, patterns, names) => {
    expect((await load(files, patterns)).map(({ file }) => file)).toEqual(names)
  })

  it.each([
    ['no.yaml', 'no.yaml: cannot be read: there is no such file or folder.'],
    ['deep/z*.yaml', 'deep/z*.yaml: matches no file.'],
    ['no/*.yaml', 'no/*.yaml: matches no file: there is no folder no.'],
    ['deep/notes.md', 'deep/notes.md: must end in .yaml, .yml, .json, .js, .mjs, .cjs, .ts, .mts, .cts.'],
    ['deep/part.yaml', 'deep/part.yaml:2:7: kind: is a part: it runs where a scenario includes it.'],
    ['notes', 'notes: has no scenario in it: no file ends in .yaml,'],
  ])('refuses %s', async (pattern, message) => {
    expect((await complaints(files, [pattern])).slice(0, message.length)).toBe(message)
  })

  it('an absolute pattern gives absolute names', async () => {
    const cwd = folderOf(files)
    const found = findFiles([`${cwd}/deep`], { cwd: '/' }).map(({ name }) => name)
    expect(found).toEqual([`${cwd}/deep/b.yml`, `${cwd}/deep/er/c.json`, `${cwd}/deep/part.yaml`])
    expect(await loadScenarios([`${cwd}/deep/*.yml`], { cwd: '/', nodeVersion: process.version })).toHaveLength(1)
  })

  it.each([
    ['a/*.yaml', ['a/b.yaml', 'a/c.yaml']],
    ['a/**/*.yaml', ['a/b.yaml', 'a/c.yaml', 'a/deep/er/d.yaml']],
    ['a/?.yaml', ['a/b.yaml', 'a/c.yaml']],
    ['a/{b,deep/er/d}.yaml', ['a/b.yaml', 'a/deep/er/d.yaml']],
    ['./a/[cd].yaml', ['a/c.yaml']],
  ])('are found by the pattern %s', (pattern, expected) => {
    const cwd = folderOf({ 'a/b.yaml': '', 'a/c.yaml': '', 'a/deep/er/d.yaml': '', 'ab.yaml': '' })
    expect(findFiles([pattern], { cwd }).map(({ name }) => name)).toEqual(expected)
  })
})

describe('include', () => {
  const PART = 'version: 1\nkind: partial\n'
  const accept = `${PART}params: { who: null, patience: 2s }\nsteps:\n  - expect: { start: { sender: { name: $(who) } }, within: $(patience) }\n`
  const including = (include: string, head = '') =>
    `${HEAD}${head}steps:\n  - press: handover\n  - include: ${include}\n`
  const stepsOf = async (files: Files) => allSteps((await plansOf(files))[0]!)

  it('inserts the steps with their own places and values', async () => {
    const files = {
      's.yaml': including('{ file: parts/accept.yaml, with: { who: Anna } }'),
      'parts/accept.yaml': accept,
    }
    expect((await stepsOf(files))[1]).toMatchObject({
      place: { file: 'parts/accept.yaml', line: 5, column: 5 },
      label: 'expect start { sender: { name: "Anna" } }',
      scope: { who: 'Anna', patience: '2s' },
      action: { withinMs: 2000 },
      turn: [1],
    })
  })

  it('a value that is known only in the run is inserted into the steps', async () => {
    const include = '{ file: a.yaml, with: { who: $(chat.name), patience: 1s } }'
    const [, step] = await stepsOf({ 's.yaml': including(include), 'a.yaml': accept })
    expect(step).toMatchObject({
      scope: { patience: '1s' },
      action: { tree: { body: { sender: { name: '$(chat.name)' } } } },
    })
  })

  it('passes values through several files', async () => {
    const files = {
      's.yaml': including('{ file: outer.yaml, with: { a: $(hello), b: there } }', 'vars: { hello: Hi }\n'),
      'outer.yaml': `${PART}params: { a: null, b: null }\nsteps:\n  - include: { file: deep/inner.yaml, with: { a: $(b), b: $(a) } }\n`,
      'deep/inner.yaml': `${PART}params: { a: null, b: null }\nsteps:\n  - expect: { message: { message: "$(a) $(b)" } }\n`,
    }
    expect((await stepsOf(files))[1]).toMatchObject({
      scope: { a: 'there', b: 'Hi' },
      label: 'expect message { message: "there Hi" }',
    })
  })

  it('a capture of a part is defined after it, and the part can be included twice', async () => {
    const files = {
      's.yaml': `${including('a.yaml')}  - include: a.yaml\n  - user: Hi $(who)\n`,
      'a.yaml': `${PART}steps:\n  - expect: { start: {}, capture: { who: body.sender.name } }\n`,
    }
    expect(await stepsOf(files)).toHaveLength(4)
  })

  it.each<[string, string, string, string]>([
    ['a value missing', 'a.yaml', accept, 's.yaml:5:14: steps[1].include: needs with: { who: ... }'],
    [
      'a value for nothing',
      '{ file: a.yaml, with: { who: A, pateince: 1s } }',
      accept,
      's.yaml:5:46: steps[1].include.with.pateince:',
    ],
    [
      'a circle',
      'a.yaml',
      `${PART}steps: [{ include: a.yaml }]\n`,
      'a.yaml:3:20: steps[0].include: includes a file that is',
    ],
    ['a scenario', 'a.yaml', scenario('A'), 'a.yaml:1:1: is included, so'],
    ['a file that is wrong', 'a.yaml', 'kind: partial\nsteps: []\n', 'a.yaml:1:1: version: is required: 1.'],
    ['a broken file', 'a.yaml', 'kind: {', 'a.yaml:1:8: '],
    [
      'a parameter of a taken name',
      'a.yaml',
      `${PART}params: { chat: x }\nsteps: [{ expect: start }]\n`,
      's.yaml:5:14: steps[1].include: a.yaml has a parameter chat',
    ],
    [
      'a mistake in a part once',
      'a.yaml\n  - include: a.yaml',
      `${PART}steps: [{ user: $(unknown) }]\n`,
      'a.yaml:3:17: steps[0].user: $(unknown) is not defined',
    ],
  ])('reports %s', async (_what, include, part, message) => {
    const report = await complaints({ 's.yaml': including(include), 'a.yaml': part }, ['s.yaml'])
    expect(report.split(message), report).toHaveLength(2)
  })
})
