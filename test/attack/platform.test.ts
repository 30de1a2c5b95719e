/** Sends fuzzed requests to the nine endpoints and the attachment links, and checks that each gets a quick answer in the platform's format. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALIASES } from '../../src/platform/contract/endpoint-routes.ts'
import { INTERNAL_HEADER } from '../../src/platform/contract/errors.ts'
import { ENDPOINTS, ErrorBody } from '../../src/platform/contract/index.ts'
import { HANDOVER_IDS, validBody } from '../support/raw-requests.ts'
import {
  type AttackedServer,
  attachmentPath,
  playHandover,
  type RawAnswer,
  type RawRequest,
  sendRaw,
  startAttackedServer,
} from './attacked-server.ts'
import { rounds, seed, startAttack } from './rounds.ts'

const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']
const SEGMENTS = [
  '..',
  '.',
  '%2e%2e',
  '%252e%252e',
  '..%2f..',
  '..%5c',
  '%00',
  '%',
  '%zz',
  '%ff',
  '%c0%af',
  '%u0041',
  ';a=b',
  '',
  '*',
  '~',
  'a~b',
  '%0d%0aX:%20y',
  'api',
  'files',
  'etc/passwd',
  '_sim',
  'x'.repeat(3000),
]
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH']

const hostileText = fc.oneof(
  fc.constantFrom(
    ...PROTOTYPE_NAMES,
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\udfff',
    '\u202e',
    '%s%n',
    '{{7*7}}',
    '<script>alert(1)</script>',
    "' OR 1=1 --",
    '\u001b[2J',
    '\ufeff',
    'a'.repeat(5000),
  ),
  fc.string({ unit: 'binary' }),
)
const hostileNumber = fc.oneof(
  fc.constantFrom(0, -1, 1e308, -1e308, 2 ** 53, -(2 ** 53), 2 ** 31, 8.64e15 + 1, 1e-320, 0.5),
  fc.double(),
)
const nested = fc.integer({ min: 1, max: 260 }).map(depth => {
  let value: unknown = 'leaf'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
})
const hostileValue = fc.oneof(
  hostileText,
  hostileNumber,
  nested,
  fc.constantFrom<unknown>(null, true, [], {}, [[]], { length: -1 }, { toString: 1, valueOf: null, toJSON: 'x' }),
  fc.array(fc.oneof(hostileText, hostileNumber), { maxLength: 50 }),
  fc.dictionary(hostileText, fc.oneof(hostileText, hostileNumber, fc.constant(null)), { maxKeys: 10 }),
)

/** `JSON.stringify` with the key `__proto__`, which an object literal cannot have. */
const withPrototypeKey = (json: string) => json.replace(/^\{/, '{"__proto__":{"polluted":true},')

const FIELDS = [
  'bot_id',
  'chat_id',
  'message',
  'sender',
  'buttons',
  'timeout',
  'availability',
  'queue',
  'reason',
  'supports_attachment',
  'unknown',
]

interface Target {
  readonly botId: number
  readonly chatId: string
  readonly apiKey: string
  readonly botApiKey: string
  readonly file: string
}

const bodyOf = ({ botId, chatId }: Target): fc.Arbitrary<Uint8Array> => {
  const valid = fc.constantFrom(...HANDOVER_IDS).map(id => validBody(id, botId, chatId))
  const changed = fc
    .tuple(valid, fc.dictionary(fc.constantFrom(...FIELDS), hostileValue, { maxKeys: 3 }))
    .map(([body, changes]) => JSON.stringify({ ...body, ...changes }))
  const text = fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: changed.map(withPrototypeKey) },
    fc.json(),
  )
  const bytes = text.map(json => new TextEncoder().encode(json))
  const damaged = fc.tuple(bytes, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([valid, at, value]) => {
    const copy = Uint8Array.from(valid)
    if (copy.length > 0) copy[at % copy.length] = value
    return copy
  })
  const cut = fc.tuple(bytes, fc.nat()).map(([valid, at]) => valid.slice(0, at % (valid.length + 1)))
  const withMark = bytes.map(valid => Uint8Array.from([0xef, 0xbb, 0xbf, ...valid]))
  const utf16 = text.map(json => new Uint8Array(Buffer.from(json, 'utf16le')))
  return fc.oneof({ weight: 8, arbitrary: bytes }, damaged, cut, withMark, utf16, fc.uint8Array({ maxLength: 300 }))
}

const pathOf = ({ chatId, file }: Target): fc.Arbitrary<string> => {
  const written = HANDOVER_IDS.flatMap(id =>
    ALIASES.map(alias => ENDPOINTS[id].path.replace('/handover/', `/${alias}/`)),
  )
  const known = fc.constantFrom(...written, ...written, `/api/v1/chats/${chatId}`, file)
  const segment = fc.oneof(fc.constantFrom(...SEGMENTS, ...PROTOTYPE_NAMES), hostileText.map(encodeText))
  const edited = fc.tuple(known, fc.nat(), segment, fc.boolean()).map(([path, at, piece, replace]) => {
    const parts = path.split('/')
    parts.splice(1 + (at % (parts.length - 1)), replace ? 1 : 0, piece)
    return parts.join('/')
  })
  const encoded = fc.tuple(known, fc.nat()).map(([path, at]) => encodeAt(path, 1 + (at % (path.length - 1))))
  const query = fc.oneof(
    fc.constantFrom('', '', '?', '?__proto__=1', '?a[b]=c', '#x', '?%', '?x=%00'),
    segment.map(text => `?${text}=${text}`),
  )
  const path = fc.oneof({ weight: 4, arbitrary: known }, edited, encoded)
  return fc.tuple(path, query).map(([before, after]) => notControl(before) + after)
}

const encodeText = (text: string) => encodeURIComponent(text.toWellFormed())
const encodeAt = (path: string, at: number) =>
  `${path.slice(0, at)}%${path.charCodeAt(at).toString(16).padStart(2, '0')}${path.slice(at + 1)}`
/** Paths of the control API and of the index page have other rules. */
const notControl = (path: string) => (/^\/+(_sim|\?|#|$)/.test(path) ? `/api${path}` : path)

const headersOf = ({ apiKey, botApiKey }: Target): fc.Arbitrary<Record<string, string>> => {
  const latin1 = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter(code => code !== 0x7f)
      .map(code => String.fromCharCode(code)),
  })
  const keys = [apiKey, apiKey, apiKey, apiKey, botApiKey, 'wrong', '', ...PROTOTYPE_NAMES]
  const authorization = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...keys).map(key => `Bearer ${key}`) }, latin1)
  const others = fc.record(
    {
      'content-type': fc.oneof(
        fc.constantFrom(
          'application/json',
          'text/plain',
          'application/json; charset=utf-16',
          'multipart/form-data; boundary=x',
          'application/jsonp',
        ),
        latin1,
      ),
      'content-encoding': fc.constantFrom('gzip', 'identity', 'br', 'x'),
      origin: fc.constantFrom('null', 'https://evil.example.test', 'http://localhost:3000'),
      accept: latin1,
      'x-http-method-override': fc.constantFrom('DELETE', '__proto__'),
      'x-forwarded-host': latin1,
      __proto__: latin1,
      constructor: latin1,
    },
    { requiredKeys: [] },
  )
  return fc.tuple(authorization, others).map(([key, rest]) => ({ authorization: key, ...rest }))
}

const requestTo = (target: Target): fc.Arbitrary<RawRequest> =>
  fc.record({
    method: fc.oneof({ weight: 5, arbitrary: fc.constant('POST') }, fc.constantFrom(...METHODS)),
    path: pathOf(target),
    headers: headersOf(target),
    body: bodyOf(target),
  })

/** Requests that are sent at the same time. */
const AT_ONCE = 16

/** How long an answer may take. A slow one counts only when the same request is slow again, because machines pause. */
const SLOW_MS = 1000

async function timed(port: number, request: RawRequest): Promise<{ answer: RawAnswer; ms: number }> {
  const startedAt = performance.now()
  const answer = await sendRaw(port, request)
  return { answer, ms: performance.now() - startedAt }
}

async function checkRequest({ server }: AttackedServer, request: RawRequest): Promise<void> {
  const first = await timed(server.port, request)
  const ms = first.ms < SLOW_MS ? first.ms : Math.min(first.ms, (await timed(server.port, request)).ms)
  expect(ms, 'time of the answer').toBeLessThan(SLOW_MS)
  expect(problemOf(request, first.answer)).toBe('')
}

/** Returns what is wrong with an answer; empty when nothing is. */
function problemOf({ method, headers }: RawRequest, { status, headers: received, body }: RawAnswer): string {
  if (status >= 500) return `status ${status}: ${body}`
  const internal = received[INTERNAL_HEADER] !== undefined
  if (internal && status === 403 && isForeign(headers.origin)) return ''
  if (internal) return `internal error ${status}: ${body}`
  if (status < 400 || method === 'HEAD') return ''
  return isErrorBody(body) ? '' : `status ${status} is not in the format of the platform: ${body}`
}

const isForeign = (origin: string | undefined) => origin !== undefined && !origin.startsWith('http://localhost')

function isErrorBody(text: string): boolean {
  try {
    return ErrorBody.safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

async function targetOf(attacked: AttackedServer): Promise<Target> {
  const { botId, apiKey, botApiKey } = attacked.server
  const { id: chatId } = await attacked.server.chat()
  return { botId, apiKey, botApiKey, chatId, file: await attachmentPath(attacked) }
}

describe('the platform', () => {
  test('answers every fuzzed request quickly and in its format, and a handover works afterwards', async () => {
    const attempt = startAttack('platform', 'fuzzed requests to endpoints and attachment links')
    const attacked = await startAttackedServer()
    const check = (request: RawRequest) => attempt(() => checkRequest(attacked, request))
    const requests = fc.array(requestTo(await targetOf(attacked)), { minLength: AT_ONCE, maxLength: AT_ONCE })
    const property = fc.asyncProperty(requests, async batch => void (await Promise.all(batch.map(check))))
    await fc.assert(property, { seed: seed(), numRuns: Math.ceil(rounds(3000, 4) / AT_ONCE) })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    await playHandover(attacked)
  })
})
