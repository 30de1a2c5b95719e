import { describe, expect, test } from 'vitest'
import { hmac } from '../../../src/base/runtime/node.ts'
import type { ApiContent, DeliveryContent, Entry } from '../../../src/platform/journal/entry.ts'
import { maskEntry } from '../../../src/platform/journal/mask.ts'

const frame = { v: 1, seq: 1, time: '2024-01-01T09:00:00.000000Z', cause: null, at_ms: 0 } as const

const call = (headers: Record<string, string>, path = '/api/v2/handover/start'): Entry => ({
  ...frame,
  kind: 'api',
  endpoint: 'start',
  method: 'POST',
  path,
  alias: 'handover',
  auth: 'valid',
  request: { headers, body: null, bytes: 0 },
  status: 200,
  response: null,
  findings: [],
  unspecified: {},
  duration_ms: 1,
  follows: null,
})

const delivery = (headers: Record<string, string>, url = 'http://127.0.0.1:3000/webhook'): Entry => ({
  ...frame,
  kind: 'delivery',
  delivery_id: 'd1',
  event: 'REQUESTING TAKEOVER',
  attempt: 1,
  outcome: 'delivered',
  url,
  request: { headers, body: '{}' },
  status: 200,
  response: { headers: { 'set-cookie': 'session=1', 'content-type': 'text/plain' }, body: '', truncated: false },
  duration_ms: 1,
})

const headersOf = (entry: Entry) => (entry as ApiContent | DeliveryContent).request.headers

test.each([
  ['Bearer sim-handover-key', 'Bearer ***'],
  ['bearer two words', 'bearer ***'],
  ['sim-handover-key', '***'],
  ['Basic dXNlcjpwYXNz', 'Basic ***'],
])('of the credentials %j stays %j', (authorization, masked) => {
  expect(headersOf(maskEntry(call({ authorization })))).toEqual({ authorization: masked })
})

test('keeps other headers and masks other secrets', () => {
  const headers = { 'content-type': 'application/json', cookie: 'a=b', 'x-api-key': 'k', 'x-request-id': 'r1' }
  expect(headersOf(maskEntry(call(headers)))).toEqual({ ...headers, cookie: '***', 'x-api-key': '***' })
})

test('masks a key in the query and keeps the rest of the path', () => {
  const masked = maskEntry(call({}, '/api/v2/handover/start?page=2&api_key=sim-handover-key&x=1'))
  expect((masked as ApiContent).path).toBe('/api/v2/handover/start?page=2&api_key=***&x=1')
})

describe('signatures', () => {
  const hashes = (['sha1', 'sha256', 'sha512'] as const).flatMap(hash =>
    (['base64', 'hex'] as const).map(encoding => [hash, encoding, hmac(hash, 'key', '{}', encoding)] as const),
  )
  test.each(hashes)('%s in %s is masked under any name', (_hash, _encoding, value) => {
    expect(headersOf(maskEntry(delivery({ 'X-Anything': value })))).toEqual({ 'X-Anything': '***' })
  })

  test('keeps the algorithm, and masks an invalid signature by its name', () => {
    const headers = {
      'Kindly-HMAC': 'trunc',
      'Kindly-HMAC-algorithm': 'HMAC-SHA-256 (base64 encoded)',
      'X-Mine': 'abc',
    }
    expect(headersOf(maskEntry(delivery(headers), 'x-mine'))).toEqual({
      ...headers,
      'Kindly-HMAC': '***',
      'X-Mine': '***',
    })
  })

  test.each(hashes)('%s in %s is masked when it was cut on purpose', (_hash, _encoding, value) => {
    const headers = { 'content-type': 'application/json', 'X-Old-Name': value.slice(0, (value.length * 3) / 4) }
    const entry = { ...delivery(headers), triggered: true, sign: 'truncated' } as Entry
    expect(headersOf(maskEntry(entry))).toEqual({ 'content-type': 'application/json', 'X-Old-Name': '***' })
  })

  test('masks cookies of the webhook and a password in its URL', () => {
    const masked = maskEntry(delivery({}, 'http://me:secret@127.0.0.1:3000/webhook?token=abc')) as DeliveryContent
    expect(masked.response?.headers).toEqual({ 'set-cookie': '***', 'content-type': 'text/plain' })
    expect(masked.url).toBe('http://***@127.0.0.1:3000/webhook?token=***')
  })
})

test('does not change the entry, and returns entries without headers unchanged', () => {
  const entry = call({ authorization: 'Bearer key' })
  maskEntry(entry)
  expect(headersOf(entry)).toEqual({ authorization: 'Bearer key' })
  const note: Entry = { ...frame, kind: 'note', note: 'config' }
  expect(maskEntry(note)).toBe(note)
})
