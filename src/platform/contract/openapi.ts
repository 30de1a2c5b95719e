/** Generates the OpenAPI 3.1 document of the platform from the endpoints, the errors, the events and their schemas. */
import * as z from 'zod/mini'
import { keysOf } from '../../base/objects.ts'
import { ALIASES, type Alias, type EndpointId } from './endpoint-routes.ts'
import { ENDPOINTS, type Endpoint } from './endpoints.ts'
import { ERRORS, type ErrorCode, UNSPECIFIED_HEADER } from './errors.ts'
import type { WebhookEventName } from './event-names.ts'
import { WEBHOOK_EVENTS } from './events.ts'
import { ENDPOINT_EXAMPLES, EVENT_EXAMPLES } from './examples.ts'
import { KNOBS } from './knobs.ts'
import { ErrorBody } from './schemas.ts'
import { VERSION } from './version.ts'

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS)

/** `baseUrl`: the base URL of the nine endpoints. */
export function platformOpenApi({ baseUrl }: { readonly baseUrl: string }): Record<string, unknown> {
  const paths: Record<string, unknown> = {}
  const schemas: Record<string, z.ZodMiniType> = {}
  for (const endpoint of endpoints) {
    const { id, path, method, body, response } = endpoint
    if (body !== null) schemas[`${pascal(id)}Request`] = body
    schemas[`${pascal(id)}Response`] = response
    if (id === 'chat') paths[path] = { parameters: [CHAT_ID], get: operation(endpoint, null) }
    else
      for (const alias of ALIASES)
        paths[path.replace('/handover/', `/${alias}/`)] = { [method.toLowerCase()]: operation(endpoint, alias) }
  }
  const webhooks: Record<string, unknown> = {}
  for (const name of keysOf(WEBHOOK_EVENTS)) {
    schemas[pascal(camel(name))] = WEBHOOK_EVENTS[name].schema
    webhooks[name] = { post: webhook(name) }
  }
  const statuses = Object.keys(WORDS).map(Number)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Handover and chat transcript service, simulated by handover-sim',
      version: VERSION,
      description: `Rule ids such as E4 refer to docs/reference/platform.md. Where the platform publishes nothing, the answer carries
the header ${UNSPECIFIED_HEADER} with the names of the assumptions it rests on: knobs of docs/reference/assumptions.md.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'handover', description: 'Calls of the intermediary to the platform' },
      { name: 'takeover', description: 'The older spelling of the same functions' },
      { name: 'chats', description: 'Reading a chat with a bot API key' },
    ],
    paths,
    webhooks,
    components: {
      schemas: toComponents({ ...schemas, ErrorBody }),
      responses: Object.fromEntries(
        statuses.map(status => {
          const codes =
            status === 422
              ? ['invalid_parameter']
              : keysOf(ERRORS).filter(code => !ELSEWHERE.includes(code) && ERRORS[code].status === status)
          const examples = codes.map(code => [
            code,
            { value: { error: { code, message: WORDS[status], field: null } } },
          ])
          const retry = { 'retry-after': { description: 'Seconds', schema: { type: 'integer', minimum: 1 } } }
          return [
            `Error${status}`,
            {
              description: `${WORDS[status]}. Codes: ${codes.join(', ')}. Not published by the platform (assumption errors.body).`,
              headers: { ...UNSPECIFIED_REF, ...(status === 429 ? retry : {}) },
              content: { 'application/json': { schema: refTo('ErrorBody'), examples: Object.fromEntries(examples) } },
            },
          ]
        }),
      ),
      headers: {
        [UNSPECIFIED_HEADER]: {
          description: 'Names of the assumptions this answer rests on, where the platform publishes nothing',
          schema: { type: 'string', pattern: '^[a-zA-Z.]+(, [a-zA-Z.]+)*$' },
          example: 'errors.body',
        },
      },
      securitySchemes: {
        handoverKey: { type: 'http', scheme: 'bearer', description: 'The key of the handover settings page (A2)' },
        botApiKey: { type: 'http', scheme: 'bearer', description: "A bot API key with the scope 'Read chats' (A3)" },
      },
    },
  }
}

const UNSPECIFIED_REF = { [UNSPECIFIED_HEADER]: { $ref: `#/components/headers/${UNSPECIFIED_HEADER}` } }

const pascal = (id: string) => id.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
const camel = (name: string) => name.toLowerCase().replace(/ ([a-z])/g, (_, letter: string) => letter.toUpperCase())

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
  const json = (suffix: string, shown: unknown) => ({
    'application/json': { schema: refTo(pascal(id) + suffix), example: shown },
  })
  // 409 occurs only with knobs such as `start.again`.
  const hasConflicts = ['start', 'end', 'message', 'summarize'].includes(id)
  const ofBody = body === null ? [] : [...(hasConflicts ? [409] : []), 413, 415, 422]
  const errors = [400, 401, 403, 404, 429, ...ofBody].sort((a, b) => a - b)
  return {
    operationId: alias === 'takeover' ? `${id}_takeover` : id,
    tags: [alias ?? 'chats'],
    summary,
    description: alias === 'takeover' ? `Rule ${rule}; the same as under /handover/.` : `Rule ${rule}.`,
    security: [{ [scope === 'handover' ? 'handoverKey' : 'botApiKey']: [] }],
    ...(body === null ? {} : { requestBody: { required: true, content: json('Request', example.request) } }),
    responses: {
      200: {
        description: 'Received, and its parameters were valid',
        headers: UNSPECIFIED_REF,
        content: json('Response', example.response),
      },
      ...Object.fromEntries(errors.map(status => [status, { $ref: `#/components/responses/Error${status}` }])),
    },
  }
}

const WORDS: Record<number, string> = {
  400: 'The body is not JSON, a parameter is wrong, or a precondition is not met',
  401: 'The API key is missing or unknown',
  403: 'The API key lacks the scope that this endpoint needs',
  404: 'No such chat or bot, or the two do not belong together',
  409: 'The chat is not in a state for this (only when configured so)',
  413: 'The body is too large',
  415: 'The content type is not JSON (only when configured so)',
  422: 'A parameter is wrong (only when configured so)',
  429: 'Too many calls (only when configured so)',
}

/** Codes that none of the nine endpoints returns. */
const ELSEWHERE: readonly ErrorCode[] = ['path_not_found', 'file_not_found', 'method_not_allowed']

function webhook(name: WebhookEventName): unknown {
  const { demands200, schema } = WEBHOOK_EVENTS[name]
  const content = { schema: refTo(pascal(camel(name))), example: EVENT_EXAMPLES[name] }
  const received = { description: 'Received. The body is not read' }
  return {
    operationId: camel(name),
    summary: z.globalRegistry.get(schema)?.description,
    description: 'Posted to the configured webhook URL; the kind of event is in the field `event`.',
    security: [],
    parameters: SIGNATURE,
    requestBody: { required: true, content: { 'application/json': content } },
    responses: demands200 ? { 200: received, default: { description: 'A failed delivery' } } : { '2XX': received },
  }
}

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

/** The headers of the public guide; the knobs of `webhook.signature` change them. */
const SIGNATURE = [
  header(
    KNOBS['webhook.signatureHeader'].initial,
    'Base64 of the HMAC-SHA256 of the raw body, keyed with the API key of the handover settings page (assumption webhook.signature)',
    'Zyu0OQqRUVIKDlRIFpJCjbLI2RFw+LZCdBRz3IXvDOE=',
  ),
  header(
    KNOBS['webhook.algorithmHeader'].initial,
    'Names how the signature was made (assumption webhook.signature)',
    'HMAC-SHA-256 (base64 encoded)',
  ),
]

export type JsonSchema = Readonly<Record<string, unknown>>

/** Every name of `named`, and every schema with an id that they use. */
export function toComponents(named: Readonly<Record<string, z.ZodMiniType>>): JsonSchema {
  const root = z.toJSONSchema(z.object(named), { io: 'input', unrepresentable: 'any', override: removeIntegerBounds })
  const components: Record<string, unknown> = { ...root.$defs }
  for (const [name, schema] of Object.entries(root.properties ?? {})) {
    const itself = typeof schema === 'object' && schema.$ref === `#/$defs/${name}`
    if (!itself) components[name] = schema
  }
  return mapValues(components, moveRefs)
}

/** A schema as JSON Schema that refers to nothing outside of it. */
export function toJsonSchema(schema: z.ZodMiniType): JsonSchema {
  const { $schema, ...jsonSchema } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: removeIntegerBounds,
  })
  return jsonSchema
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Removes bounds that only mean "a JavaScript integer". */
export function removeIntegerBounds({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

function moveRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveRefs)
  if (typeof value !== 'object' || value === null) return value
  return mapValues(value, (inner, key) =>
    key === '$ref' ? String(inner).replace('#/$defs/', '#/components/schemas/') : moveRefs(inner),
  )
}

const mapValues = (fields: object, change: (value: unknown, key: string) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value, key)]))
