/** Checks the value of a config file and flattens it to settings with dotted names. */
import { KNOB_NAMES } from '../contract/knobs.ts'
import { ZOD_MESSAGES } from '../contract/zod-messages.ts'
import type { Source } from '../files/document.ts'
import { ConfigError, type Problem, schemaProblems } from '../files/errors.ts'
import { isMap } from '../files/is-map.ts'
import type { Layer, Setting } from './layer.ts'
import { ConfigFile } from './schema.ts'

type Path = readonly string[]

export function layerOf(name: string, source: Source): Layer {
  const value = source.value ?? {}
  const read = ConfigFile.safeParse(value, ZOD_MESSAGES)
  if (read.success) return collect(name, source, read.data)
  throw new ConfigError(schemaProblems(source, read.error.issues, value, ConfigFile))
}

const SECTIONS = ['bot', 'keys', 'webhook', 'messages', 'knobs']
/** Every setting with the path to it in the file. */
function* settingsIn(config: ConfigFile): Generator<{ path: Path; name: string; value: unknown }> {
  for (const [key, value] of Object.entries(config)) {
    if (key === 'version' || key === '$schema') continue
    if (key === 'clock' && isMap(value)) {
      yield { path: [key, 'mode'], name: 'clock', value: value.mode }
      if (value.start !== undefined) yield { path: [key, 'start'], name: 'clock.start', value: value.start }
    } else if (SECTIONS.includes(key) && isMap(value)) yield* within([key], value)
    else yield { path: [key], name: key, value }
  }
}

/** Names in `knobs` are whole, dotted or nested; names in other sections begin with the section. */
function* within(path: Path, map: Record<string, unknown>): Generator<{ path: Path; name: string; value: unknown }> {
  for (const [key, value] of Object.entries(map)) {
    const here = [...path, key]
    const name = here.slice(path[0] === 'knobs' ? 1 : 0).join('.')
    if (isMap(value) && !KNOB_NAMES.includes(name as never)) yield* within(here, value)
    else yield { path: here, name, value }
  }
}

function collect(file: string, source: Source, config: ConfigFile): Layer {
  const layer: Record<string, Setting> = {}
  const twice: Problem[] = []
  for (const { path, name, value } of settingsIn(config)) {
    const place = source.place(path, 'key')
    const from = place === null ? file : `${file}:${place.line}`
    const known = layer[name]
    if (known) twice.push(source.problem(path, 'key', path.join('.'), `sets ${name} again (first at ${known.from}).`))
    layer[name] = { value, from }
  }
  if (twice.length > 0) throw new ConfigError(twice)
  return layer
}
