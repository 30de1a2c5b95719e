/** Runs the programs of docs/reference/signature-vectors.md in each language that is installed: as they are, and with a bug. */
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { blocks, pathOf, read } from './pages.ts'

const page = read('docs/reference/signature-vectors.md')
/** Name of the language, command, flag of its version, and what makes the program accept signatures without their =. */
const LANGUAGES = [
  ['js', [process.execPath], '--version', "from(signature ?? '')", "from((signature ?? '').padEnd(44, '='))"],
  ['python', ['python3'], '--version', '(signature or "")', '(signature or "").ljust(44, "=")'],
  ['php', ['php'], '--version', "$signature ?? ''", "str_pad($signature ?? '', 44, '=')"],
  ['go', ['go', 'run'], 'version', '[]byte(signature))', '[]byte(signature + "="[:(44-len(signature))&1]))'],
  [
    'java',
    ['java'],
    '-version',
    'signature.getBytes',
    '(signature.length() == 43 ? signature + "=" : signature).getBytes',
  ],
] as const
const FILES = { js: 'vectors.mjs', python: 'vectors.py', php: 'vectors.php', go: 'vectors.go', java: 'Vectors.java' }

/** Runs a program in a folder in which the package is installed. */
function run([program, ...args]: readonly string[], file: string, text: string) {
  const cwd = folderWith({ node_modules: null, [file]: text })
  symlinkSync(pathOf('.'), join(cwd, 'node_modules/handover-sim'))
  const { status, stdout, stderr } = spawnSync(program!, [...args, file], { cwd, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

it.for(LANGUAGES)('%s verifies every vector, and prints what a bug accepts', (row, { skip }) => {
  const [name, command, flag, find, replacement] = row
  const { status } = spawnSync(command[0], [flag], { timeout: 20_000, stdio: 'ignore' })
  skip(status !== 0, `${name} is not installed`)
  const [program = ''] = blocks(page, name)
  expect(run(command, FILES[name], program)).toEqual({ status: 0, output: '' })
  expect(program).toContain(find)
  const output = expect.stringContaining('the signature without its =')
  expect(
    run(
      command,
      FILES[name],
      program.replace(find, () => replacement),
    ),
  ).toEqual({ status: 1, output })
})
