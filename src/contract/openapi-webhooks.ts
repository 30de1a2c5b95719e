/** What the platform posts to the intermediary, as the `webhooks` of its OpenAPI document. */
import * as z from 'zod/mini'
import { WEBHOOK_EVENTS, type WebhookEventName } from './events.ts'
import { EVENT_EXAMPLES } from './examples.ts'
import { type Named, refTo } from './json-schema.ts'
import { KNOBS } from './knobs.ts'

const names = Object.keys(WEBHOOK_EVENTS) as WebhookEventName[]
const camel = (name: string) => name.toLowerCase().replace(/ ([a-z])/g, (_, letter: string) => letter.toUpperCase())
const schemaName = (name: string) => camel(name).replace(/^[a-z]/, letter => letter.toUpperCase())

export const eventSchemas = (): Named =>
  Object.fromEntries(names.map(name => [schemaName(name), WEBHOOK_EVENTS[name].schema]))

export const webhooks = (): Record<string, unknown> =>
  Object.fromEntries(names.map(name => [name, { post: webhook(name) }]))

function webhook(name: WebhookEventName): unknown {
  const { demands200, schema } = WEBHOOK_EVENTS[name]
  const content = { schema: refTo(schemaName(name)), example: EVENT_EXAMPLES[name] }
  return {
    operationId: camel(name),
    summary: z.globalRegistry.get(schema)?.description,
    description: 'Posted to the configured webhook URL; the kind of event is in the field `event`.',
    security: [],
    parameters: SIGNATURE,
    requestBody: { required: true, content: { 'application/json': content } },
    responses: demands200 ? DEMANDS_200 : ANY_ANSWER,
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

/** What the public guide shows; the knobs of `webhook.signature` change it. */
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

const DEMANDS_200 = {
  200: { description: 'Received. The body is not read' },
  default: { description: 'A failed delivery' },
}

const ANY_ANSWER = { '2XX': { description: 'Received. The body is not read' } }
