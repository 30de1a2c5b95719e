/** Builds dist/web/: the pages of the inspector and of UI mode, their files below `_sim/page/`, script and style of the HTML report. */
import { join } from 'node:path'
import type { RolldownOutput } from 'rolldown'
import { type BuildOptions, build, type InlineConfig } from 'vite'
import { browserVariants } from '../browser-variants.ts'

/** The pages forbid inline scripts and styles, so that no file is part of another. */
const pages = (root: string): BuildOptions => ({
  emptyOutDir: true,
  assetsDir: '_sim/page',
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  rolldownOptions: { input: ['index.html', 'ui-mode.html'].map(name => join(root, 'src/pages/web', name)) },
})

/** A report has its script and its style inside, so each is one file. */
const REPORT: BuildOptions = {
  emptyOutDir: false,
  lib: {
    entry: 'report/main.tsx',
    formats: ['iife'],
    name: 'report',
    fileName: () => 'report.js',
    cssFileName: 'report',
  },
}

/** Resolves with what it made. */
export async function buildPage(root: string): Promise<RolldownOutput['output'][number][]> {
  const made = [await buildWith(root, pages(root)), await buildWith(root, REPORT)].flat()
  return made.flatMap(one => ('output' in one ? one.output : []))
}

/** Where Vite finds the page, also for `npm run dev`. */
export const pageRoot = (root: string) =>
  ({
    root: join(root, 'src/pages/web'),
    configFile: false,
    base: './',
    logLevel: 'warn',
    plugins: [{ ...browserVariants(), enforce: 'pre' }],
  }) satisfies InlineConfig

const buildWith = (root: string, options: BuildOptions) =>
  build({
    ...pageRoot(root),
    build: {
      outDir: join(root, 'dist/web'),
      target: 'es2022',
      // Browsers that know light-dark() and nesting, for which styles stay as they are written.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      license: false,
      ...options,
    },
  })
