/** Generates the OpenAPI 3.1 document of the control API from the table that registers its routes. */
import * as z from 'zod/mini'
import { shapeOf } from '../../base/schemas/definitions.ts'
import { type JsonSchema, type Named, refTo, toComponents } from '../../platform/contract/openapi.ts'
import { VERSION } from '../../platform/contract/version.ts'
import { ControlErrorResponse, type ControlRoute, type DocumentedResponse } from './route.ts'
import { pathsOf, ROUTES } from './routes.ts'

export function controlOpenApi({ url = 'http://127.0.0.1:4747' } = {}): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'handover-sim control API',
      version: VERSION,
      description: 'Acts as the end user, changes the configuration, and reads and awaits journal entries.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    security: [{}, { bearer: [] }, { header: [] }],
    tags: [...new Set(ROUTES.map(route => route.group))].map(name => ({ name })),
    paths: paths(),
    components: {
      schemas: toComponents({ ...bodies(), ...queries() }),
      responses: {
        Problem: { description: 'The request was refused; the body says why', content: jsonOf(ControlErrorResponse) },
      },
      securitySchemes: SECURITY,
    },
  }
}

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Needed when the simulator does not listen on a loopback address',
  },
  header: { type: 'apiKey', in: 'header', name: 'x-handover-sim-token', description: 'The same token' },
}

const idOf = (schema: z.ZodMiniType): string => String(z.globalRegistry.get(schema)?.id)
const jsonOf = (schema: z.ZodMiniType) => ({ 'application/json': { schema: refTo(idOf(schema)) } })

function bodies(): Named {
  const all = ROUTES.flatMap(({ body, upload, responses }) => [
    body,
    upload,
    ...Object.values(responses).map(one => (typeof one === 'string' ? null : one.schema)),
  ])
  const schemas = all.filter((one): one is NonNullable<typeof one> => one !== undefined && one !== null)
  return Object.fromEntries([ControlErrorResponse, ...schemas].map(schema => [idOf(schema), schema]))
}

const parameterName = (route: ControlRoute, name: string) => `${route.id}_${name}`

/** Query parameters as schemas with generated names, so that they are converted together with the bodies. */
function queries(): Named {
  const named: Record<string, z.ZodMiniType> = {}
  for (const route of ROUTES) {
    if (route.query === undefined) continue
    for (const [name, schema] of Object.entries(shapeOf(route.query))) named[parameterName(route, name)] = schema
  }
  return named
}

function paths(): Record<string, unknown> {
  const found: Record<string, Record<string, unknown>> = {}
  for (const route of ROUTES) {
    for (const [index, pattern] of pathsOf(route).entries()) {
      const path = pattern.replace(/:([a-z]+)/g, '{$1}')
      const id = index === 0 ? route.id : `workspace_${route.id}`
      found[path] = { ...found[path], [route.method.toLowerCase()]: operation(route, id, pattern) }
    }
  }
  return found
}

function operation(route: ControlRoute, id: string, path: string): unknown {
  const { group, summary, description, responses, open } = route
  const inPath = [...path.matchAll(/:([a-z]+)/g)].map(([, name]) => name)
  const parameters = [
    ...inPath.map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...queryParameters(route),
  ]
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route),
    responses: {
      ...(inPath.includes('workspace') && { 404: response('There is no such workspace') }),
      ...Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, response(answer)])),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

const queryParameters = (route: ControlRoute): unknown[] =>
  Object.keys(route.query === undefined ? {} : shapeOf(route.query)).map(name => ({
    name,
    in: 'query',
    schema: refTo(parameterName(route, name)),
  }))

function requestBody({ body, upload, example }: ControlRoute): { requestBody?: unknown } {
  if (body === undefined) return {}
  const json = { schema: refTo(idOf(body)), ...(example === undefined ? {} : { example }) }
  const form = upload === undefined ? {} : { 'multipart/form-data': { schema: refTo(idOf(upload)) } }
  return { requestBody: { required: example !== undefined, content: { 'application/json': json, ...form } } }
}

function response(documented: string | DocumentedResponse): unknown {
  if (typeof documented === 'string') return { description: documented, content: jsonOf(ControlErrorResponse) }
  const { description, schema, type = 'text/plain' } = documented
  if (schema !== null) return { description, content: jsonOf(schema) }
  return { description, content: { [type]: { schema: { type: 'string' } satisfies JsonSchema } } }
}
