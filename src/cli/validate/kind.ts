/** What a file of the user is: told by what is in it, or by its name. */
import { basename } from 'node:path'
import { PLAIN_VERBS } from '../../agent-driver/driver-schema.ts'
import { parseSources } from '../../files/document.ts'
import { isMap } from '../../files/is-map.ts'
import { loadExports, readText } from '../../files/user-files.ts'
import type { FoundFile } from '../../scenario/load/find.ts'

export type Kind = 'scenario' | 'part' | 'driver' | 'config'

/** Throws `ConfigError` when the file cannot be read at all. */
export async function kindOfFile(file: FoundFile, nodeVersion: string): Promise<Kind> {
  if (basename(file.name).startsWith('handover-sim.config.')) return 'config'
  const values = await valuesIn(file, nodeVersion)
  return kindOfValue(values[0]) ?? (/\bdriver\b/.test(basename(file.name)) ? 'driver' : 'scenario')
}

async function valuesIn(file: FoundFile, nodeVersion: string): Promise<unknown[]> {
  if (/^\.(ya?ml|json)$/.test(file.extension)) {
    return parseSources(file.name, readText(file), file.extension === '.json').map(({ value }) => value)
  }
  const exports = await loadExports(file, nodeVersion)
  const value = exports.default ?? { ...exports }
  return Array.isArray(value) ? value : [value]
}

const DRIVER_KEYS: readonly string[] = [...PLAIN_VERBS, 'http', 'does', 'target']
const SCENARIO_KEYS = ['steps', 'name', 'kind', 'chat', 'chats']
const CONFIG_KEYS = ['port', 'host', 'webhook', 'knobs', 'keys', 'agent_driver', 'base_url', 'messages', 'seed', 'bot']

function kindOfValue(value: unknown): Kind | null {
  if (!isMap(value)) return null
  if (value.kind === 'partial') return 'part'
  const has = (keys: readonly string[]) => keys.filter(key => Object.hasOwn(value, key)).length
  if (has(SCENARIO_KEYS) > 0) return 'scenario'
  if (has(DRIVER_KEYS) > 0) return 'driver'
  return has(CONFIG_KEYS) > 0 ? 'config' : null
}
