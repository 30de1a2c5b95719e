/** Defines the schema of the config file, which also gives the JSON Schema for editors. */
import * as z from 'zod/mini'
import { BusinessHours, Clock, checked, described, knobSchemas, Reply } from '../files/setting-schemas.ts'
import { EXPECTED, readBaseUrl, readHttpUrl } from './values.ts'

const knobs = knobSchemas()

const httpUrl = checked(
  value => readHttpUrl(value) !== undefined,
  () => EXPECTED.httpUrl,
  {
    type: 'string',
    format: 'uri',
  },
)
const baseUrl = checked(
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
  replies: z.optional(z.array(Reply)),
})

export const ConfigFile = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.optional(z.literal(1)),
  port: z.optional(z.int().check(z.minimum(0), z.maximum(65_535), described('0 takes any free port'))),
  host: z.optional(z.string().check(z.minLength(1))),
  seed: z.optional(z.int().check(z.minimum(0), described('Same seed: same ids, names and texts'))),
  clock: z.optional(Clock),
  base_url: z.optional(baseUrl),
  bot: z.optional(Bot),
  keys: z.optional(z.strictObject(knobs.of('keys'))),
  webhook: z.optional(z.strictObject({ url: z.optional(httpUrl), ...knobs.of('webhook') })),
  agent_driver: z.optional(z.string().check(z.minLength(1), described('The agent driver file'))),
  business_hours: z.optional(BusinessHours),
  messages: z.optional(z.strictObject(knobs.of('messages'))),
  markers: z.optional(z.boolean().check(described('Whether responses name the assumptions they rest on'))),
  knobs: z.optional(knobs.all),
})
export type ConfigFile = z.infer<typeof ConfigFile>
