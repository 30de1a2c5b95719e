/** Attacks every route of the control API and of the platform with random and mutated requests. */
import { expect, test } from 'vitest'
import { shapeOf } from '../../src/base/schemas/definitions.ts'
import { INTERNAL_HEADER } from '../../src/platform/contract/errors.ts'
import { ENDPOINT_EXAMPLES as EXAMPLES } from '../../src/platform/contract/examples.ts'
import { ENDPOINTS, ErrorBody } from '../../src/platform/contract/index.ts'
import { pathsOf, ROUTES } from '../../src/server/control/routes.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import type { ControlledServer, RawAnswer, RawRequest } from './attacked-server.ts'
import {
  bugIn,
  inParallel,
  playHandover,
  sendRaw,
  startAttackedServer,
  startControlledServer,
} from './attacked-server.ts'
import { createDraw, type Draw, nested } from './mutations.ts'
import { rounds, seed } from './rounds.ts'

/** Requests between two checks that the server works. */
const BATCH = 500
const AT_ONCE = 48
const ROUNDS = rounds(1500, 3)
const LIMIT_MS = 120_000 + ROUNDS * 100
/** After this time the client hangs up: waits, streams and latencies may last for hours. */
const HANG_UP_MS = 150

test('no request causes an internal error, and handovers still work', { timeout: LIMIT_MS }, async () => {
  const server = await startControlledServer()
  const before = await server.control('GET', '/snapshot?keys=true')
  const found: string[] = []
  server.journal.subscribe(entry => {
    if (entry.kind === 'note' && entry.note === 'internal_error') found.push(JSON.stringify(entry))
  })
  for (let done = 0; done < ROUNDS && found.length <= 10; done += BATCH) {
    const draw = createDraw(seed(), `control ${done}`)
    const ids = await someChats(server)
    const attacks = Array.from({ length: BATCH }, () =>
      draw.chance(4) ? onPlatform(server, draw, ids) : onControl(server, draw, ids),
    )
    await inParallel(AT_ONCE, attacks, async attack => {
      const answer = await sendRaw(server.port, attack, HANG_UP_MS).catch(() => null)
      const bug = answer === null ? null : bugIn(attack, answer)
      if (bug !== null) found.push(`${bug}\n${String(attack.body).slice(0, 300)}`)
    })
    await restoreWhenIdle(server, before)
    await playHandover(server)
  }
  expect(found).toEqual([])
})

/**
 * Restores the server after requests whose client hung up. It accepts connections in their order, so it has read those
 * requests when it answers. The first restore aborts what waits, and nothing is in flight when the server has settled.
 */
async function restoreWhenIdle(server: ControlledServer, before: unknown): Promise<void> {
  await server.control('PUT', '/snapshot', before)
  await server.control('POST', '/settle')
  await server.control('PUT', '/snapshot', before)
}

test('the platform answers every hostile request in its format', { timeout: LIMIT_MS }, async () => {
  const found: string[] = []
  const server = await startAttackedServer()
  const draw = createDraw(seed(), 'platform')
  const ids = await someChats(server)
  const attacks = Array.from({ length: ROUNDS }, () => onPlatform(server, draw, ids))
  await inParallel(AT_ONCE, attacks, async attack => {
    const problem = problemWith(attack, await sendRaw(server.port, attack))
    if (problem !== null) found.push(`${attack.method} ${attack.path}: ${problem}`)
  })
  expect(found).toEqual([])
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  await playHandover(server)
})

/** Returns what is wrong with an answer of the platform. */
function problemWith({ method, path, headers = {} }: RawRequest, answer: RawAnswer): string | null {
  const { status, headers: received, body } = answer
  if (status >= 500) return `status ${status}: ${body}`
  // Clients of another host or page, and the control API, get errors of handover-sim itself.
  const isForeign = headers.host !== undefined || headers.origin !== undefined || !/^\/(api|files)\//.test(path)
  if (received[INTERNAL_HEADER] !== undefined) return isForeign ? null : `internal error ${status}: ${body}`
  // Node itself refuses an unknown expectation.
  if (status < 400 || status === 417 || method === 'HEAD' || isForeign) return null
  return isErrorBody(body) ? null : `status ${status} is not in the format of the platform: ${body}`
}

function isErrorBody(text: string): boolean {
  try {
    return ErrorBody.safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

/** Creates chats that the attacks name. */
async function someChats(server: PlatformServer): Promise<string[]> {
  const plain = await server.chat({ history: [{ user: 'Where is my parcel, please?' }, { user: 'Order 100-48213.' }] })
  const named = await server.chat({ id: '__proto__', language: 'nb' })
  await plain.press('handover')
  await named.says('Hello', { attach: [{ name: 'a.png', type: 'image/png', size_kb: 1 }] })
  return [plain.id, named.id]
}

/** Bodies that are valid, from which the mutations begin. */
const BODIES: Readonly<Record<string, readonly unknown[]>> = {
  createChat: [
    { language: 'nb', labels: ['a'], context: { order: { id: 1, lines: [1, 2] } }, user: { id: 'u', gender: 'f' } },
    { history: [{ user: 'Hi' }, { bot: 'Hello', buttons: [] }], source: 'web', bot_id: 1 },
    { transcript: 'nb-shop', context: nested(64) },
  ],
  say: [{ text: 'Hello' }, { text: '', attachments: [{ name: 'a.png', type: 'image/png', size_kb: 2 }] }],
  press: [{ button: 'handover' }],
  patchConfig: [
    { 'typing.webhook': 'off', 'webhook.retry': ['1s', '5s'], 'webhook.timeout': '50ms', 'keys.graceful': '10m' },
    { 'api.contentType': '415', 'limits.body': 2000, 'errors.body': 'html', 'limits.rate': '5/1s' },
    { 'webhook.json': 'reordered', 'webhook.order': 'shuffle', 'webhook.signature': 'hex', 'ids.chat': 'hex24' },
    { business_hours: { timezone: 'Europe/Oslo', mon: '09:00-17:00' }, 'keys.more': ['other-key-1:77'] },
  ],
  setAvailability: [{ availability: 'CLOSED', reason: 'OTHER', queue: 'DEFAULT' }],
  trigger: [
    { event: 'MESSAGE FROM USER', body: { message: 'Hello' }, sign: 'tampered', truncate: true, delay: '1s' },
    { event: 'X', body: { a: [1] }, duplicate: 3, gap: '1s', http: 'chunked', drip: '5ms', reset_after_answer: true },
  ],
  resend: [{}, { truncate: true, duplicate: 2 }],
  setFault: [
    { on: { api: 'start' }, respond: { status: 503, headers: { 'Retry-After': '1' }, body: { a: 1 } }, times: 2 },
    { on: 'webhook', duplicate: 2, gap: '1s', sign: 'tampered', truncate: true, name: 'f' },
    { on: { api: 'any' }, slow_body: '5ms', latency: '5ms' },
    { on: { webhook: 'any' }, hold: 1 },
    { on: 'api', drop: 'after', every: 3 },
  ],
  advanceClock: [{ by: '10m' }, { by: '2400000000h' }],
  createWorkspace: [
    { name: 'checkout', webhook_url: 'http://127.0.0.1:9/webhook', clock: 'virtual', seed: 4, knobs: {} },
    { clock: { mode: 'virtual', start: '2024-01-01T09:00:00Z' }, bot: { id: 5, replies: [{ match: 'a', text: 'b' }] } },
  ],
  restoreSnapshot: [{ v: 1 }],
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const

/** Routes whose answers take until the client hangs up; they are drawn less often. */
const LONG = /events$|wait$/

function onControl(server: PlatformServer, draw: Draw, ids: readonly string[]): RawRequest {
  const drawn = draw.one(ROUTES)
  const route = LONG.test(drawn.path) ? draw.one(ROUTES) : drawn
  const method = draw.chance(25) ? draw.one(METHODS) : route.method
  const path = draw.one(pathsOf(route)).replace(/:[a-z]+/g, () => encodeURIComponent(pathPart(server, draw, ids)))
  const headers = draw.chance(10) ? oddHeaders(draw) : { 'content-type': 'application/json' }
  const target = `${draw.chance(40) ? `/_sim${draw.hostileText()}` : path}${queryFor(draw, route.query)}`
  if (method === 'GET' || method === 'HEAD') return { method, path: target, headers }
  return { method, path: target, headers, body: textOf(draw, bodyFor(draw, route.id)) }
}

function pathPart(server: PlatformServer, draw: Draw, ids: readonly string[]): string {
  const deliveries = server.deliveries.slice(-3).map(one => one.delivery_id)
  const part = draw.chance(4)
    ? draw.hostileText()
    : draw.one([...ids, ...deliveries, 'checkout', 'ws-1', 'fault-1', 'f'])
  return part.isWellFormed() ? part.slice(0, 200) : 'x'
}

function queryFor(draw: Draw, schema: (typeof ROUTES)[number]['query']): string {
  if (draw.chance(2)) return ''
  const names = schema === undefined ? [] : Object.keys(shapeOf(schema))
  const values = ['ack', 'true', '1', '0', '50ms', 'start', 'api', 'note', 'chat_created', '999999999999999']
  const pairs = Array.from({ length: draw.below(3) + 1 }, () => {
    const name = names.length === 0 || draw.chance(6) ? draw.hostileText() : draw.one(names)
    const value = draw.chance(3) ? draw.hostileText() : draw.one(values)
    return `${encoded(name)}=${encoded(value)}`
  })
  return `?${pairs.join('&')}`
}

const encoded = (text: string) => (text.isWellFormed() ? encodeURIComponent(text.slice(0, 300)) : '%ED%A0%80')

function bodyFor(draw: Draw, id: string): unknown {
  const bodies = BODIES[id]
  if (bodies === undefined) return draw.chance(4) ? draw.hostile() : {}
  let body: unknown = draw.one(bodies)
  for (let count = draw.below(4); count > 0; count--) body = draw.mutated(body)
  return body
}

/** The body as JSON, at times as broken bytes. */
function textOf(draw: Draw, body: unknown): string | Buffer {
  const text = JSON.stringify(body) ?? ''
  if (!draw.chance(15)) return text
  return draw.one([
    () => text.slice(0, draw.below(text.length + 1)),
    () => `\ufeff${text}`,
    () => Buffer.from([...Buffer.from(text.slice(0, 50)), 0xff, 0xfe]),
    () => text.replace('{', '{"__proto__":1,'),
    () => `${'['.repeat(5000)}${']'.repeat(5000)}`,
    () => text.replace(/\d+/, '1e400'),
  ])()
}

/** Headers that are wrong, or from another host or page. */
const ODD_HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  ...['1270.1', 'a b', '[::1', '', 'localhost:99999999', 'evil.example'].map(host => ({ host })),
  ...['null', 'http://['].map(origin => ({ origin })),
  ...['multipart/form-data', 'multipart/form-data; boundary=x', 'text/plain'].map(type => ({ 'content-type': type })),
  ...['99999999999999999', '__proto__'].map(id => ({ 'last-event-id': id })),
  ...['Bearer __proto__', 'Bearer'].map(authorization => ({ authorization })),
  ...['100-continue', '200-ok'].map(expect => ({ expect })),
  ...[{ 'content-encoding': 'gzip' }, { 'x-handover-sim-token': '\u00e9' }, { range: 'bytes=0-' }],
  ...[{ cookie: '__proto__=1' }, { 'set-cookie': 'a=b' }, { accept: 'application/xml' }, { te: 'trailers' }],
  ...[{ 'x-http-method-override': 'DELETE' }, { 'x-forwarded-host': '\u00e9' }],
]

const oddHeaders = (draw: Draw) => ({ 'content-type': 'application/json', ...draw.one(ODD_HEADERS) })

function onPlatform(server: PlatformServer, draw: Draw, ids: readonly string[]): RawRequest {
  const { id, path: route, method: usual, body: hasBody } = draw.one(Object.values(ENDPOINTS))
  const path = route.replace('{chatId}', encoded(draw.chance(3) ? draw.hostileText() : draw.one(ids)))
  const usualKey = id === 'chat' ? server.botApiKey : server.apiKey
  const key = draw.chance(12) ? draw.hostileText().replace(/[^\x21-\x7e]/g, '') : usualKey
  const odd = draw.chance(10) ? oddHeaders(draw) : {}
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...odd }
  const method = draw.chance(25) ? draw.one(METHODS) : usual
  const target = draw.chance(12) ? oddPath(draw, path) : path
  if (hasBody === null || method === 'GET' || method === 'HEAD') return { method, path: target, headers }
  let body: unknown = {
    ...(EXAMPLES[id].request as object),
    ...(id !== 'availability' && { bot_id: server.botId, chat_id: draw.one(ids) }),
  }
  for (let count = draw.below(3); count > 0; count--) body = draw.mutated(body)
  return { method, path: target, headers, body: textOf(draw, body) }
}

/** Parts of paths that are decoded wrongly when code is naive. */
const SEGMENTS = '.. %2e%2e %252e%252e ..%5c %00 %zz %ff %c0%af %u0041 ;a=b %0d%0aX:%20y'.split(' ')

const oddPath = (draw: Draw, path: string) =>
  draw.one([
    () => path.replace('handover', 'takeover'),
    () => `/${path}`,
    () => `${path}?${encoded(draw.hostileText())}`,
    () => path.replace('v2', encoded(draw.hostileText())),
    () => path.replace('/handover/', `/${draw.one(SEGMENTS)}/`),
    () => `/files/${encoded(draw.hostileText())}/${encoded(draw.hostileText())}`,
    () => '/files/x/../../_sim/state',
    () => `http://evil.example${path}`,
    () => '*',
  ])()
