/** Replaces `x.ts` by `x.browser.ts`, where that file exists, in bundles for browsers. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Plugin } from 'rolldown'

export const browserVariants = (): Plugin => ({
  name: 'browser-variants',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.') || !specifier.endsWith('.ts')) return null
    const variant = resolve(dirname(importer), specifier.replace(/\.ts$/, '.browser.ts'))
    return existsSync(variant) ? variant : null
  },
})
