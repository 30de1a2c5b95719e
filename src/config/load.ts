/** Reads a config file of any of its forms into settings by dotted name. YAML and the schema load only when there is one. */
import { loadModule } from '../runtime/modules.ts'
import { ConfigError, problem } from './errors.ts'
import { type FoundFile, readText } from './find.ts'
import type { Layer } from './layer.ts'

/** Throws `ConfigError` with every problem found. */
export async function loadConfig(file: FoundFile, nodeVersion: string): Promise<Layer> {
  const { layerOf } = await import('./file-layer.ts')
  if (file.extension === '.yaml' || file.extension === '.yml' || file.extension === '.json') {
    const { parseSource } = await import('./document.ts')
    return layerOf(file.name, parseSource(file.name, readText(file), file.extension === '.json'))
  }
  const value = await loadValue(file, nodeVersion)
  const place = () => null
  return layerOf(file.name, {
    value,
    place,
    problem: (_path, _of, field, message) => ({ at: field === '' ? file.name : `${file.name}: ${field}`, message }),
  })
}

async function loadValue(file: FoundFile, nodeVersion: string): Promise<unknown> {
  if (file.extension === '.ts') checkTypeScript(file.name, nodeVersion)
  readText(file)
  const loaded = await loadModule(file.path).catch((error: unknown) => {
    throw problem(file.name, `cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
  })
  if ('default' in loaded) return loaded.default
  throw problem(file.name, 'must export its settings as default: export default { port: 4747 }')
}

/** Type stripping without a flag came with 22.18 and 23.6. */
function checkTypeScript(name: string, nodeVersion: string): void {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  if (major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return
  throw new ConfigError([
    {
      at: name,
      message: `needs Node 22.18 or newer, this is ${nodeVersion}. Write it as .yaml, .json or .mjs, or use a newer Node.`,
    },
  ])
}
