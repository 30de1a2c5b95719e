/**
 * Builds the bundles. Simulators are CommonJS, which `require`, `import` and jest can load; the ES modules of the entries
 * re-export them, so that both forms share one set. `contract.js` imports zod; every other bundle has its own copy of what
 * it needs.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin, type RolldownOutput } from 'rolldown'
import { browserVariants } from '../browser-variants.ts'
import { deferredModules } from './deferred-modules.ts'
import {
  BROWSER_INTRO,
  GLOBALS_INTRO,
  hiddenGlobals,
  SIGNATURE_INTRO,
  signatureGlobals,
  timersOfNode,
} from './hidden-globals.ts'
import { dispatchersOfUndici, namesOfLocales } from './slim-packages.ts'

/** Packages that the user installs, and modules of Node. */
const PEERS = [/^node:/, /^msw(\/|$)/, /^vitest(\/|$)/]
const ZOD = /^zod(\/|$)/

/** Entries that users do not import. */
const INTERNAL = ['cli', 'matchers']

export type Bundle = RolldownOutput['output']

export async function buildBundles(root: string): Promise<Bundle[]> {
  const [simulators, ...others] = await Promise.all([
    buildSimulators(root),
    bundle(root, {
      input: { index: 'src/index.ts', msw: 'src/testing/msw.ts' },
      platform: 'browser',
      plugins: [browserVariants(), namesOfLocales()],
      output: { dir: 'dist/browser', intro: BROWSER_INTRO },
    }),
    bundle(root, { input: { vitest: 'src/testing/vitest/index.ts' }, platform: 'node', plugins: [builtMatchers] }),
    ...inBothForms(root, { input: { msw: 'src/testing/msw.ts' }, platform: 'node' }),
    // Runs in every runtime, so it is one file without imports.
    ...inBothForms(root, {
      input: { signature: 'src/platform/signature/index.ts' },
      platform: 'neutral',
      transform: { define: signatureGlobals },
      output: { intro: SIGNATURE_INTRO },
    }),
    ...inBothForms(root, {
      input: { contract: 'src/platform/contract/index.ts' },
      platform: 'neutral',
      external: [...PEERS, ZOD],
    }),
  ])
  writeReExports(root, simulators!)
  return [simulators!, ...others]
}

async function buildSimulators(root: string): Promise<Bundle> {
  const start = startChunk()
  return bundle(root, {
    input: {
      index: 'src/index.ts',
      cli: 'src/commands/main.ts',
      interceptors: 'src/testing/interceptors/interceptors.ts',
      scenario: 'src/testing/scenario.ts',
      certify: 'src/testing/certify.ts',
      matchers: 'src/testing/vitest/matchers.ts',
    },
    platform: 'node',
    plugins: [
      start.plugin,
      deferredModules(),
      namesOfLocales(),
      dispatchersOfUndici(),
      timersOfNode(),
      withoutStyles,
      quickStart,
    ],
    output: {
      format: 'cjs',
      codeSplitting: {
        groups: [
          { name: START, test: start.has },
          { name: 'zod', test: isZodModule },
        ],
      },
    },
  })
}

/** For entries without state of their own. Each form imports the same form of zod and msw as the user does. */
const inBothForms = (root: string, options: BuildOptions): Promise<Bundle>[] => [
  bundle(root, options),
  bundle(root, { ...options, output: { ...options.output, format: 'cjs' } }),
]

async function bundle(root: string, { output, ...options }: BuildOptions): Promise<Bundle> {
  const format = output?.format ?? 'esm'
  const extension = format === 'cjs' ? 'cjs' : 'js'
  const isNode = format === 'cjs' && options.platform === 'node'
  const built = await build({
    cwd: root,
    external: PEERS,
    logLevel: 'warn',
    ...(isNode && { transform: { define: hiddenGlobals } }),
    ...options,
    output: {
      dir: 'dist',
      format,
      esModule: true,
      // Keeps names and line breaks: Node prints both for an uncaught error.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
      comments: { legal: true, annotation: true, jsdoc: false },
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `chunks/[name]-[hash].${extension}`,
      ...(isNode && { intro: GLOBALS_INTRO }),
      ...output,
    },
  })
  return built.output
}

/** Makes the entry for vitest use the matchers of the simulators' bundle, which know its simulators. */
const builtMatchers: Plugin = {
  name: 'built-matchers',
  resolveId: specifier => (specifier === './matchers.ts' ? { id: './matchers.cjs', external: true } : null),
}

/** The components of the HTML report import their styles, which are in dist/web/. */
const withoutStyles: Plugin = {
  name: 'without-styles',
  load: { filter: { id: /\.css$/ }, handler: () => ({ code: '', moduleType: 'js' }) },
}

/**
 * Escapes other characters than ASCII in the start chunk: Node reads it faster, and V8 keeps it in half the memory. Exports
 * values and not functions that return them, of which there are hundreds.
 */
const quickStart: Plugin = {
  name: 'quick-start',
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type === 'chunk' && file.name === START) file.code = withPlainExports(escaped(file.code))
    }
  },
}

/** How a bundle exports a name of a chunk. No module of this project exports a variable that changes. */
const EXPORT =
  /Object\.defineProperty\(exports, "(\w+)", \{\s*enumerable: !0,\s*get: function\(\) \{\s*return ([^;]+);\s*\}\s*\}\)/g
const withPlainExports = (code: string): string => code.replace(EXPORT, 'exports.$1 = $2')

const escaped = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Writes `index.js` beside `index.cjs`, and so on. */
function writeReExports(root: string, output: Bundle): void {
  for (const chunk of output) {
    if (chunk.type !== 'chunk' || !chunk.isEntry || INTERNAL.includes(chunk.name)) continue
    const path = join(root, 'dist', chunk.fileName.replace(/cjs$/, 'js'))
    writeFileSync(path, `export {\n${chunk.exports.map(name => `  ${name},\n`).join('')}} from './${chunk.fileName}'\n`)
  }
}

const START = 'start'
const STARTS_WITH = /\/src\/commands\/(main|start)\.ts$/
/** In one chunk as a whole, because its modules import each other. */
const ZOD_MODULES = /node_modules\/zod\//
/** Modules of these packages that only descriptions need, such as OpenAPI documents. */
const DESCRIBES = /\/zod\/v4\/core\/(to-json-schema|json-schema-processors|json-schema-generator)\./

const isZodModule = (id: string) => ZOD_MODULES.test(id) && !DESCRIBES.test(id)

/**
 * Puts everything that `start` imports before it serves into one chunk, because each further file adds a millisecond to
 * the start. Other modules load when they are first used.
 */
function startChunk(): { plugin: Plugin; has(id: string): boolean } {
  const imports = new Map<string, readonly string[]>()
  let needed: Set<string> | null = null
  return {
    plugin: { name: 'start-chunk', moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds) },
    has(id) {
      needed ??= closure(
        [...imports.keys()].filter(one => STARTS_WITH.test(one)),
        imports,
      )
      return needed.has(id)
    },
  }
}

function closure(from: readonly string[], imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>()
  const visit = (id: string): void => {
    if (found.has(id)) return
    found.add(id)
    for (const next of imports.get(id) ?? []) visit(next)
  }
  from.forEach(visit)
  return found
}
