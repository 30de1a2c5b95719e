/** The platform as an OpenAPI 3.1 document, from the table of endpoints, the events and their schemas. */
import { ALIASES, type Alias, ENDPOINTS, type Endpoint, type EndpointId } from './endpoints.ts'
import { ErrorBody, UNSPECIFIED_HEADER } from './errors.ts'
import { ENDPOINT_EXAMPLES } from './examples.ts'
import { type JsonSchema, type Named, refTo, toComponents } from './json-schema.ts'
import { errorResponses, errorsOf } from './openapi-errors.ts'
import { eventSchemas, webhooks } from './openapi-webhooks.ts'
import { VERSION } from './version.ts'

export interface OpenApiOptions {
  /** Where the nine endpoints are. */
  readonly baseUrl: string
}

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS)

export function platformOpenApi({ baseUrl }: OpenApiOptions): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Handover and chat transcript service, as handover-sim plays it',
      version: VERSION,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: TAGS,
    paths: Object.fromEntries(endpoints.flatMap(pathsOf)),
    webhooks: webhooks(),
    components: {
      schemas: toComponents({ ...bodySchemas(), ...eventSchemas(), ErrorBody }),
      responses: errorResponses(),
      headers: { [UNSPECIFIED_HEADER]: UNSPECIFIED },
      securitySchemes: SECURITY,
    },
  }
}

const ABOUT = `Rule ids such as E4 refer to docs/platform.md. Where the platform publishes nothing, the answer carries
the header ${UNSPECIFIED_HEADER} with the names of the assumptions it rests on: knobs of docs/assumptions.md.`

const TAGS = [
  { name: 'handover', description: 'What the intermediary asks of the platform' },
  { name: 'takeover', description: 'The older spelling of the same functions' },
  { name: 'chats', description: 'Reading a chat with a bot API key' },
]

const UNSPECIFIED = {
  description: 'Names of the assumptions this answer rests on, where the platform publishes nothing',
  schema: { type: 'string', pattern: '^[a-zA-Z.]+(, [a-zA-Z.]+)*$' },
  example: 'errors.body',
}

const SECURITY = {
  handoverKey: { type: 'http', scheme: 'bearer', description: 'The key of the handover settings page (A2)' },
  botApiKey: { type: 'http', scheme: 'bearer', description: "A bot API key with the scope 'Read chats' (A3)" },
}

const pascal = (id: string) => id.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
const requestName = (id: string) => `${pascal(id)}Request`
const responseName = (id: string) => `${pascal(id)}Response`

function bodySchemas(): Named {
  const schemas: Record<string, Named[string]> = {}
  for (const { id, body, response } of endpoints) {
    if (body !== null) schemas[requestName(id)] = body
    schemas[responseName(id)] = response
  }
  return schemas
}

function pathsOf(endpoint: Endpoint): [path: string, item: unknown][] {
  if (endpoint.id === 'chat') return [[endpoint.path, { parameters: [CHAT_ID], get: operation(endpoint, null) }]]
  return ALIASES.map(alias => [
    endpoint.path.replace('/handover/', `/${alias}/`),
    { [endpoint.method.toLowerCase()]: operation(endpoint, alias) },
  ])
}

const CHAT_ID = {
  name: 'chatId',
  in: 'path',
  required: true,
  description: 'Chat identifier',
  schema: { type: 'string' },
}

function operation(endpoint: Endpoint, alias: Alias | null): unknown {
  const { id, summary, rule, scope, body } = endpoint
  const example = ENDPOINT_EXAMPLES[id as EndpointId]
  return {
    operationId: alias === 'takeover' ? `${id}_takeover` : id,
    tags: [alias ?? 'chats'],
    summary,
    description: alias === 'takeover' ? `Rule ${rule}; the same as under /handover/.` : `Rule ${rule}.`,
    security: [{ [scope === 'handover' ? 'handoverKey' : 'botApiKey']: [] }],
    ...(body === null ? {} : { requestBody: { required: true, content: json(requestName(id), example.request) } }),
    responses: { 200: okResponse(responseName(id), example.response), ...errorsOf(endpoint) },
  }
}

function okResponse(name: string, example: unknown): unknown {
  return {
    description: 'Received, and its parameters were valid',
    headers: { [UNSPECIFIED_HEADER]: { $ref: `#/components/headers/${UNSPECIFIED_HEADER}` } },
    content: json(name, example),
  }
}

const json = (name: string, example: unknown): JsonSchema => ({
  'application/json': { schema: refTo(name), example },
})
