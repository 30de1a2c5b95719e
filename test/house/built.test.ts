/** The bundle in dist/, as it is published. `npm test` builds first. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { delimiter, dirname, join, normalize } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/contract/endpoints.ts'
import { VERSION } from '../../src/contract/version.ts'
import { filesIn, importsOf, ROOT, read, readJson } from './files.ts'

const versionOf = (node: string) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''

/** The Node of this machine, when it is another one than the pinned one of the development dependencies. */
function systemNode(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
  const found = folders.map(folder => join(folder, 'node')).find(existsSync)
  return found === undefined || ['', process.version].includes(versionOf(found)) ? null : found
}
const other = systemNode()
const nodes: [name: string, node: string | null][] = [
  [process.version, process.execPath],
  [other === null ? "the system's own, which is the same or not there" : versionOf(other), other],
]

describe.each(nodes)('on Node %s', (_, node) => {
  it.skipIf(node === null)('answers all nine endpoints in-process', { timeout: 20_000 }, () => {
    const script = join(ROOT, 'test/house/nine-endpoints.mjs')
    const { status, stdout, stderr } = spawnSync(node!, [script], { encoding: 'utf8', timeout: 15_000 })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const { version, answers, events } = JSON.parse(stdout)
    expect(version).toBe(VERSION)
    expect(Object.keys(answers).sort()).toEqual(Object.keys(ENDPOINTS).sort())
    for (const [name, answer] of Object.entries(answers)) expect(answer, name).toMatchObject({ status: 200 })
    expect(Object.values<{ event?: string }>(answers).map(({ event }) => event)).toEqual([
      'TRANSCRIPT',
      'SUMMARIZED',
      'TAKEOVER STARTED',
      undefined,
      undefined,
      'MESSAGE SENT TO USER',
      'TAKEOVER ENDED',
      'HANDOVER AVAILABILITY UPDATED',
      undefined,
    ])
    expect(answers.chat.fields).toEqual(['chat'])
    expect(events).toEqual(['REQUESTING TAKEOVER', 'AGENT TYPING START', 'AGENT TYPING STOP'])
  })

  it.skipIf(node === null)('prints its version and its help', { timeout: 20_000 }, () => {
    const ask = (flag: string) => spawnSync(node!, [join(ROOT, 'bin/handover-sim.js'), flag], { encoding: 'utf8' })
    expect(ask('--version')).toMatchObject({ status: 0, stdout: `${VERSION}\n`, stderr: '' })
    expect(ask('--help').stdout).toContain('Usage: handover-sim')
  })
})

/** What a bundle imports, wherever in it. */
function specifiersOf(code: string): string[] {
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    const { source } = node as { source?: { type?: string; value?: unknown } }
    if (source?.type === 'Literal' && typeof source.value === 'string') found.push(source.value)
    Object.values(node).forEach(visit)
  }
  visit(parseAst(code).body)
  return found
}

const declared = Object.keys(readJson<{ dependencies: object }>('package.json').dependencies)
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
const isDeclared = (specifier: string) => isBuiltin(specifier) || declared.includes(packageOf(specifier))

it('the bundle imports only itself, Node and declared dependencies', () => {
  const files = filesIn('dist', '.js')
  expect(files).toEqual(expect.arrayContaining(['index.js', 'cli.js']))
  const found = files.flatMap(file => specifiersOf(read(`dist/${file}`)).map(specifier => ({ file, specifier })))
  const own = found.filter(({ specifier }) => specifier.startsWith('.'))
  expect(own.filter(({ file, specifier }) => !files.includes(normalize(join(dirname(file), specifier))))).toEqual([])
  expect(found.filter(({ specifier }) => !specifier.startsWith('.') && !isDeclared(specifier))).toEqual([])
})

it('the types a user sees import only themselves, Node and declared dependencies', () => {
  const seen = new Set<string>()
  const foreign: string[] = []
  const follow = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const specifier of importsOf(read(`dist/types/${file}`))) {
      if (!specifier.startsWith('.')) foreign.push(specifier)
      else if (!specifier.endsWith('.json'))
        follow(normalize(join(dirname(file), specifier)).replace(/\.[jt]s$/, '.d.ts'))
    }
  }
  follow('index.d.ts')
  expect(seen.size).toBeGreaterThan(10)
  expect(foreign.filter(specifier => !isDeclared(specifier))).toEqual([])
})
