/**
 * Runs the tests of the example projects with the packages that are installed here. `.ci/run` installs and runs all of
 * them with the packed package.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn, importsOf, ROOT, read, readJson } from '../architecture/files.ts'
import { EXAMPLES, emptyFolder } from './program.ts'

interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly scripts?: { readonly test?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
const ours = readJson<Manifest>('package.json')
const manifestOf = (name: string) => readJson<Manifest>(`examples/${name}/package.json`)
const neededBy = (name: string) => {
  const { dependencies = {}, devDependencies = {} } = manifestOf(name)
  return { ...dependencies, ...devDependencies }
}
const requiresOf = (source: string) => [...source.matchAll(/\brequire\('([^']+)'\)/g)].map(([, name]) => name!)
const PROJECTS = readdirSync(EXAMPLES).filter(name => {
  const isProject = existsSync(join(EXAMPLES, name, 'package.json'))
  return isProject && manifestOf(name).scripts?.test !== undefined
})

it('each web framework and test runner has a project', () => {
  expect(PROJECTS).toEqual([
    'express',
    'fastify',
    'jest',
    'jest-esm',
    'jest-jsdom',
    'jest-typescript',
    'nest',
    'nextjs-route',
    'node-test',
    'vitest-certify',
    'vitest-msw',
    'vitest-shared-server',
  ])
})

/** A page has no webhook. */
const PAGE = 'jest-jsdom'

describe.each(PROJECTS)('%s', name => {
  const sources = ['.js', '.ts']
    .flatMap(ending => filesIn(`examples/${name}`, ending))
    .filter(file => !file.includes('node_modules/'))
    .map(file => read(`examples/${name}/${file}`))
  const imported = sources
    .flatMap(source => [...importsOf(source), ...requiresOf(source)])
    .filter(specifier => !specifier.startsWith('.'))

  it('depends on this version', () => {
    expect(neededBy(name)['handover-sim']).toBe(`^${ours.version}`)
  })

  it('imports only its dependencies and public entries', () => {
    const known = Object.keys(neededBy(name))
    const packages = imported.map(specifier => /^(@[^/]+\/)?[^/]+/.exec(specifier)![0])
    expect(packages.filter((one, index) => !known.includes(one) && !isBuiltin(imported[index]!))).toEqual([])
    const subpaths = imported.filter(one => one.startsWith('handover-sim')).map(one => one.replace('handover-sim', '.'))
    if (name !== PAGE) expect(subpaths).toContain('./signature')
    expect(subpaths.filter(one => ours.exports[one] === undefined)).toEqual([])
  })

  it('has a README of at most 12 lines with the commands', () => {
    const lines = read(`examples/${name}/README.md`).trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(12)
    expect(lines).toEqual(expect.arrayContaining(['npm install', 'npm test']))
  })

  const missing = Object.keys(neededBy(name)).filter(
    one => one !== 'handover-sim' && !existsSync(join(ROOT, 'node_modules', one)),
  )
  const title = missing.length === 0 ? 'passes' : `passes (skipped: ${missing.join(', ')} not installed)`
  it.skipIf(missing.length > 0)(title, async () => {
    const folder = emptyFolder()
    cpSync(join(EXAMPLES, name), folder, { recursive: true, filter: path => !path.endsWith('node_modules') })
    for (const one of Object.keys(neededBy(name))) link(folder, one)
    const { code, output } = await runScript(folder, manifestOf(name).scripts!.test!)
    expect(code, output).toBe(0)
  })
})

function link(folder: string, name: string): void {
  const place = join(folder, 'node_modules', name)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(name === 'handover-sim' ? ROOT : join(ROOT, 'node_modules', name), place, 'dir')
}

/** Test runners with a default limit of 5 s, which is too short on a busy machine. */
const WITH_DEFAULT_TIMEOUT = /\b(vitest|jest)\b/
const LONG_TIMEOUT = '--testTimeout=60000'

/** Runs the script `test` as npm does, with the tools of this repository on PATH; npm itself takes as long as most tests. */
function runScript(folder: string, script: string): Promise<{ code: number | null; output: string }> {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
  const command = WITH_DEFAULT_TIMEOUT.test(script) ? `${script} ${LONG_TIMEOUT}` : script
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: { PATH: path, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  return new Promise(resolve => child.on('exit', code => resolve({ code, output })))
}
