/** For bundles that run in a browser: where `x.browser.ts` stands beside `x.ts`, it takes its place. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Plugin } from 'rolldown'

export const browserVariants = (): Plugin => ({
  name: 'browser-siblings',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.') || !specifier.endsWith('.ts')) return null
    const sibling = resolve(dirname(importer), specifier.replace(/\.ts$/, '.browser.ts'))
    return existsSync(sibling) ? sibling : null
  },
})
