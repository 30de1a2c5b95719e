/** Checks the content of the packed package and of every tracked file. */
import { execFileSync } from 'node:child_process'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '../../src/platform/contract/version.ts'
import { ROOT, read, readJson, trackedFiles } from './files.ts'

interface Manifest {
  readonly version: string
  readonly license: string
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
const manifest = readJson<Manifest>('package.json')

it('VERSION equals the version of package.json', () => {
  expect(VERSION).toBe(manifest.version)
})

it('the lock file names no registry', () => {
  expect(read('package-lock.json')).not.toContain('"resolved"')
  expect(read('.npmrc')).not.toMatch(/https?:|registry=/)
})

it('docs/reference/dependencies.md has a row for every dependency, and no other', () => {
  const rows = [...read('docs/reference/dependencies.md').matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell]) =>
    cell!.split(', '),
  )
  const named = rows.filter(name => name !== 'package')
  const has = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  expect(named.sort()).toEqual(has.sort())
})

it('npm warns of no package that asks for a newer Node, and npm test says how long it takes', () => {
  expect(read('.npmrc')).toMatch(/^loglevel=error$/m)
  const { scripts } = readJson<{ scripts: Readonly<Record<string, string>> }>('package.json')
  const minutes = /(\w+ to \w+ minutes)/
  expect(read('README.md')).toContain(minutes.exec(scripts.pretest!)![0])
})

const FOR_MAINTAINERS = [
  'docs/explanation/architecture.md',
  'docs/explanation/contributing.md',
  'docs/explanation/figures.md',
]

describe('the packed package', () => {
  let packed: string[] = []
  let unpackedBytes = 0
  // Skips the scripts of npm pack: they would rebuild dist/ while other tests read it.
  beforeAll(() => {
    const json = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const reported = JSON.parse(json) as Record<string, { files: { path: string }[]; unpackedSize: number }>
    const [{ files, unpackedSize }] = Object.values(reported) as [(typeof reported)[string]]
    packed = files.map(({ path }) => path)
    unpackedBytes = unpackedSize
  })

  it('names the licences of bundled code, also of the parser inside of undici', () => {
    const titles = [...read('THIRD-PARTY-LICENSES.txt').matchAll(/^## ([^\s,]+)/gm)].map(([, name]) => name)
    expect(titles).toEqual(expect.arrayContaining(['hono', 'llhttp', 'undici', 'zod']))
  })

  it('has the files that users need', () => {
    const first = new Set(packed.map(path => path.split('/')[0]))
    expect([...first].sort()).toEqual(
      [
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'SKILL.md',
        'THIRD-PARTY-LICENSES.txt',
        'bin',
        'dist',
        'docs',
        'examples',
        'fixtures',
        'integrations',
        'llms-full.txt',
        'llms.txt',
        'package.json',
        'scenarios',
        'schema',
      ].sort(),
    )
    const exact = [
      'dist/index.js',
      'dist/index.cjs',
      'dist/cli.cjs',
      'dist/types/index.d.cts',
      'scenarios/happy-path.yaml',
      'schema/config.v1.json',
      'fixtures/signatures/vectors.json',
    ]
    expect(packed).toEqual(expect.arrayContaining([...Object.values(manifest.bin), ...exact]))
  })

  it('has every tracked file of docs, examples, fixtures, scenarios and schema', () => {
    const tracked = trackedFiles().filter(file => /^(docs|examples|fixtures|scenarios|schema)\//.test(file))
    const kept = tracked.filter(file => !file.endsWith('.gitignore') && !FOR_MAINTAINERS.includes(file))
    expect(kept.filter(file => !packed.includes(file))).toEqual([])
  })

  it('leaves out the pages for maintainers, which only a line of README links', () => {
    expect(packed.filter(file => FOR_MAINTAINERS.includes(file))).toEqual([])
    const linking = packed
      .filter(file => file.endsWith('.md'))
      .flatMap(file => {
        const lines = read(file).split('\n')
        const links = lines.filter(line => !line.startsWith('For maintainers: ')).join('\n')
        return [...links.matchAll(/\]\(([^)#:]+\.md)/g)]
          .map(([, to]) => join(dirname(file), to!))
          .filter(to => !packed.includes(to))
          .map(to => `${file}: ${to}`)
      })
    expect(linking).toEqual([])
  })

  it('is small', () => {
    expect(packed.length).toBeLessThan(700)
    expect(unpackedBytes).toBeLessThan(8.5 * 1024 * 1024)
  })

  it('has no file that a run or a build creates', () => {
    expect(packed.filter(path => /__pycache__|\.pyc$|\.tmp$|\.log$|\.tgz$|node_modules/.test(path))).toEqual([])
  })
})

describe('every file', () => {
  const TEXT = /\.(ts|mts|js|mjs|json|md|ya?ml|txt|py|rb|toml)$|^(\.ci\/.*|LICENSE|\.npmrc|\.gitignore)$/
  const files = trackedFiles().filter(file => TEXT.test(file) && file !== 'package-lock.json')

  it('names no path of this machine', () => {
    const above = dirname(ROOT.replace(/\/$/, ''))
    const paths = [ROOT, homedir(), above].filter(place => !['/', tmpdir()].includes(place))
    const ownPaths = paths.map(place => `${place.replace(/\/$/, '')}/`)
    const anywhere = /(^|[\s'"`(=])(\/home\/|\/Users\/|[A-Z]:\\Users\\)\w/
    const naming = files.filter(file => {
      const text = read(file)
      return ownPaths.some(place => text.includes(place)) || anywhere.test(text)
    })
    expect(naming).toEqual([])
  })

  it('is not the output of a run or a build', () => {
    const made = /(^|\/)(\.vitest|\.handover-sim|coverage|dist|node_modules|__pycache__)\/|\.(log|tgz|tmp|pyc)$/
    expect(trackedFiles().filter(file => made.test(file))).toEqual([])
  })

  it('refers to nothing outside the repository', () => {
    const outside = /\.\.\/shared|(^|[^\w.-])shared\//m
    expect(files.filter(file => outside.test(read(file)))).toEqual([])
  })

  it('of the documentation links to no external host', () => {
    const pages = files.filter(file => /\.md$/.test(file))
    const hosts = pages.flatMap(file =>
      [...read(file).matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => `${file}: ${host}`),
    )
    expect(
      hosts.filter(
        host =>
          !/: (127\.0\.0\.1|localhost|handover-sim|intermediary|host\.(docker|testcontainers)\.internal|[\w.-]+\.example\.test)$/.test(
            host,
          ),
      ),
    ).toEqual([])
  })
})
