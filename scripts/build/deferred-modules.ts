/** Loads the module behind an `x.deferred.ts` at its first use, in CommonJS bundles. Other bundles contain it as any other. */
import type { Plugin } from 'rolldown'

const IMPORT = /^import (\{.+\}) from ('.+')$/m
/** How a bundle loads a chunk later. `.then` reads a namespace from a chunk that contains several. */
const LATER =
  /requireNow\(Promise\.resolve\(\)\.then\(\(\) => (require\("[^"]+"\))\)(?:\.then\(\((\w+)\) => \2(\.\w+)\))?\)/g

export const deferredModules = (): Plugin => ({
  name: 'deferred-modules',
  transform: {
    filter: { id: /\.deferred\.ts$/ },
    /** An `import()` gives the module a chunk of its own. */
    handler(code, id) {
      const [line, names, specifier] = IMPORT.exec(code) ?? []
      const value = `=> (${names})`
      if (line === undefined || !code.includes(value)) throw new Error(`${id} must return the names that it imports.`)
      return code.replace(line, '').replace(value, `=> requireNow(import(${specifier}))`)
    },
  },
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type !== 'chunk') continue
      file.code = file.code.replace(LATER, (_, required: string, __, namespace = '') => required + namespace)
      if (file.code.includes('requireNow')) throw new Error(`${file.fileName} must load deferred modules with require.`)
    }
  },
})
