/**
 * Builds the bundles. Simulators are CommonJS, which `require`, `import` and jest can load; the ES modules of the entries
 * re-export them, so that both forms share one set. `contract.js` imports zod; every other bundle has its own copy of what
 * it needs.
 */
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin, type RolldownOutput } from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { browserVariants } from '../browser-variants.ts'
import { BROWSER_INTRO, GLOBALS_INTRO, hiddenGlobals, SIGNATURE_INTRO, signatureGlobals } from './hidden-globals.ts'

/** Packages that the user installs, and modules of Node. */
const PEERS = [/^node:/, /^msw(\/|$)/, /^vitest(\/|$)/]

/** Entries that users do not import. */
const INTERNAL = ['cli', 'guard-process', 'matchers', 'trial-thread']

/**
 * What `handover-sim start` loads, in two files in place of twenty: the simulator with its server, which the library loads
 * too, and the command. Each has the modules that it imports.
 */
const START_CHUNKS = [
  { name: 'simulator', test: /src\/server\/start\.ts$|^\0rolldown/, priority: 2 },
  { name: 'start', test: /src\/commands\/(start|secrets)\.ts$/, priority: 1 },
]

export type Bundle = RolldownOutput['output']

export async function buildBundles(root: string): Promise<Bundle[]> {
  const simulators = await bundle(root, {
    input: {
      index: 'src/index.ts',
      cli: 'src/commands/main.ts',
      interceptors: 'src/testing/interceptors/interceptors.ts',
      scenario: 'src/testing/scenario.ts',
      certify: 'src/testing/certify.ts',
      matchers: 'src/testing/vitest/matchers.ts',
      'trial-thread': 'src/running/recorder/trial-thread.ts',
      'guard-process': 'src/commands/guard-process.ts',
    },
    platform: 'node',
    plugins: [withoutStyles, nodeHistograms, withoutAjv],
    transform: { define: hiddenGlobals },
    output: { format: 'cjs', intro: GLOBALS_INTRO, codeSplitting: { groups: START_CHUNKS } },
  })
  // Writes `index.js` beside `index.cjs`, and so on.
  for (const chunk of simulators) {
    if (chunk.type !== 'chunk' || !chunk.isEntry || INTERNAL.includes(chunk.name)) continue
    const path = join(root, 'dist', chunk.fileName.replace(/cjs$/, 'js'))
    writeFileSync(path, `export {\n${chunk.exports.map(name => `  ${name},\n`).join('')}} from './${chunk.fileName}'\n`)
  }
  // The parser of the interceptors, which they read from a folder beside them.
  const llhttp = 'llhttp/llhttp.wasm'
  cpSync(join(root, 'node_modules/@mswjs/interceptors/lib/node', llhttp), join(root, 'dist', llhttp))

  return [
    simulators,
    await bundle(root, {
      input: { index: 'src/index.ts', msw: 'src/testing/msw.ts' },
      platform: 'browser',
      plugins: [browserVariants()],
      // Browsers show their own source view of an error.
      output: { dir: 'dist/browser', intro: BROWSER_INTRO, minify: true },
    }),
    await bundle(root, {
      input: { vitest: 'src/testing/vitest/index.ts' },
      platform: 'node',
      plugins: [builtMatchers],
    }),
    // Entries without state of their own, in both forms: each imports the same form of zod and msw as the user does.
    ...(await inBothForms(root, { input: { msw: 'src/testing/msw.ts' }, platform: 'node' })),
    ...(await inBothForms(root, {
      input: { contract: 'src/platform/contract/index.ts' },
      platform: 'neutral',
      external: [...PEERS, /^zod(\/|$)/],
    })),
    // Runs in every runtime, so it is one file without imports.
    ...(await inBothForms(root, {
      input: { signature: 'src/platform/signature/index.ts' },
      platform: 'neutral',
      transform: { define: signatureGlobals },
      output: { intro: SIGNATURE_INTRO },
    })),
  ]
}

async function inBothForms(root: string, options: BuildOptions): Promise<Bundle[]> {
  return [await bundle(root, options), await bundle(root, { ...options, output: { ...options.output, format: 'cjs' } })]
}

async function bundle(root: string, { output, ...options }: BuildOptions): Promise<Bundle> {
  const extension = output?.format === 'cjs' ? 'cjs' : 'js'
  const built = await build({
    cwd: root,
    external: PEERS,
    logLevel: 'warn',
    ...options,
    plugins: [options.plugins, minifiedPackages],
    output: {
      dir: 'dist',
      esModule: true,
      // Keeps names and line breaks: Node prints both for an uncaught error.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
      comments: { legal: true, annotation: true, jsdoc: false },
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `chunks/[name]-[hash].${extension}`,
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

/** The histograms bring a copy of zlib, in place of which they use that of Node, and a variant in WebAssembly: 190 kB together. */
const nodeHistograms: Plugin = {
  name: 'node-histograms',
  resolveId: specifier => (/^pako$|\/generated-wasm$/.test(specifier) ? '\0left-out' : null),
  load: id => (id === '\0left-out' ? 'export const BINARY = null' : null),
  transform: {
    filter: { id: /JsHistogram\.encoding\.js$/ },
    handler: code => code.replace(/eval\('(require\("zlib"\)\.\w+)'\)/g, '$1'),
  },
}

/** The tools of `mcp` have schemas of zod, so the library needs no validator of JSON Schema: 290 kB. */
const withoutAjv: Plugin = {
  name: 'without-ajv',
  resolveId: specifier =>
    specifier === '@modelcontextprotocol/server/_shims' ? { id: '\0mcp-shims', external: false } : null,
  load: id =>
    id === '\0mcp-shims'
      ? "export { default as process } from 'node:process'\nexport class DefaultJsonSchemaValidator {}\n"
      : null,
}

/** Chunks of other packages alone have no line that an uncaught error of ours would print: a third less without whitespace. */
const minifiedPackages: Plugin = {
  name: 'minified-packages',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk' && chunk.moduleIds.every(id => id.includes('/node_modules/') || id.startsWith('\0')))
        chunk.code = minifySync(chunk.fileName, chunk.code, {
          compress: { keepNames: { function: true, class: true } },
          mangle: { keepNames: true },
        }).code
  },
}

/** The components of the HTML report import their styles, which are in dist/web/. */
const withoutStyles: Plugin = {
  name: 'without-styles',
  load: { filter: { id: /\.css$/ }, handler: () => ({ code: '', moduleType: 'js' }) },
}
