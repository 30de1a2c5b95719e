import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { ENDPOINTS, WEBHOOK_EVENTS } from '../../src/platform/contract/index.ts'
import { platformOpenApi } from '../../src/platform/contract/openapi.ts'
import { controlOpenApi } from '../../src/server/control/openapi.ts'
import { closeSchema, strictAjv } from '../support/json-schema.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are walked by path
type Json = any

const platform = platformOpenApi({ baseUrl: 'https://bot.example.test' }) as Json
const documents: [string, Json][] = [
  ['platform', platform],
  ['control', controlOpenApi() as Json],
]

const operationsOf = (document: Json): [string, Json][] =>
  Object.entries({ ...document.paths, ...document.webhooks }).flatMap(([path, item]: [string, Json]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => [`${method} ${path}`, operation] as [string, Json]),
  )

function compiler(document: Json) {
  const ajv = strictAjv()
  ajv.addSchema({ $id: 'document', components: closeSchema(document.components) })
  return (schema: Json) => ajv.compile({ $ref: schema.$ref.replace('#', 'document#') })
}

describe.each(documents)('the %s document', (_, document) => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
  })

  test('has only schemas that compile in strict mode', () => {
    const compile = compiler(document)
    for (const name of Object.keys(document.components.schemas)) compile({ $ref: `#/components/schemas/${name}` })
  })

  test('has a target for every reference, and a name of its own for every operation', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)]
    for (const [ref, kind, name] of refs) expect(document.components[kind!]?.[name!], ref).toBeDefined()
    const ids = operationsOf(document).map(([, operation]) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('has examples that match their schemas', () => {
    const compile = compiler(document)
    const contents = [
      ...operationsOf(document).flatMap(([, { requestBody, responses }]) => [requestBody, ...Object.values(responses)]),
      ...Object.values(document.components.responses),
    ]
    const examples = contents.flatMap((one: Json) => {
      const json = one?.content?.['application/json']
      const many = Object.values(json?.examples ?? {}).map((example: Json) => example.value)
      return [...('example' in (json ?? {}) ? [json.example] : []), ...many].map(value => [json.schema, value])
    })
    expect(examples.length).toBeGreaterThan(0)
    for (const [schema, value] of examples) {
      const validate = compile(schema)
      expect(validate(value), JSON.stringify([validate.errors, value])).toBe(true)
    }
  })
})

test('the platform document has the nine endpoints, eight of them under both spellings', () => {
  const expected = Object.values(ENDPOINTS).flatMap(({ id, method, path }) =>
    id === 'chat'
      ? [`${method} ${path}`]
      : [`${method} ${path}`, `${method} ${path.replace('/handover/', '/takeover/')}`],
  )
  const found = operationsOf({ paths: platform.paths }).map(([name]) =>
    name.replace(/^\w+/, word => word.toUpperCase()),
  )
  expect(found.sort()).toEqual(expected.sort())
})

test('the platform document has the four events with the signature headers', () => {
  expect(Object.keys(platform.webhooks)).toEqual(Object.keys(WEBHOOK_EVENTS))
  for (const { post } of Object.values(platform.webhooks) as Json[]) {
    expect(post.parameters.map((one: Json) => one.name)).toEqual(['Kindly-HMAC', 'Kindly-HMAC-algorithm'])
  }
})

test('a key that reads chats is another scheme than the handover key', () => {
  const schemes = operationsOf({ paths: platform.paths }).map(([name, { security }]) => [
    name,
    Object.keys(security[0]),
  ])
  expect(schemes.filter(([, names]) => names!.includes('botApiKey')).map(([name]) => name)).toEqual([
    'get /api/v1/chats/{chatId}',
  ])
})
