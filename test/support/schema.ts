/** Holds a value against a schema of the contract, and sees fields the schema does not name. */
import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod/mini'

/** What is wrong with it, in words; nothing when it is exactly what the schema describes. */
export function exactly(schema: z.ZodMiniType, value: unknown): string[] {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return [parsed.error.message]
  return isDeepStrictEqual(parsed.data, value) ? [] : [`fields beyond the schema in ${JSON.stringify(value)}`]
}
