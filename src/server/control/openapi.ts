/** Generates the OpenAPI 3.1 document of the control API from the table that registers its routes. */
import * as z from 'zod/mini'
import { shapeOf } from '../../base/schemas/definitions.ts'
import { type JsonSchema, refTo, toComponents } from '../../platform/contract/openapi.ts'
import { VERSION } from '../../platform/contract/version.ts'
import { ControlErrorResponse, type ControlRoute, type DocumentedResponse } from './route.ts'
import { pathsOf, ROUTES } from './routes.ts'

export function controlOpenApi({ url = 'http://127.0.0.1:4747' } = {}): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  /** Bodies by their ids, and query parameters by generated names, so that all are converted together. */
  const schemas: Record<string, z.ZodMiniType> = { [idOf(ControlErrorResponse)]: ControlErrorResponse }
  const groups = new Set<string>()
  for (const route of ROUTES) {
    groups.add(route.group)
    const responseSchemas = Object.values(route.responses).map(response =>
      typeof response === 'string' ? null : response.schema,
    )
    for (const schema of [route.body, route.upload, ...responseSchemas]) if (schema) schemas[idOf(schema)] = schema
    for (const [name, schema] of Object.entries(queryOf(route))) schemas[`${route.id}_${name}`] = schema
    for (const [index, pattern] of pathsOf(route).entries()) {
      const path = pattern.replace(/:([a-z]+)/g, '{$1}')
      const id = index === 0 ? route.id : `workspace_${route.id}`
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, id, pattern) }
    }
  }
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
    tags: Array.from(groups, name => ({ name })),
    paths,
    components: {
      schemas: toComponents(schemas),
      responses: {
        Problem: {
          description: 'The request was refused; the body says why',
          content: jsonContent(ControlErrorResponse),
        },
      },
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'Needed when the simulator does not listen on a loopback address',
        },
        header: { type: 'apiKey', in: 'header', name: 'x-handover-sim-token', description: 'The same token' },
      },
    },
  }
}

const idOf = (schema: z.ZodMiniType): string => String(z.globalRegistry.get(schema)?.id)
const jsonContent = (schema: z.ZodMiniType) => ({ 'application/json': { schema: refTo(idOf(schema)) } })
const queryOf = ({ query }: ControlRoute) => (query === undefined ? {} : shapeOf(query))

function operation(route: ControlRoute, id: string, path: string): unknown {
  const { group, summary, description, responses, open, body, upload, example } = route
  const parameters: unknown[] = []
  for (const [, name] of path.matchAll(/:([a-z]+)/g))
    parameters.push({ name, in: 'path', required: true, schema: { type: 'string' } })
  for (const name of Object.keys(queryOf(route)))
    parameters.push({ name, in: 'query', schema: refTo(`${route.id}_${name}`) })

  const documented: Record<string, unknown> = {}
  if (path.includes(':workspace')) documented[404] = response('There is no such workspace')
  for (const [status, spec] of Object.entries(responses)) documented[status] = response(spec)
  const content = body && {
    'application/json': { schema: refTo(idOf(body)), ...(example === undefined ? {} : { example }) },
    ...(upload && { 'multipart/form-data': { schema: refTo(idOf(upload)) } }),
  }
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content && { requestBody: { required: example !== undefined, content } }),
    responses: { ...documented, default: { $ref: '#/components/responses/Problem' } },
  }
}

function response(documented: string | DocumentedResponse): unknown {
  if (typeof documented === 'string') return { description: documented, content: jsonContent(ControlErrorResponse) }
  const { description, schema, type = 'text/plain' } = documented
  if (schema !== null) return { description, content: jsonContent(schema) }
  return { description, content: { [type]: { schema: { type: 'string' } satisfies JsonSchema } } }
}
