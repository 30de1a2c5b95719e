/** Reads and checks the query and body of a request by the schemas of its route. */
import type * as z from 'zod/mini'
import { nextMacrotask } from '../../base/runtime/clock.ts'
import { inPieces } from '../../base/runtime/pieces.ts'
import { shapeOf, typeOf } from '../../base/schemas/definitions.ts'
import { ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { createJsonReader, JsonDepthError } from '../../base/text/json-reader.ts'
import { checkInSteps } from '../../platform/contract/check-in-steps.ts'
import { withoutFurtherErrors } from '../../platform/contract/limit-errors.ts'
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
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^multipart\/form-data\b/i.test(type)
  const schema: z.ZodMiniType | undefined = isForm ? route.upload : route.body
  if (schema === undefined) return refuseBody(isForm, request)
  const raw = isForm ? await readForm(request, type) : await readJson(request, route.maxDepth)
  const checked = await inPieces(checkInSteps(schema, raw))
  if (!checked.success) throw invalidRequest('body', schema, checked.issues, raw)
  return checked.data
}

async function refuseBody(isForm: boolean, request: Request): Promise<unknown> {
  let size = 0
  for await (const chunk of chunksOf(request)) size += chunk.length
  if (isForm) throw new ControlProblem(415, 'unsupported_media_type', 'This route takes JSON, not a form.')
  if (size === 0) return undefined
  throw new ControlProblem(422, 'invalid_body', 'This route takes no body.')
}

/** Other events come first between two chunks, because each may cost a while. */
async function* chunksOf(request: Request): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > LIMIT_BYTES) throw tooLarge()
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > LIMIT_BYTES) throw tooLarge()
    yield chunk
    if (size > chunk.length) await nextMacrotask()
  }
}

const tooLarge = () => new ControlProblem(413, 'payload_too_large', `A body can have at most ${LIMIT_BYTES} bytes.`)

/** The deepest body of a request, in levels of arrays and objects. */
const MAX_DEPTH = 64

/** Reads JSON whatever the content type is, because manual calls often have none. An empty body is an empty object. */
async function readJson(request: Request, maxDepth = MAX_DEPTH): Promise<unknown> {
  const reader = createJsonReader(maxDepth)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isEmpty = true
  let problem: ControlProblem | null = null
  for await (const chunk of chunksOf(request)) {
    isEmpty = false
    // The rest of a wrong body is read as well, so that a client that sends first gets the answer.
    problem ??= problemIn(() => reader.write(decoder.decode(chunk, { stream: true })), maxDepth)
  }
  let value: unknown = {}
  const finish = () => {
    reader.write(decoder.decode())
    value = reader.end()
  }
  if (!isEmpty) problem ??= problemIn(finish, maxDepth)
  if (problem !== null) throw problem
  return value
}

/** Why the text is not the JSON of a body, or null. */
function problemIn(read: () => void, maxDepth: number): ControlProblem | null {
  try {
    read()
    return null
  } catch (error) {
    if (error instanceof JsonDepthError) return tooDeep(maxDepth)
    return new ControlProblem(400, 'invalid_json', `The body is not JSON: ${messageOf(error)}.`)
  }
}

function tooDeep(levels: number): ControlProblem {
  const message = `The body is nested more than ${levels} levels deep.`
  return new ControlProblem(422, 'invalid_body', message, { issues: [{ field: 'body', message }] })
}

async function readForm(request: Request, type: string): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(request)) chunks.push(chunk)
  const bytes = new Uint8Array(Buffer.concat(chunks))
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => null)
  if (form === null)
    throw new ControlProblem(400, 'invalid_form', 'The body is not a form, although its content type says so.')
  const names = [...new Set(form.keys())]
  return Object.fromEntries(names.map(name => [name, name === 'files' ? form.getAll(name) : textOf(form.get(name))]))
}

/** Browsers write line breaks in forms as CRLF, whatever was typed. */
const textOf = <Value>(value: Value): Value | string =>
  typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value
