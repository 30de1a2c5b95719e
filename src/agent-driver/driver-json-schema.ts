/** The driver file as JSON Schema: completion and checks in editors. */
import * as z from 'zod/mini'
import { DriverFile } from './driver-schema.ts'

export function driverJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(DriverFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Agent driver of handover-sim', ...schema }
}
