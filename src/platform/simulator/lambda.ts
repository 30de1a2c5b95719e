/** Lets an AWS Lambda handler of this process be the webhook: builds the event of a gateway, and reads the handler's answer. */
import { isMap } from '../../base/objects.ts'
import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import { TransportError } from '../../base/runtime/connection-failure.ts'
import { latin1Text } from '../../base/runtime/encoding.ts'
import { isThenable } from '../rules/engines.ts'
import { describeValue, flag, only } from './options.ts'
import { type FetchWebhook, unknownApplication, urlFrom, type WebhookAdapterOptions } from './webhook-adapters.ts'

/** Options of `fromLambda`. */
export interface LambdaAdapterOptions extends WebhookAdapterOptions {
  /**
   * The format of events and answers: `2.0` of HTTP APIs and function URLs, or `1.0` of REST APIs. Default `2.0`.
   */
  readonly payload?: '1.0' | '2.0'
  /**
   * Whether the gateway encodes every body as base64, as a REST API does with all media types as binary ones. Default
   * false: the body is text, because events are JSON.
   */
  readonly base64?: boolean
}

/** A handler as AWS Lambda calls it. */
interface LambdaFunction {
  // biome-ignore lint/suspicious/noExplicitAny: a handler declares its own types of event, context and callback.
  handler(event: any, context: any, callback: any): unknown
}

type LambdaHandler = LambdaFunction['handler']

/**
 * Makes an AWS Lambda handler the webhook. It receives each event as a gateway passes it, and answers with
 * `{ statusCode, headers, body, isBase64Encoded }`. With `2.0`, another value is the JSON of an answer 200. Header names are
 * lower-case.
 *
 * @throws InvalidOptionError for another value, and for a wrong option.
 * @example
 * const other = createSimulator({ webhook: fromLambda(async event => ({ statusCode: event.body ? 200 : 400 })) })
 */
export function fromLambda(handler: LambdaHandler, options: LambdaAdapterOptions = {}): FetchWebhook {
  const url = urlFrom('fromLambda', options, { payload: only('1.0', '2.0'), base64: flag })
  if (typeof handler !== 'function')
    throw unknownApplication('fromLambda', 'a Lambda handler: a function (event, context)', handler)
  const { payload = '2.0', base64 = false } = options
  let count = 0
  return {
    url,
    async fetch(request) {
      // As a UUID, and the same in each run.
      const requestId = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`
      const gateway: GatewayRequest = {
        request,
        url: new URL(request.url),
        requestId,
        body: encodedBody(new Uint8Array(await request.arrayBuffer()), base64),
        base64,
      }
      const event = payload === '1.0' ? restEvent(gateway) : httpEvent(gateway)
      return responseFrom(await invoke(handler, event, requestId), payload)
    },
  }
}

/** What an event is made of. */
interface GatewayRequest {
  readonly request: Request
  readonly url: URL
  readonly requestId: string
  /** Null for an empty body. */
  readonly body: string | null
  readonly base64: boolean
}

function encodedBody(bytes: Uint8Array, base64: boolean): string | null {
  if (bytes.length === 0) return null
  // Keeps a byte order mark, which the signature covers too.
  return base64 ? btoa(latin1Text(bytes)) : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

const SOURCE_IP = '127.0.0.1'
const API = { accountId: '123456789012', apiId: 'simulator' }

/** The event of an HTTP API or a function URL. */
function httpEvent({ request, url, requestId, body, base64 }: GatewayRequest): object {
  const query = [...new Set(url.searchParams.keys())]
  const headers = Object.fromEntries(request.headers)
  const userAgent = headers['user-agent'] ?? ''
  const { method } = request
  const http = { method, path: url.pathname, protocol: 'HTTP/1.1', sourceIp: SOURCE_IP, userAgent }
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers,
    ...(query.length > 0 && {
      queryStringParameters: Object.fromEntries(query.map(name => [name, url.searchParams.getAll(name).join(',')])),
    }),
    requestContext: {
      ...API,
      domainName: url.host,
      domainPrefix: url.host.split('.')[0],
      http,
      requestId,
      routeKey: '$default',
      stage: '$default',
      ...timeOfRequest('time', 'timeEpoch'),
    },
    ...(body !== null && { body }),
    isBase64Encoded: base64 && body !== null,
  }
}

/** The event of a REST API. */
function restEvent({ request, url, requestId, body, base64 }: GatewayRequest): object {
  const query = [...new Set(url.searchParams.keys())]
  const lists = query.map(name => [name, url.searchParams.getAll(name)] as const)
  const headers = Object.fromEntries(request.headers)
  const { method: httpMethod } = request
  const path = url.pathname
  return {
    resource: '/{proxy+}',
    path,
    httpMethod,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters:
      lists.length === 0 ? null : Object.fromEntries(lists.map(([name, all]) => [name, all.at(-1)])),
    multiValueQueryStringParameters: lists.length === 0 ? null : Object.fromEntries(lists),
    pathParameters: { proxy: path.slice(1) },
    stageVariables: null,
    requestContext: {
      ...API,
      domainName: url.host,
      domainPrefix: url.host.split('.')[0],
      extendedRequestId: requestId,
      httpMethod,
      identity: { sourceIp: SOURCE_IP, userAgent: headers['user-agent'] ?? null },
      path: `/prod${path}`,
      protocol: 'HTTP/1.1',
      requestId,
      resourceId: 'proxy',
      resourcePath: '/{proxy+}',
      stage: 'prod',
      ...timeOfRequest('requestTime', 'requestTimeEpoch'),
    },
    body,
    isBase64Encoded: base64 && body !== null,
  }
}

/** `12/Mar/2024:19:03:58 +0000`, and the same in epoch milliseconds. */
function timeOfRequest(name: string, epochName: string): object {
  const now = wallTime()
  const [, day, month, year, time] = new Date(now).toUTCString().split(' ')
  return { [name]: `${day}/${month}/${year}:${time} +0000`, [epochName]: Date.parse(now) }
}

/** The time limit that `getRemainingTimeInMillis` counts down from: that of a gateway. */
const LIMIT_MS = 30_000

/** Resolves with what the promise of the handler resolves with, or with what the handler passes to its callback. */
function invoke(handler: LambdaHandler, event: object, awsRequestId: string): Promise<unknown> {
  const started = elapsedMs()
  const context = {
    awsRequestId,
    functionName: 'webhook',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-north-1:123456789012:function:webhook',
    memoryLimitInMB: '128',
    logGroupName: '/aws/lambda/webhook',
    logStreamName: 'simulator',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, LIMIT_MS - Math.round(elapsedMs() - started)),
  }
  return new Promise((resolve, reject) => {
    const callback = (error: unknown, answer: unknown) =>
      error === null || error === undefined ? resolve(answer) : reject(error)
    const returned = handler(event, context, callback)
    if (isThenable(returned)) returned.then(resolve, reject)
    else if (handler.length < 3)
      reject(
        unusable(
          `expected a promise, received ${describeValue(returned)}; declare it as async (event) => ({ statusCode: 200 })`,
        ),
      )
  })
}

const unusable = (detail: string) => new TransportError({ code: 'lambda_answer_invalid', detail })

/** Statuses whose responses have no body. */
const WITHOUT_BODY = [204, 205, 304]

function responseFrom(answer: unknown, payload: '1.0' | '2.0'): Response {
  const isInferred = payload === '2.0' && answer !== null && answer !== undefined && !hasStatus(answer)
  if (isInferred) {
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  }
  if (!isMap(answer) || !hasStatus(answer))
    throw unusable(
      `expected { statusCode, headers, body, isBase64Encoded }, received ${describeValue(answer)}; return it in each branch`,
    )
  const status = Number(answer.statusCode)
  if (!/^[2-5]\d\d$/.test(String(answer.statusCode)))
    throw unusable(
      `expected a statusCode from 200 to 599, received ${describeValue(answer.statusCode)}; return { statusCode: 200 } to acknowledge`,
    )
  const body = bodyOf(answer)
  return new Response(WITHOUT_BODY.includes(status) ? null : body, { status, headers: headersOf(answer, payload) })
}

const hasStatus = (answer: unknown): boolean => isMap(answer) && answer.statusCode !== undefined

function bodyOf({
  body = null,
  isBase64Encoded,
}: Readonly<Record<string, unknown>>): string | Uint8Array<ArrayBuffer> | null {
  if (body === null) return null
  if (typeof body !== 'string')
    throw unusable(`expected a text as body, received ${describeValue(body)}; write body: JSON.stringify(value)`)
  if (isBase64Encoded !== true) return body
  try {
    return Uint8Array.from(atob(body), char => char.charCodeAt(0))
  } catch {
    throw unusable(`expected base64 as body, received ${describeValue(body)}; leave out isBase64Encoded for a text`)
  }
}

/** `multiValueHeaders` belongs to the format 1.0, `cookies` to 2.0. */
function headersOf(answer: Readonly<Record<string, unknown>>, payload: '1.0' | '2.0'): Headers {
  const headers = new Headers()
  const add = (name: string, value: unknown) => {
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw unusable(`expected a text as header ${name}, received ${describeValue(value)}; write String(value)`)
    headers.append(name, String(value))
  }
  for (const [name, value] of fieldsOf(answer, 'headers')) add(name, value)
  if (payload === '1.0')
    for (const [name, values] of fieldsOf(answer, 'multiValueHeaders')) {
      headers.delete(name)
      for (const value of [values].flat()) add(name, value)
    }
  else for (const cookie of [answer.cookies ?? []].flat()) add('set-cookie', cookie)
  return headers
}

function fieldsOf(answer: Readonly<Record<string, unknown>>, name: string): [string, unknown][] {
  const fields = answer[name] ?? {}
  if (isMap(fields)) return Object.entries(fields)
  throw unusable(`expected an object as ${name}, received ${describeValue(fields)}; write ${name}: { name: 'value' }`)
}
