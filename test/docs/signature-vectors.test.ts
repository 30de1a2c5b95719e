/** Runs the programs of docs/reference/signature-vectors.md in each language that is installed: as they are, and with a bug. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { blocks, pathOf, read } from './pages.ts'

const page = read('docs/reference/signature-vectors.md')
const folder = mkdtempSync(join(tmpdir(), 'handover-vectors-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Language {
  readonly name: string
  readonly file: string
  readonly command: readonly [string, ...string[]]
  readonly version: string
  /** Text of the program, and what makes it accept each signature without its =. */
  readonly bug: readonly [find: string, replacement: string]
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'js',
    file: 'vectors.mjs',
    command: [process.execPath],
    version: '--version',
    bug: ["Buffer.from(signature ?? '')", "Buffer.from((signature ?? '').padEnd(44, '='))"],
  },
  {
    name: 'python',
    file: 'vectors.py',
    command: ['python3'],
    version: '--version',
    bug: ['(signature or "")', '(signature or "").ljust(44, "=")'],
  },
  {
    name: 'php',
    file: 'vectors.php',
    command: ['php'],
    version: '--version',
    bug: ["$signature ?? ''", "str_pad($signature ?? '', 44, '=')"],
  },
  {
    name: 'go',
    file: 'vectors.go',
    command: ['go', 'run'],
    version: 'version',
    bug: ['[]byte(signature))', '[]byte(signature + "="[:(44-len(signature))&1]))'],
  },
  {
    name: 'java',
    file: 'Vectors.java',
    command: ['java', '-XX:TieredStopAtLevel=1'],
    version: '-version',
    bug: ['signature.getBytes', '(signature.length() == 43 ? signature + "=" : signature).getBytes'],
  },
]

const isInstalled = ({ command, version }: Language) =>
  spawnSync(command[0], [version], { timeout: 20_000, stdio: 'ignore' }).status === 0

/** In a folder of its own, because programs of a language run at the same time. */
async function run({ file, command }: Language, program: string) {
  const cwd = mkdtempSync(join(folder, 'run-'))
  mkdirSync(join(cwd, 'node_modules'))
  symlinkSync(pathOf('.'), join(cwd, 'node_modules/handover-sim'))
  writeFileSync(join(cwd, file), program)
  const [name, ...args] = command
  return new Promise<{ status: number; output: string }>(resolve =>
    execFile(name, [...args, file], { cwd }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    ),
  )
}

it('has a program for each language', () => {
  const languages = [...page.matchAll(/^```(\w+)$/gm)].map(([, name]) => name)
  expect(languages).toEqual(['js', 'python', 'php', 'csharp', 'go', 'java'])
})

describe.concurrent.each(LANGUAGES)('$name', language => {
  const [program = ''] = blocks(page, language.name)
  const installed = isInstalled(language)

  it.skipIf(!installed)('verifies every vector', async ({ expect }) => {
    expect(await run(language, program)).toEqual({ status: 0, output: '' })
  })

  it.skipIf(!installed)('prints what a bug accepts', async ({ expect }) => {
    const [find, replacement] = language.bug
    expect(program).toContain(find)
    const { status, output } = await run(
      language,
      program.replace(find, () => replacement),
    )
    expect(output).toContain('the signature without its =')
    expect(status).toBe(1)
  })
})
