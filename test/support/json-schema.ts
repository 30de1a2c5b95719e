/** Compiles JSON Schemas of the published documents so that they refuse undocumented fields. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'

export function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true })
  ajvFormats.default(ajv)
  ajv.addVocabulary(['components'])
  ajv.addFormat('base64', /^[A-Za-z0-9+/]*={0,2}$/)
  return ajv
}

/** Adds `additionalProperties: false` to every object schema, so that an undocumented field is an error. */
export function closeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closeSchema(value)]))
  const open = 'properties' in inner && !('additionalProperties' in inner) && typeof inner.properties === 'object'
  return open ? { ...inner, additionalProperties: false } : inner
}
