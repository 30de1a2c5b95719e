/** Tests `verifyRequest` with requests of fetch handlers. */
import { ReadableStream } from 'node:stream/web'
import { expect, test } from 'vitest'
import { SIGNATURE_HEADER, sign, verifyRequest } from '../../src/platform/signature/index.ts'

const KEY = 'examplekey'
const BODY = '{"message":"Blåbær 🫐"}'

async function request(body: string | ReadableStream | null, headers?: Record<string, string>): Promise<Request> {
  const signed = { [SIGNATURE_HEADER]: await sign(BODY, KEY) }
  const init = { method: 'POST', body, headers: headers ?? signed, duplex: 'half' } as unknown as RequestInit
  return new Request('https://desk.example.test/webhook', init)
}

const BYTE_BY_BYTE = [...Buffer.from(BODY)].map(byte => Uint8Array.of(byte))

test.each([
  ['a text', BODY, BODY, BODY],
  ['chunks that split a character', ReadableStream.from(BYTE_BY_BYTE), BODY, BODY],
  ['a byte order mark in front', `\ufeff${BODY}`, `\ufeff${BODY}`, BODY],
  ['nothing', null, '', ''],
])('a valid request may have %s as its body', async (_, sent, signed, body) => {
  const headers = { [SIGNATURE_HEADER]: await sign(signed, KEY) }
  expect(await verifyRequest(await request(sent, headers), ['new', KEY])).toEqual({ ok: true, body })
})

test.each([
  [{}, 'The header Kindly-HMAC is missing.'],
  [{ [SIGNATURE_HEADER]: 'ab'.repeat(32) }, 'The header Kindly-HMAC is not the base64 of 32 bytes.'],
  [{ [SIGNATURE_HEADER]: `${'A'.repeat(43)}=` }, 'The signature is not of this body with this key.'],
])('a request with the headers %j is refused with a reason', async (headers, reason) => {
  expect(await verifyRequest(await request(BODY, headers), KEY)).toEqual({ ok: false, body: BODY, reason })
})

test('a body that is too long is not read to its end', async () => {
  let pulled = 0
  async function* endless() {
    for (;;) {
      pulled++
      yield new Uint8Array(1_000)
    }
  }
  const result = await verifyRequest(await request(ReadableStream.from(endless())), KEY, { maxBytes: 10_000 })
  expect(result).toEqual({ ok: false, body: '', reason: 'The body is longer than 10000 bytes.' })
  expect(pulled).toBeLessThan(15)
})

test('a body of the maximum length is valid', async () => {
  const maxBytes = Buffer.byteLength(BODY)
  expect(await verifyRequest(await request(BODY), KEY, { maxBytes })).toMatchObject({ ok: true })
  expect(await verifyRequest(await request(BODY), KEY, { maxBytes: maxBytes - 1 })).toMatchObject({ ok: false })
})

test('an incomplete body is refused', async () => {
  async function* broken() {
    yield new Uint8Array(3)
    throw new Error('gone')
  }
  const result = await verifyRequest(await request(ReadableStream.from(broken())), KEY)
  expect(result).toEqual({ ok: false, body: '', reason: 'The connection ended before the body was complete.' })
})

test('a used body and an empty key give a TypeError', async () => {
  const read = await request(BODY)
  await read.text()
  await expect(verifyRequest(read, KEY)).rejects.toThrow(/^request: its body was read already/)
  await expect(verifyRequest(await request(BODY), '')).rejects.toThrow(TypeError)
})

test.each([[{ headers: {}, body: { parsed: true } }], [{ headers: {}, body: BODY }], [{ headers: {} }]])(
  'says what to do with a request of another kind: %j',
  async other => {
    await expect(verifyRequest(other as never, KEY)).rejects.toThrow(
      'For one of Express, Fastify or node:http: verify(rawBody, request.headers, key).',
    )
  },
)
