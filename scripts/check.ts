/** Runs all checks of a commit: types, lint and format, build, generated files, unused code, package, tests. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const withoutTests = process.argv.includes('--without-tests')
const folder = mkdtempSync(join(tmpdir(), 'handover-sim-check-'))
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
/** Packed once, after the build. */
const tarball = join(folder, `handover-sim-${version}.tgz`)

const STEPS: [name: string, command: string, args: string[]][] = [
  ['types', 'tsc', ['--noEmit']],
  ['lint and format', 'biome', ['check', '--error-on-warnings']],
  ['build', 'npm', ['run', '-s', 'build']],
  ['generated files', 'node', ['scripts/generate.ts', '--check']],
  ['unused code', 'knip', []],
  ['package', 'publint', ['--strict']],
  ['tarball', 'npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]],
  ['types as published', 'attw', [tarball, '--no-emoji', '--exclude-entrypoints', './vitest']],
  ['types for vitest', 'attw', [tarball, '--no-emoji', '--entrypoints', './vitest', '--profile', 'esm-only']],
  ...(withoutTests
    ? []
    : [['tests', 'vitest', ['run', '--project', 'unit', '--project', 'smoke']] as [string, string, string[]]]),
]

let failed = 0
for (const [name, command, args] of STEPS) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  const ok = status === 0
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`)
  if (!ok) {
    failed++
    console.log(`${stdout}\n${stderr}`)
  }
}
rmSync(folder, { recursive: true, force: true })
process.exitCode = failed === 0 ? 0 : 1
