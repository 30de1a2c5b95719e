/**
 * Lets tests use the built package in place of its sources: `HANDOVER_SIM_TEST=dist npx vitest run` runs the test files that
 * use only its public entries and its command, and resolves these to the files of `dist/`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What users import, and the command, with the files that the package ships for them. */
const ENTRIES: Readonly<Record<string, string>> = {
  'src/index.ts': 'dist/index.js',
  'src/testing/msw.ts': 'dist/msw.js',
  'src/testing/interceptors/interceptors.ts': 'dist/interceptors.js',
  'src/testing/vitest/index.ts': 'dist/vitest.js',
  'src/testing/scenario.ts': 'dist/scenario.js',
  'src/testing/certify.ts': 'dist/certify.js',
  'src/platform/contract/index.ts': 'dist/contract.js',
  'src/platform/signature/index.ts': 'dist/signature.js',
  'src/commands/main.ts': 'dist/cli.cjs',
}

/** Folders and files whose tests would find in `dist/` what they find in the sources. Some start what is built anyway. */
const LEFT_OUT = [
  ...['certifier/', 'docs/', 'runner/', 'ui-mode/', 'load/', 'calibrate/', 'smoke.test.ts'],
  // They try many values, or measure.
  ...['platform/invariants', 'api/fields', 'server/memory', 'server/bounded-work'],
]

/** Returns the files that a file imports for their values, by path from the root. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const found: string[] = []
  const statement =
    /^(?:import|export)\s+(?!type\b)([^;'"]*?\bfrom\s*)?['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/gm
  for (const [, names = '', specifier, dynamic] of source.matchAll(statement)) {
    // `import { type A, type B }` imports no value.
    if (/^\{(\s*type \w[^,}]*,?)+\s*\}/.test(names)) continue
    found.push(relative(ROOT, resolve(ROOT, dirname(file), specifier ?? dynamic ?? '')))
  }
  return found
}

/**
 * Lists the test files that use an entry and, with the files of `test/` that they import, nothing else of `src/`. A file
 * `*.source.ts` is loaded in tests of the sources only.
 */
export function builtPackageTests(): string[] {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  const tests = files.filter(file => /^[^.]+\.test\.ts$/.test(file) && !LEFT_OUT.some(name => file.startsWith(name)))
  const usesOnlyEntries = (file: string) => {
    // The built interceptors and msw 3 have a copy of `@mswjs/interceptors` each, and TLS of `node:https` reaches only one.
    if (file === 'test/adapters/beside-msw.test.ts') return false
    const visited = new Set([file])
    for (const one of visited)
      for (const imported of importsOf(one))
        if (/\.ts$/.test(imported) && !/\.source\.ts$|^src\//.test(imported) && existsSync(join(ROOT, imported)))
          visited.add(imported)
    const sources = [...visited].flatMap(importsOf).filter(imported => imported.startsWith('src/'))
    return sources.length > 0 && sources.every(imported => Object.hasOwn(ENTRIES, imported))
  }
  const paths = tests.map(file => `test/${file}`)
  return paths.filter(usesOnlyEntries).sort()
}

/** Resolves the entries to the files of `dist/`. */
export const builtPackage: Plugin = {
  name: 'built-package',
  enforce: 'pre',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return null
    const built = ENTRIES[relative(ROOT, resolve(dirname(importer), specifier))]
    return built === undefined ? null : join(ROOT, built)
  },
}
