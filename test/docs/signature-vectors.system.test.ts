/** Runs the programs of docs/reference/signature-vectors.md in each language that is installed: as they are, and with a bug. */
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { blocks, pathOf, read } from './pages.ts'

const page = read('docs/reference/signature-vectors.md')
interface Language {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly version: string
  readonly file: string
  /** Text of the program, and what makes it accept each signature without its =. */
  readonly bug: readonly [find: string, replacement: string]
}

const LANGUAGES: readonly Language[] = [
  {
    ...{ name: 'js', command: [process.execPath], version: '--version', file: 'vectors.mjs' },
    bug: ["Buffer.from(signature ?? '')", "Buffer.from((signature ?? '').padEnd(44, '='))"],
  },
  {
    ...{ name: 'python', command: ['python3'], version: '--version', file: 'vectors.py' },
    bug: ['(signature or "")', '(signature or "").ljust(44, "=")'],
  },
  {
    ...{ name: 'php', command: ['php'], version: '--version', file: 'vectors.php' },
    bug: ["$signature ?? ''", "str_pad($signature ?? '', 44, '=')"],
  },
  {
    ...{ name: 'go', command: ['go', 'run'], version: 'version', file: 'vectors.go' },
    bug: ['[]byte(signature))', '[]byte(signature + "="[:(44-len(signature))&1]))'],
  },
  {
    ...{ name: 'java', command: ['java', '-XX:TieredStopAtLevel=1'], version: '-version', file: 'Vectors.java' },
    bug: ['signature.getBytes', '(signature.length() == 43 ? signature + "=" : signature).getBytes'],
  },
]

const isInstalled = ({ command, version }: Language) =>
  spawnSync(command[0], [version], { timeout: 20_000, stdio: 'ignore' }).status === 0

/** Runs a program in a folder in which the package is installed. */
function run({ file, command: [name, ...args] }: Language, program: string) {
  const cwd = folderWith({ node_modules: null, [file]: program })
  symlinkSync(pathOf('.'), join(cwd, 'node_modules/handover-sim'))
  const { status, stdout, stderr } = spawnSync(name, [...args, file], { cwd, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

describe.each(LANGUAGES)('$name', language => {
  const [program = ''] = blocks(page, language.name)
  const installed = isInstalled(language)

  it.skipIf(!installed)('verifies every vector', () => {
    expect(run(language, program)).toEqual({ status: 0, output: '' })
  })

  it.skipIf(!installed)('prints what a bug accepts', () => {
    const [find, replacement] = language.bug
    expect(program).toContain(find)
    const buggy = program.replace(find, () => replacement)
    expect(run(language, buggy)).toEqual({ status: 1, output: expect.stringContaining('the signature without its =') })
  })
})
