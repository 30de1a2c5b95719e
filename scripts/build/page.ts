/** Builds the pages of the inspector and of UI mode into dist/web/: their HTML files, and the files below `_sim/page/`. */
import { join } from 'node:path'
import { build, type InlineConfig } from 'vite'

const pageConfig = (root: string): InlineConfig => ({
  root: join(root, 'src/web'),
  configFile: false,
  base: './',
  logLevel: 'warn',
  // The page forbids inline scripts and styles.
  build: {
    outDir: join(root, 'dist/web'),
    emptyOutDir: true,
    assetsDir: '_sim/page',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    license: false,
    rollupOptions: { input: ['index.html', 'ui-mode.html'].map(name => join(root, 'src/web', name)) },
  },
})

export const buildPage = (root: string): Promise<unknown> => build(pageConfig(root))
