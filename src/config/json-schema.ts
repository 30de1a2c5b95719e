/** Makes the JSON Schema of the config file, for completion and checks in editors. */
import * as z from 'zod/mini'
import { ConfigFile } from './schema.ts'

export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(ConfigFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Config file of handover-sim', ...schema }
}
