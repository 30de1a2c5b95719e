/** Reads a config file of any of its forms into settings by dotted name. YAML and the schema load only when there is one. */
import { loadDefault, readText } from '../source/files.ts'
import type { FoundFile } from './find.ts'
import type { Layer } from './layer.ts'

/** Throws `ConfigError` with every problem found. */
export async function loadConfig(file: FoundFile, nodeVersion: string): Promise<Layer> {
  const { layerOf } = await import('./file-layer.ts')
  if (file.extension === '.yaml' || file.extension === '.yml' || file.extension === '.json') {
    const { parseSource } = await import('../source/document.ts')
    return layerOf(file.name, parseSource(file.name, readText(file), file.extension === '.json'))
  }
  const value = await loadDefault(file, nodeVersion, 'export default { port: 4747 }')
  const { moduleSource } = await import('../source/document.ts')
  return layerOf(file.name, moduleSource(file.name, value))
}
