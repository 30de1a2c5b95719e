/** Checks answers and events against the contract's schemas and against the platform's OpenAPI document. */

import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod/mini'
import type { EndpointId } from '../../src/platform/contract/endpoint-routes.ts'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import { closeSchema, strictAjv } from './json-schema.ts'
import { openApiDocument } from './openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document, walked by path
type Json = any

const document: Json = await openApiDocument('--base-url', 'https://bot.example.test')
const ajv = strictAjv()
ajv.addSchema({ $id: 'platform', components: closeSchema(document.components) })

function resolve(node: Json): Json {
  if (node?.$ref === undefined) return node
  const path: string[] = node.$ref.split('/').slice(1)
  return resolve(path.reduce((at: Json, key) => at?.[key], document))
}

/** Lists the differences between a body and a schema of the document. */
function problems(schema: Json, body: unknown): string[] {
  if (schema === undefined) return ['the document does not describe this answer']
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"platform#/')))
  return validate(body) ? [] : [ajv.errorsText(validate.errors)]
}

/** Lists the differences between an answer and the OpenAPI document. A 405 has no documented body. */
export function responseProblems(id: EndpointId, status: number, body: unknown): string[] {
  if (status === 405) return []
  const { path, method } = ENDPOINTS[id]
  const responses = document.paths[path][method.toLowerCase()].responses
  const response = resolve(responses[String(status)])
  return problems(response?.content?.['application/json']?.schema, body).map(why => `${id} ${status}: ${why}`)
}

export function eventProblems(event: string, body: unknown): string[] {
  const found = Object.values(document.webhooks as Record<string, Json>).map(
    webhook => webhook.post.requestBody.content['application/json'].schema,
  )
  const fits = found.filter(schema => problems(schema, body).length === 0)
  return fits.length === 1 ? [] : [`${event}: fits ${fits.length} of the ${found.length} webhooks of the document`]
}

/** Lists the differences between a value and a schema, undocumented fields included. */
export function schemaProblems(schema: z.ZodMiniType, value: unknown): string[] {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return [parsed.error.message]
  return isDeepStrictEqual(parsed.data, value) ? [] : [`fields beyond the schema in ${JSON.stringify(value)}`]
}
