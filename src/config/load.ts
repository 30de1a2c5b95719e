/** Reads a config file into settings by dotted name; imports YAML and the schema only when there is a file. */
import { loadDefault, readText } from '../files/user-files.ts'
import type { FoundFile } from './find.ts'
import type { Layer } from './layer.ts'

/** Throws `ConfigError` with every problem found. */
export async function loadConfig(file: FoundFile, nodeVersion: string): Promise<Layer> {
  const { layerOf } = await import('./file-layer.ts')
  if (file.extension === '.yaml' || file.extension === '.yml' || file.extension === '.json') {
    const { parseSource } = await import('../files/document.ts')
    return layerOf(file.name, parseSource(file.name, readText(file), file.extension === '.json'))
  }
  const value = await loadDefault(file, nodeVersion, 'export default { port: 4747 }')
  const { moduleSource } = await import('../files/document.ts')
  return layerOf(file.name, moduleSource(file.name, value))
}
