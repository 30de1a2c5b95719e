/** Reads and checks the query and body of a request by the schemas of its route. */
import type * as z from 'zod/mini'
import { nestsDeeper } from '../../api/body.ts'
import { shapeOf, typeOf, ZOD_MESSAGES } from '../../contract/explain-issues.ts'
import { withoutFurtherErrors } from '../../contract/limit-errors.ts'
import { messageOf } from '../../text/error-text.ts'
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
  const parsed = schema.safeParse(withoutFurtherErrors(schema, raw), ZOD_MESSAGES)
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
  const bytes = await readBytes(request)
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^multipart\/form-data\b/i.test(type)
  const schema: z.ZodMiniType | undefined = isForm ? route.upload : route.body
  if (schema === undefined) return refuseBody(isForm, bytes)
  const raw = isForm ? await parseForm(bytes, type) : parseJson(bytes, route.maxDepth)
  const parsed = schema.safeParse(withoutFurtherErrors(schema, raw), ZOD_MESSAGES)
  if (!parsed.success) throw invalidRequest('body', schema, parsed.error.issues, raw)
  return parsed.data
}

function refuseBody(isForm: boolean, bytes: Uint8Array): unknown {
  if (isForm) throw new ControlProblem(415, 'unsupported_media_type', 'This route takes JSON, not a form.')
  if (bytes.length === 0) return undefined
  throw new ControlProblem(422, 'invalid_body', 'This route takes no body.')
}

async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(request.headers.get('content-length') ?? 0) > LIMIT_BYTES) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > LIMIT_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

const tooLarge = () => new ControlProblem(413, 'payload_too_large', `A body can have at most ${LIMIT_BYTES} bytes.`)

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON whatever the content type is, because manual calls often have none. An empty body is an empty object. */
function parseJson(bytes: Uint8Array, maxDepth = MAX_DEPTH): unknown {
  if (bytes.length === 0) return {}
  try {
    const text = decoder.decode(bytes)
    if (nestsDeeper(text, maxDepth)) throw tooDeep(maxDepth)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof ControlProblem) throw error
    throw new ControlProblem(400, 'invalid_json', `The body is not JSON: ${messageOf(error)}.`)
  }
}

/** The deepest body of a request, in levels of arrays and objects. */
const MAX_DEPTH = 64

function tooDeep(levels: number): ControlProblem {
  const message = `The body is nested more than ${levels} levels deep.`
  return new ControlProblem(422, 'invalid_body', message, { issues: [{ field: 'body', message }] })
}

async function parseForm(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<unknown> {
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => null)
  if (form === null)
    throw new ControlProblem(400, 'invalid_form', 'The body is not a form, although its content type says so.')
  const names = [...new Set(form.keys())]
  return Object.fromEntries(names.map(name => [name, name === 'files' ? form.getAll(name) : form.get(name)]))
}
