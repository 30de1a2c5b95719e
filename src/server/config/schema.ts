/** Checks config files by a schema, which is also the JSON Schema for editors, and flattens them to dotted settings. */
import * as z from 'zod/mini'
import { type Source, schemaProblems } from '../../base/files/document.ts'
import { ConfigError, type Problem } from '../../base/files/errors.ts'
import { isMap } from '../../base/objects.ts'
import { ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { isKnob } from '../../platform/contract/knobs.ts'
import {
  BusinessHoursSchema,
  ClockSchema,
  EvidenceSchema,
  knobSchemas,
  predicateSchema,
  ReplySchema,
} from '../../platform/simulator/setting-schemas.ts'
import { type Layer, SETTINGS, type Setting, type SettingSpec } from './settings.ts'

const knobs = knobSchemas()

/** Schemas of values with parts, so that errors name the part. */
const STRUCTURED: Readonly<Record<string, z.ZodMiniType>> = {
  clock: ClockSchema,
  'bot.replies': z.array(ReplySchema),
  business_hours: BusinessHoursSchema,
  evidence: EvidenceSchema,
}

const settingSchema = (name: string, { kind, description }: SettingSpec): z.ZodMiniType =>
  STRUCTURED[name] ??
  predicateSchema(kind.fits, () => kind.expected, { ...kind.schema, ...(description && { description }) })

const fields = (prefix: string, ...names: string[]) =>
  Object.fromEntries(
    names.flatMap(name => {
      const spec = SETTINGS[prefix + name]
      return spec ? [[name, z.optional(settingSchema(prefix + name, spec))]] : []
    }),
  )

export const ConfigFile = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.optional(z.literal(1)),
  ...fields('', 'port', 'host', 'seed', 'clock', 'base_url', 'control_token'),
  bot: z.optional(z.strictObject(fields('bot.', 'id', 'name', 'organization_id', 'replies'))),
  keys: z.optional(z.strictObject(knobs.of('keys'))),
  webhook: z.optional(z.strictObject({ ...fields('webhook.', 'url'), ...knobs.of('webhook') })),
  ...fields('', 'agent_driver', 'business_hours'),
  messages: z.optional(z.strictObject(knobs.of('messages'))),
  ...fields('', 'markers', 'memory_limit', 'evidence'),
  proxy: z.optional(
    z.strictObject(fields('proxy.', 'upstream', 'delivery_path', 'journal', 'anonymise', 'rewrite_links')),
  ),
  knobs: z.optional(knobs.all),
})

export function layerOf(name: string, source: Source): Layer {
  const value = source.value ?? {}
  const read = ConfigFile.safeParse(value, ZOD_MESSAGES)
  if (read.success) return collect(name, source, read.data)
  throw new ConfigError(schemaProblems(source, read.error.issues, value, ConfigFile))
}

const SECTIONS = ['bot', 'keys', 'webhook', 'messages', 'clock', 'proxy', 'knobs']

interface PlacedSetting {
  /** The keys that lead to it in the file. */
  readonly path: readonly string[]
  readonly name: string
  readonly value: unknown
}

/** Names in `knobs` are whole, dotted or nested; names in other sections begin with the section. */
function* settingsIn(
  config: Readonly<Record<string, unknown>>,
  section: readonly string[] = [],
): Generator<PlacedSetting> {
  for (const [key, value] of Object.entries(config)) {
    const path = [...section, key]
    const name = path.slice(path[0] === 'knobs' ? 1 : 0).join('.')
    if (value === undefined || name === 'version' || name === '$schema') continue
    if (isMap(value) && SECTIONS.includes(path[0] ?? '') && !isKnob(name)) yield* settingsIn(value, path)
    else yield { path, name: name === 'clock.mode' ? 'clock' : name, value }
  }
}

function collect(file: string, source: Source, config: Readonly<Record<string, unknown>>): Layer {
  const layer: Record<string, Setting> = {}
  const duplicates: Problem[] = []
  for (const { path, name, value } of settingsIn(config)) {
    const place = source.place(path, 'key')
    const from = place === null ? file : `${file}:${place.line}`
    const first = layer[name]
    if (first)
      duplicates.push(source.problem(path, 'key', path.join('.'), `sets ${name} again (first at ${first.from}).`))
    layer[name] = { value, from }
  }
  if (duplicates.length > 0) throw new ConfigError(duplicates)
  return layer
}

export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(ConfigFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Config file of handover-sim', ...schema }
}
