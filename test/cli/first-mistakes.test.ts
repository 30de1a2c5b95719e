/** What goes wrong in the first hour: each is reported with its place and the fix. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadExports } from '../../src/base/files/user-files.ts'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { fakeIo } from './fake-io.ts'

const SCENARIO = 'version: 1\nname: One\nsteps:\n  - press: handover\n  - expect: start\n'
const DRIVER = 'version: 1\nhttp: http://127.0.0.1:3100\naccept: { POST: /accept }\ninbox: { GET: /inbox }\n'
const AT = ['--target', 'http://127.0.0.1:1/webhook']

async function rendered(files: Record<string, string>, ...argv: string[]) {
  const io = fakeIo(folderWith(files))
  const code = await main(argv, {}, io)
  return { code, err: io.stderr.text }
}

const STEPS = '{ "press": "handover" }, '.repeat(6)

it.each<[string, Record<string, string>, string[], string | RegExp]>([
  [
    'a driver is no scenario',
    { 'd.yaml': DRIVER },
    ['run', 'd.yaml', ...AT],
    /^d\.yaml:1:1: is an agent driver and not a scenario: pass it with --agent-driver\.\n.*\n.*\n$/,
  ],
  [
    'a scenario is no driver',
    { 's.yaml': SCENARIO },
    ['run', 's.yaml', '--port', '0', '--agent-driver', 's.yaml', ...AT],
    /^s\.yaml:3:1: this is a scenario and not an agent driver\.\n.*\n.*\n$/,
  ],
  [
    'nothing named, and no folder of that name',
    {},
    ['run', ...AT],
    'There is no folder scenarios here: name the files or folders to run, such as npx handover-sim run happy.yaml, or pass --builtin for the shipped scenarios.\n',
  ],
  [
    'no run to judge again',
    { 's.yaml': SCENARIO },
    ['report', 'none.jsonl', '--scenarios', 's.yaml'],
    /^none\.jsonl: cannot be read: there is no such file/,
  ],
  [
    'a comma too many in JSON, at its place',
    { 's.json': `{ "version": 1, "name": "J",\n"steps": [${STEPS}]\n}\n` },
    ['validate', 's.json'],
    /^s\.json:2:161: is not valid JSON/,
  ],
  [
    'a comma too many at the beginning of JSON',
    { 's.json': `{"a":1,"b":[,],\n"steps": [${STEPS}]\n}\n` },
    ['validate', 's.json'],
    /^s\.json:1:13: is not valid JSON/,
  ],
  [
    'a module whose package is not installed',
    { 's.mjs': `import { press } from 'no-such-package'\nexport default press\n` },
    ['validate', 's.mjs', '--allow-modules'],
    's.mjs: cannot be loaded: the package no-such-package is not installed; install it: npm install --save-dev no-such-package.\n',
  ],
  [
    'a module that throws, with the line',
    { 's.mjs': `\n\nthrow new Error('boom')\n` },
    ['validate', 's.mjs', '--allow-modules'],
    /^s\.mjs: cannot be loaded: boom \(line 3:7\)\.\n$/,
  ],
  [
    'a merge key of YAML 1.1',
    { 's.yaml': `${SCENARIO}  - check: &c { status: agent }\n  - check: { <<: *c, typing: false }\n` },
    ['validate', 's.yaml'],
    /<<: is not a known key; YAML 1\.2 has no merge keys: write the keys out, or alias the whole value\./,
  ],
  ['an address without http', { 's.yaml': SCENARIO }, ['run', 's.yaml', '--target', '127.0.0.1:3000'], /such as http:/],
])('%s', async (_, files, argv, message) => {
  const { code, err } = await rendered(files, ...argv)
  expect(code).toBe(2)
  if (typeof message === 'string') expect(err).toBe(message)
  else expect(err).toMatch(message)
})

it('a module that never finishes loading', async () => {
  const folder = folderWith({ 's.mjs': 'await new Promise(() => {})\nexport default 1\n' })
  const file = { name: 's.mjs', path: join(folder, 's.mjs'), extension: '.mjs' }
  await expect(loadExports(file, process.version, 50)).rejects.toThrow(
    's.mjs: cannot be loaded: it does not finish loading; see what it awaits at its top level.',
  )
})
