/** Turns a JSON Schema into the fields of a form, and what a form holds into JSON. */
import { isMap, jsonOr } from '../../../base/objects.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export type FieldKind = 'choice' | 'choices' | 'flag' | 'count' | 'text' | 'headers' | 'object' | 'json'

export interface SchemaField {
  readonly name: string
  readonly kind: FieldKind
  readonly description: string
  /** Of a choice or of several choices. */
  readonly values: readonly string[]
  readonly example: string | null
  readonly minimum: number | null
  readonly maximum: number | null
  readonly isRequired: boolean
  /** Of an object. */
  readonly fields: readonly SchemaField[]
}

/** The fields of an object schema, in its order. */
export function fieldsOf(root: JsonSchema): readonly SchemaField[] {
  const schema = resolved(root)
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(isMap(schema.properties) ? schema.properties : {}).map(([name, property]) =>
    fieldOf(name, isMap(property) ? property : {}, required.includes(name)),
  )
}

/** Follows a reference at the root, as `{ $ref: '#/$defs/Fault', $defs }` has one. */
function resolved(schema: JsonSchema): JsonSchema {
  const [, name] = typeof schema.$ref === 'string' ? (/^#\/\$defs\/(.+)$/.exec(schema.$ref) ?? []) : []
  const target = name !== undefined && isMap(schema.$defs) ? schema.$defs[name] : undefined
  return isMap(target) ? target : schema
}

function fieldOf(name: string, schema: JsonSchema, isRequired: boolean): SchemaField {
  const { description, minimum, maximum, examples } = schema
  const kind = kindOf(schema)
  return {
    name,
    kind,
    description: typeof description === 'string' ? description : '',
    values: valuesOf(schema),
    example: Array.isArray(examples) ? String(examples[0]) : null,
    minimum: typeof minimum === 'number' ? minimum : null,
    maximum: typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? maximum : null,
    isRequired,
    fields: kind === 'object' ? fieldsOf(schema) : [],
  }
}

function kindOf(schema: JsonSchema): FieldKind {
  const { type, anyOf } = schema
  if (schema.const === true) return 'flag'
  if (Array.isArray(anyOf)) return anyOf.some(one => isMap(one) && one.type === 'array') ? 'choices' : 'json'
  if (Array.isArray(schema.enum)) return 'choice'
  if (type === 'integer' || type === 'number') return 'count'
  if (type === 'string') return 'text'
  if (type !== 'object') return 'json'
  return isMap(schema.properties) ? 'object' : 'headers'
}

/** The words of an enumeration, also inside of `anyOf` and lists. */
function valuesOf({ enum: words, anyOf, items }: JsonSchema): readonly string[] {
  if (Array.isArray(words)) return words.map(String)
  if (isMap(items)) return valuesOf(items)
  if (!Array.isArray(anyOf)) return []
  return [...new Set(anyOf.flatMap(one => (isMap(one) ? valuesOf(one) : [])))]
}

/** The schema of a property inside of an alternative that is an object: `on` of a fault. */
export function alternativeFields(root: JsonSchema, name: string): readonly SchemaField[] {
  const { properties } = resolved(root)
  const property = isMap(properties) ? properties[name] : undefined
  const anyOf = isMap(property) && Array.isArray(property.anyOf) ? property.anyOf : []
  const alternative = anyOf.find(one => isMap(one) && one.type === 'object')
  return isMap(alternative) ? fieldsOf(alternative) : []
}

/** What the inputs of a form hold, by the names of their fields. Texts stay as they were typed. */
export type Draft = Readonly<Record<string, unknown>>

/** The JSON of a form. A number that is none stays a text, so that the server can name it. */
export function valuesFrom(fields: readonly SchemaField[], draft: Draft): Record<string, unknown> {
  const set = fields.filter(({ name }) => draft[name] !== undefined && draft[name] !== '')
  return Object.fromEntries(set.map(field => [field.name, valueFrom(field, draft[field.name])]))
}

function valueFrom({ kind, fields }: SchemaField, typed: unknown): unknown {
  if (kind === 'object') return valuesFrom(fields, isMap(typed) ? typed : {})
  if (kind === 'choices') return Array.isArray(typed) && typed.length === 1 ? typed[0] : typed
  if (typeof typed !== 'string') return typed
  if (kind === 'count') return /^-?\d+(\.\d+)?$/.test(typed.trim()) ? Number(typed) : typed
  if (kind === 'headers') {
    return Object.fromEntries(
      typed
        .split('\n')
        .filter(line => line.trim() !== '')
        .map(line => {
          const [name = '', ...value] = line.split(':')
          return [name.trim(), value.join(':').trim()]
        }),
    )
  }
  return kind === 'json' ? jsonOr(typed, typed) : typed
}

/** What a form shows for a value: the reverse of `valuesFrom`. */
export function draftFrom(fields: readonly SchemaField[], values: Draft): Draft {
  const known = fields.filter(({ name }) => values[name] !== undefined)
  return Object.fromEntries(known.map(field => [field.name, typedFor(field, values[field.name])]))
}

function typedFor({ kind, fields }: SchemaField, value: unknown): unknown {
  if (kind === 'object') return draftFrom(fields, isMap(value) ? value : {})
  if (kind === 'choices') return [value].flat()
  if (kind === 'headers' && isMap(value))
    return Object.entries(value)
      .map(([name, text]) => `${name}: ${text}`)
      .join('\n')
  if (kind === 'json' && typeof value !== 'string') return JSON.stringify(value, null, 2)
  return kind === 'count' ? String(value) : value
}
