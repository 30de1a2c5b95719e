/** Reads and checks the query and body of a request by the schemas of its route. */
import type * as z from 'zod/mini'
import { isDeeperThan } from '../../base/nesting.ts'
import { shapeOf, typeOf } from '../../base/schemas/definitions.ts'
import { ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { ControlProblem, invalidRequest } from './problems.ts'
import type { ControlRoute } from './route.ts'

/** Large enough for the largest attachment in base64. */
const LIMIT_BYTES = 150 * 1_048_576

export function readQuery(route: ControlRoute, url: URL): unknown {
  const names = [...url.searchParams.keys()]
  const schema: z.ZodMiniType | undefined = route.query
  if (schema === undefined) return refuseAny(names)
  const shape = shapeOf(schema)
  const schemaOf = (name: string) => (Object.hasOwn(shape, name) ? shape[name] : undefined)
  const raw = Object.fromEntries(
    names.map(name => [name, parameterValue(url.searchParams.getAll(name), schemaOf(name))]),
  )
  const parsed = schema.safeParse(raw, ZOD_MESSAGES)
  if (!parsed.success) throw invalidRequest('query', schema, parsed.error.issues, raw)
  return parsed.data
}

function refuseAny([first]: readonly string[]): unknown {
  if (first === undefined) return {}
  throw new ControlProblem(422, 'invalid_query', `${first} is not known here: this route takes no query.`)
}

/** Turns text into a number where the schema expects one; a name that is given twice stays a list. */
function parameterValue(values: readonly string[], schema: z.ZodMiniType | undefined): unknown {
  const [value = ''] = values
  if (values.length > 1) return values
  const numeric = schema !== undefined && typeOf(schema) === 'number' && /^-?\d{1,15}$/.test(value)
  return numeric ? Number(value) : value
}

export async function readBody(route: ControlRoute, request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^multipart\/form-data\b/i.test(type)
  const schema: z.ZodMiniType | undefined = isForm ? route.upload : route.body
  const bytes = await readBytes(request, route.maxBytes ?? LIMIT_BYTES)
  if (schema === undefined) {
    if (isForm) throw new ControlProblem(415, 'unsupported_media_type', 'This route takes JSON, not a form.')
    if (bytes.length > 0) throw new ControlProblem(422, 'invalid_body', 'This route takes no body.')
    return undefined
  }
  const raw = isForm ? await readForm(bytes, type) : readJson(bytes, route.maxDepth ?? MAX_DEPTH)
  const parsed = schema.safeParse(raw, ZOD_MESSAGES)
  if (!parsed.success) throw invalidRequest('body', schema, parsed.error.issues, raw)
  return parsed.data
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  const chunks: Uint8Array[] = []
  let size = 0
  if (announced <= limit) {
    for await (const chunk of request.body ?? []) {
      size += chunk.length
      if (size > limit) break
      chunks.push(chunk)
    }
    if (size <= limit) return new Uint8Array(Buffer.concat(chunks))
  }
  const length = announced > limit ? `has ${announced} bytes` : 'is longer'
  throw new ControlProblem(413, 'payload_too_large', `A body can have at most ${limit} bytes; this one ${length}.`)
}

/** The deepest body of a request, in levels of arrays and objects. */
const MAX_DEPTH = 64

/** Reads JSON whatever the content type is, because manual calls often have none. An empty body is an empty object. */
function readJson(bytes: Uint8Array, levels: number): unknown {
  if (bytes.length === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new ControlProblem(400, 'invalid_json', `The body is not JSON: ${messageOf(error)}.`)
  }
  if (!isDeeperThan(value, levels)) return value
  const message = `The body is nested more than ${levels} levels deep.`
  throw new ControlProblem(422, 'invalid_body', message, { issues: [{ field: 'body', message }] })
}

async function readForm(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<unknown> {
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => null)
  if (form === null)
    throw new ControlProblem(400, 'invalid_form', 'The body is not a form, although its content type says so.')
  const names = [...new Set(form.keys())]
  return Object.fromEntries(names.map(name => [name, name === 'files' ? form.getAll(name) : textOf(form.get(name))]))
}

/** Browsers write line breaks in forms as CRLF, whatever was typed. */
const textOf = <Value>(value: Value): Value | string =>
  typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value
