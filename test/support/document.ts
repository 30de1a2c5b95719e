/** Holds the platform's answers and events against its OpenAPI document, with a validator that is not ours. */
import { ENDPOINTS, type EndpointId } from '../../src/contract/endpoints.ts'
import { platformOpenApi } from '../../src/contract/openapi.ts'
import { closed, strictAjv } from './server.ts'

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document, walked by path
type Json = any

const document: Json = platformOpenApi({ baseUrl: 'https://bot.example.test' })
const ajv = strictAjv()
ajv.addSchema({ $id: 'platform', components: closed(document.components) })

const resolve = (node: Json): Json =>
  node?.$ref === undefined
    ? node
    : resolve(
        node.$ref
          .split('/')
          .slice(1)
          .reduce((at: Json, key: string) => at?.[key], document),
      )

/** What is wrong with a body, in words; nothing when the document describes it. */
function problems(schema: Json, body: unknown): string[] {
  if (schema === undefined) return ['the document has no such answer']
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"platform#/')))
  return validate(body) ? [] : [ajv.errorsText(validate.errors)]
}

/** A document lists no answer to methods and paths it does not have. */
export function againstDocument(id: EndpointId, status: number, body: unknown): string[] {
  if (status === 405) return []
  const { path, method } = ENDPOINTS[id]
  const responses = document.paths[path][method.toLowerCase()].responses
  const response = resolve(responses[String(status)])
  return problems(response?.content?.['application/json']?.schema, body).map(why => `${id} ${status}: ${why}`)
}

export function eventAgainstDocument(event: string, body: unknown): string[] {
  const found = Object.values(document.webhooks as Record<string, Json>).map(
    webhook => webhook.post.requestBody.content['application/json'].schema,
  )
  const fits = found.filter(schema => problems(schema, body).length === 0)
  return fits.length === 1 ? [] : [`${event}: fits ${fits.length} of the ${found.length} webhooks of the document`]
}
