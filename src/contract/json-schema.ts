/** Converts zod schemas to the `components.schemas` of an OpenAPI 3.1 document; shared schemas occur once, by name. */
import * as z from 'zod/mini'

export type JsonSchema = Readonly<Record<string, unknown>>
export type Named = Readonly<Record<string, z.ZodMiniType>>

/** Every name of `named`, and every schema with an id that they use. */
export function toComponents(named: Named): JsonSchema {
  const all = z.toJSONSchema(z.object(named), { io: 'input', unrepresentable: 'any', override: tidy })
  const components: Record<string, unknown> = { ...all.$defs }
  for (const [name, schema] of Object.entries(all.properties ?? {})) {
    const itself = typeof schema === 'object' && schema.$ref === `#/$defs/${name}`
    if (!itself) components[name] = schema
  }
  return mapValues(components, moveRefs)
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Removes bounds that only mean "a JavaScript integer". */
function tidy({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

function moveRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveRefs)
  if (typeof value !== 'object' || value === null) return value
  return mapValues(value, (inner, key) =>
    key === '$ref' ? String(inner).replace('#/$defs/', '#/components/schemas/') : moveRefs(inner),
  )
}

const mapValues = (fields: object, change: (value: unknown, key: string) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value, key)]))
