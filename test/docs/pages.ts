/** Reads the pages of the documentation: code blocks, tables, inline code; and runs commands. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
export const pathOf = (file: string): string => fileURLToPath(new URL(file, ROOT))
export const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8')

const DOCS = readdirSync(pathOf('docs'), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.md'))
const EXAMPLES = readdirSync(pathOf('examples'))
  .map(name => `examples/${name}/README.md`)
  .filter(file => readdirSync(pathOf(file.replace('README.md', ''))).includes('README.md'))
const GITHUB = readdirSync(pathOf('.github')).filter(name => name.endsWith('.md'))
export const PAGES: readonly string[] = [
  'README.md',
  ...DOCS.map(name => `docs/${name}`),
  ...EXAMPLES,
  ...GITHUB.map(name => `.github/${name}`),
]

/** Returns the fenced blocks of a language; `''` selects blocks without a language. */
export function blocks(markdown: string, language: string): string[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text!)
}

/** Returns the text between a heading of level 2 and the next one. */
export function section(markdown: string, heading: string): string {
  const after = markdown.split(`\n## ${heading}\n`)[1]
  if (after === undefined) throw new Error(`The page has no heading ${heading}.`)
  return after.split('\n## ')[0]!
}

/** Returns the cells of every table row without separator rows. */
export function rows(markdown: string): string[][] {
  const lines = markdown.split('\n').filter(line => line.startsWith('|') && !/^[|\-: ]+$/.test(line))
  return lines.map(line =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
}

/** Returns all inline code outside the fenced blocks. */
export function inlineCode(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text!)
}

export interface RunResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program; a program that hangs ends after five minutes. */
export function run(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  const options = { cwd: pathOf('.'), env: { ...process.env, ...env }, timeout: 300_000 }
  return new Promise(resolve =>
    execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    ),
  )
}

/** Runs commands in bash, without the settings of this machine (`--norc`). */
export const runInShell = (typed: string, env: Readonly<Record<string, string>> = {}): Promise<RunResult> =>
  run('bash', ['--norc', '-euc', typed], env)

const isInstalled = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, program)))
/** Whether bash and curl are installed. */
export const hasShell: boolean = ['bash', 'curl'].every(isInstalled)
