/** Checks config files by a schema, which is also the JSON Schema for editors, and flattens them to dotted settings. */
import * as z from 'zod/mini'
import { ZOD_MESSAGES } from '../contract/explain-issues.ts'
import { isKnob } from '../contract/knobs.ts'
import { isMap } from '../contract/objects.ts'
import { type Source, schemaProblems } from '../files/document.ts'
import { ConfigError, type Problem } from '../files/errors.ts'
import {
  BusinessHoursSchema,
  ClockSchema,
  described,
  knobSchemas,
  predicateSchema,
  ReplySchema,
} from '../files/setting-schemas.ts'
import { defineTexts } from '../text/texts.ts'
import { EXPECTED, type Layer, readBaseUrl, readHttpUrl, type Setting } from './settings.ts'

const TEXTS = defineTexts({
  duplicate: (name: string, first: string) => `sets ${name} again (first at ${first}).`,
})

const knobs = knobSchemas()

const httpUrl = predicateSchema(
  value => readHttpUrl(value) !== undefined,
  () => EXPECTED.httpUrl,
  {
    type: 'string',
    format: 'uri',
  },
)
const baseUrl = predicateSchema(
  value => readBaseUrl(value) !== undefined,
  () => EXPECTED.baseUrl,
  {
    type: 'string',
    format: 'uri',
  },
)

const Bot = z.strictObject({
  id: z.optional(z.int().check(z.positive())),
  name: z.optional(z.string().check(z.minLength(1))),
  organization_id: z.optional(z.int()),
  replies: z.optional(z.array(ReplySchema)),
})

export const ConfigFile = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.optional(z.literal(1)),
  port: z.optional(z.int().check(z.minimum(0), z.maximum(65_535), described('0 takes any free port'))),
  host: z.optional(z.string().check(z.minLength(1))),
  seed: z.optional(z.int().check(z.minimum(0), described('Same seed: same ids, names and texts'))),
  clock: z.optional(ClockSchema),
  base_url: z.optional(baseUrl),
  bot: z.optional(Bot),
  keys: z.optional(z.strictObject(knobs.of('keys'))),
  webhook: z.optional(z.strictObject({ url: z.optional(httpUrl), ...knobs.of('webhook') })),
  agent_driver: z.optional(z.string().check(z.minLength(1), described('The agent driver file'))),
  business_hours: z.optional(BusinessHoursSchema),
  messages: z.optional(z.strictObject(knobs.of('messages'))),
  markers: z.optional(z.boolean().check(described('Whether responses name the assumptions they rest on'))),
  knobs: z.optional(knobs.all),
})
export type ConfigFile = z.infer<typeof ConfigFile>

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
    const full = [...path, key]
    const name = full.slice(path[0] === 'knobs' ? 1 : 0).join('.')
    if (isMap(value) && !isKnob(name)) yield* within(full, value)
    else yield { path: full, name, value }
  }
}

function collect(file: string, source: Source, config: ConfigFile): Layer {
  const layer: Record<string, Setting> = {}
  const duplicates: Problem[] = []
  for (const { path, name, value } of settingsIn(config)) {
    const place = source.place(path, 'key')
    const from = place === null ? file : `${file}:${place.line}`
    const known = layer[name]
    if (known) duplicates.push(source.problem(path, 'key', path.join('.'), TEXTS.duplicate(name, known.from)))
    layer[name] = { value, from }
  }
  if (duplicates.length > 0) throw new ConfigError(duplicates)
  return layer
}

export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(ConfigFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Config file of handover-sim', ...schema }
}
