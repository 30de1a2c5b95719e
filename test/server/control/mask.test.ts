/** What the journal masks in requests, answers and addresses. */
import { expect, test } from 'vitest'
import { hmac } from '../../../src/base/runtime/node.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import { maskEntry } from '../../../src/platform/journal/mask.ts'

type Fields = Record<string, unknown>
const call = (headers: object, path = '/api/v2/handover/start') =>
  ({ kind: 'api', path, request: { headers, body: null, bytes: 0 } }) as unknown as Entry
const delivery = (headers: object, more: Fields = {}) =>
  ({
    ...{ kind: 'delivery', url: 'http://me:secret@127.0.0.1:3000/webhook?token=abc', request: { headers, body: '{}' } },
    response: { headers: { 'set-cookie': 'session=1', 'content-type': 'text/plain' }, body: '', truncated: false },
    ...more,
  }) as unknown as Entry

const HASHES = (['sha1', 'sha256', 'sha512'] as const).flatMap(hash =>
  (['base64', 'hex'] as const).map(encoding => hmac(hash, 'key', '{}', encoding)),
)
const JSON_TYPE = { 'content-type': 'application/json' }

test.each<[Entry, object]>([
  [call({ authorization: 'Bearer sim-handover-key' }), { authorization: 'Bearer ***' }],
  [call({ authorization: 'bearer two words' }), { authorization: 'bearer ***' }],
  [call({ authorization: 'sim-handover-key' }), { authorization: '***' }],
  [call({ authorization: 'Basic dXNlcjpwYXNz' }), { authorization: 'Basic ***' }],
  [call({ ...JSON_TYPE, cookie: 'a=b', 'x-request-id': 'r1' }), { ...JSON_TYPE, cookie: '***', 'x-request-id': 'r1' }],
  [call({ 'x-api-key': 'k' }), { 'x-api-key': '***' }],
  [delivery({ 'Kindly-HMAC-algorithm': 'HMAC-SHA-256' }), { 'Kindly-HMAC-algorithm': 'HMAC-SHA-256' }],
  [delivery({ 'Kindly-HMAC': 'trunc', 'X-Mine': 'abc' }), { 'Kindly-HMAC': '***', 'X-Mine': '***' }],
  ...HASHES.flatMap((value): [Entry, object][] => [
    [delivery({ ...JSON_TYPE, 'X-Old': value }), { ...JSON_TYPE, 'X-Old': '***' }],
    [delivery({ 'X-Old': value.slice(0, (value.length * 3) / 4) }, { sign: 'truncated' }), { 'X-Old': '***' }],
  ]),
])('%j: %j', (entry, headers) => {
  const before = structuredClone(entry)
  expect(maskEntry(entry, 'x-mine')).toMatchObject({ request: { headers } })
  expect(entry).toEqual(before)
})

test('masks secrets in addresses and in answers of the webhook, and leaves other entries as they are', () => {
  const masked = maskEntry(call({}, '/start?page=2&api_key=sim-handover-key&x=1'))
  expect(masked).toMatchObject({ path: '/start?page=2&api_key=***&x=1' })
  expect(maskEntry(delivery({}))).toMatchObject({
    url: 'http://***@127.0.0.1:3000/webhook?token=***',
    response: { headers: { 'set-cookie': '***', 'content-type': 'text/plain' } },
  })
  const note = { kind: 'note', note: 'config' } as unknown as Entry
  expect(maskEntry(note)).toBe(note)
})
