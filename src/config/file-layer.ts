/** From the value of a config file to its layer: checked against the schema, flattened to dotted names. */
import { KNOB_NAMES } from '../contract/knobs.ts'
import { OWN_WORDS } from '../contract/own-words.ts'
import type { Source } from '../source/document.ts'
import { ConfigError, explainIssues, type Finding, type Issue, type Problem } from '../source/errors.ts'
import { isMap } from '../source/is-map.ts'
import { knownKeys } from '../source/known-keys.ts'
import type { Layer, Setting } from './layer.ts'
import { ConfigFile } from './schema.ts'

type Path = readonly string[]

export function layerOf(name: string, source: Source): Layer {
  const value = source.value ?? {}
  const read = ConfigFile.safeParse(value, OWN_WORDS)
  if (read.success) return collect(name, source, read.data)
  const findings = explainIssues(read.error.issues as unknown as Issue[], value, path => knownKeys(ConfigFile, path))
  const line = ({ path, wrong }: Finding) => source.place(path, wrong)?.line ?? 0
  const inOrder = findings.sort((a, b) => line(a) - line(b))
  throw new ConfigError(inOrder.map(({ path, wrong, field, message }) => source.problem(path, wrong, field, message)))
}

const SECTIONS = ['bot', 'keys', 'webhook', 'messages', 'knobs']
/** Every setting with the path it was written at. */
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

/** `knobs` has dotted and nested names; the other sections give their name to what is in them. */
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
