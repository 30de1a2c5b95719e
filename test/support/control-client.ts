/** Calls the control API and checks every answer against the published OpenAPI document. */
import type { AnySchema } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { PlatformServer } from '../../src/server/start.ts'
import { closeSchema, strictAjv } from './json-schema.ts'
import { openApiDocument } from './openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by path
type Json = any

const document: Json = await openApiDocument('--control')
const ajv = strictAjv()
ajv.addSchema({ $id: 'control', components: closeSchema(document.components) } as AnySchema)

function schemaFor(method: string, path: string, status: number): Json {
  const paths = Object.keys(document.paths)
  const found = paths.find(one => new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(path))
  const responses = found && document.paths[found][method.toLowerCase()]?.responses
  const response = responses?.[status] ?? document.components.responses.Problem
  return response.content['application/json'].schema
}

export interface ControlRequest {
  readonly body?: unknown
  readonly form?: FormData
  readonly text?: string
  readonly headers?: Record<string, string>
}
export type ControlClient = ReturnType<typeof createControlClient>

/** `path` is below `/_sim`. Fails the test when an answer differs from the document. */
export function createControlClient(server: Pick<PlatformServer, 'url'>) {
  return async (method: string, path: string, { body, form, text, headers }: ControlRequest = {}) => {
    const sent = form ?? text ?? (body === undefined ? null : JSON.stringify(body))
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(`${server.url}/_sim${path}`, { method, body: sent, headers: { ...type, ...headers } })
    const answer: Json = await response.json()
    checkAnswer(method, `/_sim${path.split('?')[0]}`, response.status, answer)
    return { status: response.status, headers: response.headers, body: answer }
  }
}

function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  // Compiled once: `compile` would compile the schema for every answer.
  const validate = ajv.getSchema(schemaFor(method, path, status).$ref.replace('#', 'control#'))!
  const valid = validate(body)
  expect(valid, `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`).toBe(true)
}
