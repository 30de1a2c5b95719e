/** Builds the bundles. `contract.js` imports zod; every other bundle has its own copy of what it needs. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin, type RolldownOutput } from 'rolldown'
import { browserVariants } from '../browser-variants.ts'

/** Packages that the user installs, and modules of Node. */
const PEERS = [/^node:/, /^msw(\/|$)/, /^vitest(\/|$)/]

export type Bundle = RolldownOutput['output']

export async function buildBundles(root: string): Promise<Bundle[]> {
  const start = startChunk()
  return Promise.all([
    bundle(root, {
      input: {
        index: 'src/index.ts',
        cli: 'src/cli/main.ts',
        msw: 'src/adapters/msw.ts',
        interceptors: 'src/adapters/interceptors.ts',
        vitest: 'src/vitest/index.ts',
        scenario: 'src/testing/scenario.ts',
      },
      platform: 'node',
      plugins: [start.plugin],
      output: { dir: 'dist', codeSplitting: { groups: [{ name: 'start', test: start.has }] } },
    }),
    bundle(root, {
      input: { index: 'src/index.ts', msw: 'src/adapters/msw.ts' },
      platform: 'browser',
      plugins: [browserVariants()],
      output: { dir: 'dist/browser', sourcemap: false },
    }),
    // Separate bundles: `signature` runs in every runtime, `contract` imports the zod of the user.
    bundle(root, { input: { signature: 'src/signature/index.ts' }, platform: 'neutral', output: { dir: 'dist' } }),
    bundle(root, {
      input: { contract: 'src/contract/index.ts' },
      platform: 'neutral',
      external: [...PEERS, /^zod(\/|$)/],
      output: { dir: 'dist' },
    }),
  ])
}

async function bundle(root: string, options: BuildOptions): Promise<Bundle> {
  const { output } = await build({
    cwd: root,
    external: PEERS,
    logLevel: 'warn',
    ...options,
    output: {
      format: 'esm',
      // Keeps line breaks and class names: Node prints both for an uncaught error.
      minify: {
        compress: true,
        mangle: { keepNames: { function: false, class: true } },
        codegen: { removeWhitespace: false },
      },
      comments: { legal: true, annotation: true, jsdoc: false },
      // Source maps give names and lines in stack traces; they have no sources.
      sourcemap: true,
      sourcemapExcludeSources: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      ...options.output,
    },
  })
  const folder = join(root, (options.output as { dir: string }).dir)
  for (const chunk of output)
    if (chunk.type === 'chunk' && isForeign(chunk.moduleIds)) removeMap(folder, chunk.fileName)
  return output
}

const isForeign = (ids: readonly string[]) => ids.every(id => id.includes('/node_modules/'))

/** Removes the map of a file that holds only code of other packages. */
function removeMap(folder: string, file: string): void {
  const path = join(folder, file)
  rmSync(`${path}.map`, { force: true })
  writeFileSync(path, readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
}

const STARTS_WITH = /\/src\/cli\/(main|start)\.ts$/
/** Packages that are in the start chunk as a whole, because their modules import each other. */
const PACKAGES = /node_modules\/(zod|commander)\//

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
      return needed.has(id) || PACKAGES.test(id)
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
