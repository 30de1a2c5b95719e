/**
 * Runs the tests of the example projects with the packages that are installed here. `.ci/run` installs and runs all of
 * them with the packed package.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT, readJson } from '../architecture/files.ts'
import { startProgram } from '../cli/program.ts'
import { EXAMPLES, emptyFolder } from './program.ts'

interface Manifest {
  readonly version: string
  readonly scripts?: { readonly test?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
const { version } = readJson<Manifest>('package.json')

const PROJECTS = readdirSync(EXAMPLES)
  .filter(name => existsSync(join(EXAMPLES, name, 'package.json')))
  .flatMap(name => {
    const { scripts, dependencies, devDependencies } = readJson<Manifest>(`examples/${name}/package.json`)
    const needed = { ...dependencies, ...devDependencies }
    return scripts?.test === undefined ? [] : [{ name, script: scripts.test, needed }]
  })

it('there are projects, which depend on this version', () => {
  expect(PROJECTS.length).toBeGreaterThan(10)
  expect(PROJECTS.filter(({ needed }) => needed['handover-sim'] !== `^${version}`)).toEqual([])
})

/** Installs a package in the folder. */
function link(folder: string, name: string): void {
  const place = join(folder, 'node_modules', name)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(name === 'handover-sim' ? ROOT : join(ROOT, 'node_modules', name), place, 'dir')
}

it.for(PROJECTS)('the tests of $name pass', async ({ name, script, needed }, { skip }) => {
  const packages = Object.keys(needed)
  const missing = packages.filter(one => one !== 'handover-sim' && !existsSync(join(ROOT, 'node_modules', one)))
  skip(missing.length > 0, `${missing.join(', ')} not installed`)
  const folder = emptyFolder()
  cpSync(join(EXAMPLES, name), folder, { recursive: true, filter: path => !path.endsWith('node_modules') })
  for (const one of packages) link(folder, one)
  // The limit of a hanging test is 5 s in these test runners.
  const command = /\b(vitest|jest)\b/.test(script) ? `${script} --testTimeout=60000` : script
  // As npm does, with the tools of this repository on PATH; npm itself takes as long as most tests.
  const env = { PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`, HOME: folder }
  const { code, stdout, stderr } = startProgram(['sh', '-c', command], { cwd: folder, env })
  expect(await code, stdout.text + stderr.text).toBe(0)
})
