/** Writes the published types: the declarations of tsc that the entries reach, as `.d.cts` and `.d.mts`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Entries whose ES module re-exports the CommonJS one. Both share the types. */
const RE_EXPORTED = [
  'index',
  'testing/interceptors/interceptors',
  'testing/scenario',
  'testing/certify',
  'platform/signature/index',
]
/** Entries with a build of their own in each form, because each imports the same form of zod as the user does. */
const IN_BOTH_FORMS = ['platform/contract/index']
/** An entry in both forms, and one that is an ES module only; the modules that they import are CommonJS. */
const MSW = 'testing/msw'
const VITEST = 'testing/vitest/index'

/** Declares disposables for users whose `lib` does not include them; needs TypeScript 5.2. */
const DISPOSABLE = '/// <reference lib="esnext.disposable" />\n'
const SPECIFIER = /((?:from\s+|import\(|import\s+)['"])(\.[^'"]+)\.tsx?(['"])/g

type Form = 'c' | 'm'

export function buildTypes(root: string): void {
  const emitted = mkdtempSync(join(root, 'dist/emitted-'))
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', emitted], {
      stdio: 'inherit',
    })
    const read = (name: string) => readFileSync(join(emitted, `${name}.d.ts`), 'utf8')
    const write = (name: string, form: Form, text: string) => {
      const path = join(root, 'dist/types', `${name}.d.${form}ts`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    /** Returns the declarations of a module as they refer to others of this form. */
    const textOf = (name: string, imports: Form) => {
      const text = read(name).replace(SPECIFIER, `$1$2.${imports}js$3`)
      return /Dispos(e|able)\b/.test(text) ? DISPOSABLE + text : text
    }

    const commonjs = reachable([...RE_EXPORTED, ...IN_BOTH_FORMS, MSW, VITEST], read)
    for (const name of commonjs) if (name !== VITEST) write(name, 'c', textOf(name, 'c'))
    for (const name of reachable(IN_BOTH_FORMS, read)) write(name, 'm', textOf(name, 'm'))
    for (const name of [MSW, VITEST]) write(name, 'm', textOf(name, 'c'))
    for (const name of RE_EXPORTED) write(name, 'm', `export * from './${basename(name)}.cjs';\n`)
  } finally {
    rmSync(emitted, { recursive: true, force: true })
  }
}

/** Returns these modules and all that their declarations import, without `.ts`. */
function reachable(entries: readonly string[], read: (name: string) => string): Set<string> {
  const found = new Set(entries)
  for (const name of found) {
    for (const [, , specifier] of read(name).matchAll(SPECIFIER)) found.add(join(dirname(name), specifier ?? ''))
  }
  return found
}
