/** Uses Lambda handlers as the webhook, in both formats of gateways. */
import { expect, it, onTestFinished } from 'vitest'
import {
  createSimulator,
  fromLambda,
  InvalidOptionError,
  type LambdaAdapterOptions,
  type SimulatorOptions,
} from '../../src/index.ts'
import { verify } from '../../src/platform/signature/index.ts'

const KEY = 'sim-handover-key'
const MESSAGE = 'Hei, blåbær og 🫐'
const HEADER = 'kindly-hmac'

interface LambdaEvent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isBase64Encoded: boolean
}

type Handler = Parameters<typeof fromLambda>[0]

function simulatorWith(handler: Handler, options?: LambdaAdapterOptions, more: SimulatorOptions = {}) {
  const sim = createSimulator({ ...more, webhook: fromLambda(handler, options) })
  onTestFinished(() => sim.close())
  return sim
}

const bytesOf = ({ body, isBase64Encoded }: LambdaEvent) => Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')

const verifying = async (event: LambdaEvent) => ({
  statusCode: (await verify(bytesOf(event), event.headers[HEADER] ?? '', KEY)) ? 200 : 401,
})

/** What the webhook answers to a text of the user. */
async function answerTo(text: string, ...made: Parameters<typeof simulatorWith>) {
  const sim = simulatorWith(...made)
  const ada = await sim.chat()
  await sim.fetch(`${sim.baseUrl}/api/v2/handover/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: sim.botId, chat_id: ada.id }),
  })
  const { ack } = await ada.says(text)
  return ack!
}

const GATEWAYS: readonly LambdaAdapterOptions[] = [
  { payload: '2.0' },
  { payload: '2.0', base64: true },
  { payload: '1.0' },
  { payload: '1.0', base64: true },
]

it.each(GATEWAYS)('%j: the signature is that of the decoded bytes, also of other letters', async gateway => {
  const texts: string[] = []
  const handler = async (event: LambdaEvent) => {
    expect(event.isBase64Encoded).toBe(gateway.base64 === true)
    texts.push(JSON.parse(bytesOf(event).toString()).message)
    return verifying(event)
  }
  expect(await answerTo(MESSAGE, handler, gateway)).toMatchObject({ status: 200 })
  expect(texts).toEqual([MESSAGE])
  const sim = simulatorWith(verifying, gateway)
  sim.faults.add({ on: 'webhook', sign: 'wrong-key' })
  expect((await (await sim.chat()).press('handover')).ack).toMatchObject({ status: 401 })
})

it('a handler that does not decode a body in base64 refuses every event', async () => {
  const handler = async ({ body, headers }: LambdaEvent) => ({
    statusCode: (await verify(Buffer.from(body), headers[HEADER] ?? '', KEY)) ? 200 : 401,
  })
  expect(await answerTo(MESSAGE, handler, { base64: true })).toMatchObject({ status: 401 })
  expect(await answerTo(MESSAGE, handler)).toMatchObject({ status: 200 })
})

it('the events are those of an HTTP API and of a REST API', async () => {
  const events: unknown[] = []
  const handler = async (...[event, context]: unknown[]) => {
    events.push(event)
    expect(context).toMatchObject({ functionName: 'webhook', awsRequestId: expect.stringMatching(/-000000000001$/) })
    expect((context as { getRemainingTimeInMillis(): number }).getRemainingTimeInMillis()).toBeGreaterThan(0)
    return { statusCode: 200 }
  }
  const path = '/hooks/acme?from=platform&tag=a&tag=b'
  for (const payload of ['2.0', '1.0'] as const)
    expect((await (await simulatorWith(handler, { path, payload }).chat()).press('handover')).ack).toMatchObject({
      status: 200,
    })
  const headers = { 'content-type': 'application/json', [HEADER]: expect.any(String) }
  expect(events[0]).toMatchObject({
    version: '2.0',
    rawPath: '/hooks/acme',
    rawQueryString: 'from=platform&tag=a&tag=b',
    queryStringParameters: { from: 'platform', tag: 'a,b' },
    headers,
    requestContext: {
      http: { method: 'POST', path: '/hooks/acme', userAgent: expect.stringMatching(/^handover-sim/) },
      time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
    },
  })
  expect(events[1]).not.toHaveProperty('version')
  expect(events[1]).toMatchObject({
    httpMethod: 'POST',
    path: '/hooks/acme',
    headers,
    multiValueHeaders: { 'content-type': ['application/json'] },
    queryStringParameters: { from: 'platform', tag: 'b' },
    multiValueQueryStringParameters: { tag: ['a', 'b'] },
    requestContext: { requestTimeEpoch: expect.any(Number) },
  })
})

it.each<[LambdaAdapterOptions['payload'], object | string, object]>([
  ['2.0', { statusCode: 200, headers: { 'X-Desk': 1 }, body: 'ok', cookies: ['a=b'] }, { 'x-desk': '1' }],
  ['2.0', { event: 'seen' }, { 'content-type': 'application/json' }],
  ['2.0', 'seen', { 'content-type': 'application/json' }],
  ['1.0', { statusCode: '200', multiValueHeaders: { 'x-desk': ['a', 'b'] }, body: null }, { 'x-desk': 'a, b' }],
  ['1.0', { statusCode: 200, body: 'b2s=', isBase64Encoded: true, headers: { 'x-desk': 'a' } }, { 'x-desk': 'a' }],
])('%s: %j is an answer', async (payload, answer, headers) => {
  const sim = simulatorWith(async () => answer, { payload: payload! })
  expect((await (await sim.chat()).press('handover')).ack).toMatchObject({ status: 200 })
  const [{ response }] = sim.deliveries as [(typeof sim.deliveries)[number]]
  expect(response).toMatchObject({ headers })
  const text = typeof answer === 'string' ? answer : 'statusCode' in answer ? undefined : JSON.stringify(answer)
  if (text !== undefined) expect(response!.body).toBe(text)
  if ('isBase64Encoded' in Object(answer)) expect(response!.body).toBe('ok')
})

it('a handler with a callback answers through it', async () => {
  const handler = (_event: unknown, _context: unknown, callback: (error: unknown, answer?: object) => void) =>
    setImmediate(callback, null, { statusCode: 200 })
  expect((await (await simulatorWith(handler).chat()).press('handover')).ack).toMatchObject({ status: 200 })
  const failing = (_event: unknown, _context: unknown, callback: (error: unknown) => void) => callback(new Error('no'))
  const { ack } = await (await simulatorWith(failing).chat()).press('handover')
  expect(ack!.error).toMatch(/^the webhook function threw: no at/)
})

const BAD = 'the Lambda handler gave no usable answer: '

it.each<[LambdaAdapterOptions['payload'], Handler, string]>([
  ['2.0', async () => {}, 'expected { statusCode, headers, body, isBase64Encoded }, received undefined; return it in'],
  ['1.0', async () => 'ok', 'expected { statusCode, headers, body, isBase64Encoded }, received "ok"; return it in'],
  ['1.0', async () => ({ body: 'ok' }), 'expected { statusCode, headers, body, isBase64Encoded }, received {"body"'],
  ['2.0', () => ({ statusCode: 200 }), 'expected a promise, received {"statusCode":200}; declare it as async'],
  [
    '2.0',
    async () => ({ statusCode: 'ok' }),
    'expected a statusCode from 200 to 599, received "ok"; return { statusCode',
  ],
  ['2.0', async () => ({ statusCode: 99 }), 'expected a statusCode from 200 to 599, received 99;'],
  [
    '1.0',
    async () => ({ statusCode: 200, body: { a: 1 } }),
    'expected a text as body, received {"a":1}; write body: JSON',
  ],
  ['2.0', async () => ({ statusCode: 200, body: '€', isBase64Encoded: true }), 'expected base64 as body, received "€"'],
  ['2.0', async () => ({ statusCode: 200, headers: 'a' }), 'expected an object as headers, received "a"'],
  ['2.0', async () => ({ statusCode: 200, headers: { a: {} } }), 'expected a text as header a, received {}'],
])('%s: the answer of %s is refused', async (payload, handler, why) => {
  const { ack } = await (await simulatorWith(handler, { payload: payload! }).chat()).press('handover')
  expect(ack!.error).toContain(BAD + why)
})

it.each<[() => unknown, string]>([
  [() => fromLambda({} as never), 'fromLambda takes a Lambda handler: a function (event, context), got {}'],
  [() => fromLambda(verifying, { payload: '3' as never }), 'payload must be "1.0" or "2.0", got "3"'],
  [() => fromLambda(verifying, { base64: 'yes' as never }), 'base64 must be true or false'],
])('%s: InvalidOptionError', (create, message) => {
  expect(create).toThrow(InvalidOptionError)
  expect(create).toThrow(message)
})
