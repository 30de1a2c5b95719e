/** A real server for tests: a client that holds every answer against the published document, a webhook, a raw socket. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { expect } from 'vitest'
import { controlOpenApi } from '../../src/server/control/openapi.ts'
import type { PlatformServer } from '../../src/server/start.ts'

export function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true })
  ajvFormats.default(ajv)
  ajv.addVocabulary(['components'])
  ajv.addFormat('base64', /^[A-Za-z0-9+/]*={0,2}$/)
  return ajv
}

/** Fields a schema does not name are refused: an answer must be exactly what is documented. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const open = 'properties' in inner && !('additionalProperties' in inner) && typeof inner.properties === 'object'
  return open ? { ...inner, additionalProperties: false } : inner
}

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by path
type Json = any

const document = controlOpenApi() as Json
const ajv = strictAjv()
ajv.addSchema({ $id: 'control', components: closed(document.components) } as AnySchema)

function schemaFor(method: string, path: string, status: number): Json {
  const paths = Object.keys(document.paths)
  const found = paths.find(one => new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(path))
  const responses = found && document.paths[found][method.toLowerCase()]?.responses
  const response = responses?.[status] ?? document.components.responses.Problem
  return response.content['application/json'].schema
}

export interface FailureDetails {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

export interface Ask {
  readonly body?: unknown
  readonly form?: FormData
  readonly text?: string
  readonly headers?: Record<string, string>
}

export type Control = (method: string, path: string, ask?: Ask) => Promise<FailureDetails>

/** `path` is below `/_sim`. Fails the test when an answer is not the documented one. */
export function control(server: Pick<PlatformServer, 'url'>): Control {
  return async (method, path, { body, form, text, headers = {} } = {}) => {
    const sent = form ?? text ?? (body === undefined ? null : JSON.stringify(body))
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(`${server.url}/_sim${path}`, { method, body: sent, headers: { ...type, ...headers } })
    const told = { status: response.status, headers: response.headers, body: await response.json() }
    const [plain = ''] = path.split('?')
    checkAnswer(method, `/_sim${plain}`, told)
    return told
  }
}

function checkAnswer(method: string, path: string, { status, body }: FailureDetails): void {
  const { $ref } = schemaFor(method, path, status)
  const validate = ajv.compile({ $ref: $ref.replace('#', 'control#') })
  const valid = validate(body)
  const errors = ajv.errorsText(validate.errors)
  expect(valid, `${method} ${path} ${status}: ${errors}\n${JSON.stringify(body)}`).toBe(true)
}

export interface Webhook extends AsyncDisposable {
  readonly url: string
  readonly bodies: string[]
}

/** A webhook on a port of its own; by default it answers 200. */
export async function startWebhook(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end(),
): Promise<Webhook> {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    bodies.push(Buffer.concat(chunks).toString())
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export interface RawLine {
  send(bytes: string | Uint8Array): void
  /** Everything received, once it matches. */
  until(pattern: RegExp): Promise<string>
  /** Everything received, once the other side closed. */
  ended(): Promise<string>
  destroy(): void
}

/** A socket that speaks whatever it is told to. */
export async function rawLine(port: number): Promise<RawLine> {
  const socket = connect(port, '127.0.0.1')
  let seen = ''
  let wake = () => {}
  let over = false
  const finish = () => {
    over = true
    wake()
  }
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    seen += chunk
    wake()
  })
  socket.on('close', finish).on('error', finish)
  await new Promise<void>(resolve => socket.once('connect', resolve))
  const when = async (done: () => boolean): Promise<string> => {
    while (!done() && !over)
      await new Promise<void>(resolve => {
        wake = resolve
      })
    return seen
  }
  return {
    send: bytes => void socket.write(bytes),
    until: pattern => when(() => pattern.test(seen)),
    ended: () => when(() => false),
    destroy: () => void socket.destroy(),
  }
}

/** A promise with its handle outside. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
