/** Checks the content of the packed package and of every tracked file. */
import { execSync, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/platform/contract/version.ts'
import { folderWith } from '../config/folder.ts'
import { ROOT, read, readJson, trackedFiles } from './files.ts'

const manifest = readJson<{ version: string; bin: Record<string, string> }>('package.json')

it('VERSION equals the version of package.json', () => {
  expect(VERSION).toBe(manifest.version)
})

it('the lock file names no registry', () => {
  expect(read('package-lock.json')).not.toContain('"resolved"')
  expect(read('.npmrc')).not.toMatch(/https?:|registry=/)
})

describe('the packed package', () => {
  // Skips the scripts of npm pack: they would rebuild dist/ while other tests read it.
  const json = execSync('npm pack --dry-run --json --ignore-scripts', {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  type Report = { readonly files: readonly { path: string }[]; readonly unpackedSize: number }
  const [report] = Object.values<Report>(JSON.parse(String(json)))
  const packed = report!.files.map(({ path }) => path)
  const FOR_MAINTAINERS = ['architecture', 'contributing', 'figures'].map(name => `docs/explanation/${name}.md`)

  it('names the licences of bundled code, also of the parser inside of undici', () => {
    const titles = [...read('THIRD-PARTY-LICENSES.txt').matchAll(/^## ([^\s,]+)/gm)].map(([, name]) => name)
    expect(titles).toEqual(expect.arrayContaining(['hono', 'llhttp', 'undici', 'zod']))
  })

  it('is audited by `npm run audit`, also what is bundled, and says so when the audit cannot be reached', () => {
    const via = [{ title: 'Bad', url: 'https://example.test/1' }]
    const of = (name: string) => ({ [name]: { via, nodes: [`node_modules/${name}`] } })
    for (const [audit, text, code] of [
      [{ vulnerabilities: { ...of('undici'), ...of('vitest') } }, /^undici [\d.]+: Bad https:\S+\n$/, 1],
      [{ vulnerabilities: of('vitest') }, /^None of \d+ packages has an advisory\.\n$/, 0],
      [{ message: '405' }, /^Nothing was audited, .*: 405\.\n$/, 0],
    ] as const) {
      const npm = folderWith({ npm: `#!/bin/sh\necho '${JSON.stringify(audit)}'\n` })
      chmodSync(join(npm, 'npm'), 0o755)
      const env = { ...process.env, PATH: `${npm}:${process.env.PATH}` }
      const { status, stdout } = spawnSync('node_modules/.bin/node', ['scripts/audit.ts'], { cwd: ROOT, env })
      expect([String(stdout), status]).toEqual([expect.stringMatching(text), code])
    }
  })

  it('has the files that users need, and nothing else', () => {
    const first = new Set(packed.map(path => path.split('/')[0]))
    const files = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SKILL.md', 'THIRD-PARTY-LICENSES.txt', 'package.json']
    const folders = ['bin', 'dist', 'docs', 'examples', 'fixtures', 'integrations', 'scenarios', 'schema']
    expect([...first].sort()).toEqual([...files, ...folders, 'llms.txt', 'llms-full.txt'].sort())
    const built = ['dist/index.js', 'dist/index.cjs', 'dist/cli.cjs', 'dist/types/index.d.cts']
    const data = trackedFiles().filter(file => /^(docs|examples|fixtures|scenarios|schema)\//.test(file))
    const published = data.filter(file => !file.endsWith('.gitignore') && !FOR_MAINTAINERS.includes(file))
    const needed = [...Object.values(manifest.bin), ...built, ...published]
    expect(needed.filter(file => !packed.includes(file))).toEqual([])
    expect(packed.filter(file => FOR_MAINTAINERS.includes(file))).toEqual([])
    expect(packed.filter(path => /__pycache__|\.pyc$|\.tmp$|\.log$|\.tgz$|node_modules/.test(path))).toEqual([])
  })

  it('is small', () => {
    expect(packed.length).toBeLessThan(700)
    expect(report!.unpackedSize).toBeLessThan(8.5 * 1024 * 1024)
  })
})

describe('every file', () => {
  const TEXT = /\.(ts|mts|js|mjs|json|md|ya?ml|txt|py|rb|toml)$|^(\.ci\/.*|LICENSE|\.npmrc|\.gitignore)$/
  const tracked = trackedFiles()
  const files = tracked.filter(file => TEXT.test(file) && file !== 'package-lock.json')

  it('names no path of this machine, and nothing outside the repository', () => {
    const above = dirname(ROOT.replace(/\/$/, ''))
    const paths = [ROOT, homedir(), above].filter(place => !['/', tmpdir()].includes(place))
    const ownPaths = paths.map(place => `${place.replace(/\/$/, '')}/`)
    const anywhere = /(^|[\s'"`(=])(\/home\/|\/Users\/|[A-Z]:\\Users\\)\w|\.\.\/shared|(^|[^\w.-])shared\//m
    const naming = files.filter(file => {
      const text = read(file)
      return ownPaths.some(place => text.includes(place)) || anywhere.test(text)
    })
    expect(naming).toEqual([])
  })

  it('is not the output of a run or a build', () => {
    const made = /(^|\/)(\.vitest|\.handover-sim|coverage|dist|node_modules|__pycache__)\/|\.(log|tgz|tmp|pyc)$/
    expect(tracked.filter(file => made.test(file))).toEqual([])
  })
})
