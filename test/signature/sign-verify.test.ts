/** Tests signing and verifying against node:crypto. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SIGNATURE_HEADER, sign, signatureHeaders, verify } from '../../src/platform/signature/index.ts'
import { unicodeText } from '../support/unicode-text.ts'

const BODY = '{"foo":1,"bar":2}'
const KEY = 'examplekey'
const RIGHT = 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q='

const bytes = fc.uint8Array({ maxLength: 300 })
const anyBody = fc.oneof(bytes, unicodeText())
const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
const byNode = (body: Uint8Array | string, secret: string) => createHmac('sha256', secret).update(body).digest('base64')

describe('sign', () => {
  test('gives the signature of the public example', async () => {
    expect(await sign(BODY, KEY)).toBe(RIGHT)
    expect(await signatureHeaders(BODY, KEY)).toEqual({
      'Kindly-HMAC': RIGHT,
      'Kindly-HMAC-algorithm': 'HMAC-SHA-256 (base64 encoded)',
    })
  })

  test('gives the signature of node:crypto for any bytes or text, and any key', () =>
    fc.assert(
      fc.asyncProperty(anyBody, key, async (body, secret) => {
        const signature = await sign(body, secret)
        expect(signature).toBe(byNode(Buffer.from(body as string), secret))
        expect(await verify(body, signature, secret)).toBe(true)
      }),
    ))

  test('accepts text, Buffer, ArrayBuffer, a view of a larger buffer, and shared memory', async () => {
    const inside = new Uint8Array(Buffer.from(`##${BODY}##`)).subarray(2, -2)
    const whole = new TextEncoder().encode(BODY).buffer
    const shared = new Uint8Array(new SharedArrayBuffer(BODY.length))
    shared.set(Buffer.from(BODY))
    const bodies = [BODY, Buffer.from(BODY), inside, whole, new DataView(whole), shared, shared.buffer] as string[]
    for (const body of bodies) expect(await sign(body, KEY)).toBe(RIGHT)
  })

  test('copies the body before it returns', async () => {
    const buffer = Buffer.from(BODY)
    const both = [sign(buffer, KEY), verify(buffer, RIGHT, KEY)]
    buffer.fill(0)
    expect(await Promise.all(both)).toEqual([RIGHT, true])
  })
})

describe('verify refuses', () => {
  test('any flipped bit of the body or the signature', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), key, fc.nat(), async (body, secret, at) => {
        const signature = await sign(body, secret)
        const flip = (given: Uint8Array) =>
          given.map((byte, index) => (index === at % given.length ? byte ^ (1 << (at % 8)) : byte))
        expect(await verify(flip(body), signature, secret)).toBe(false)
        expect(await verify(body, Buffer.from(flip(Buffer.from(signature))).toString('latin1'), secret)).toBe(false)
      }),
    ))

  test('every other text that decodes to the same bytes', async () => {
    const loose = ['R', 'S', 'T'].map(last => `${RIGHT.slice(0, -2)}${last}=`)
    for (const text of loose) expect(Buffer.from(text, 'base64')).toEqual(Buffer.from(RIGHT, 'base64'))
    const others = [` ${RIGHT}`, `${RIGHT}\n`, RIGHT.slice(0, -1), `${RIGHT}=`, `"${RIGHT}"`, `${RIGHT}, ${RIGHT}`]
    for (const text of [...loose, ...others]) expect(await verify(BODY, text, KEY), text).toBe(false)
  })

  test('another key', () =>
    fc.assert(
      fc.asyncProperty(bytes, key, key, async (body, one, other) => {
        // HMAC fills a short key with zeros: these two are the same key.
        fc.pre(one.replace(/\0+$/, '') !== other.replace(/\0+$/, '') && Buffer.byteLength(one + other) < 64)
        expect(await verify(body, await sign(body, one), other)).toBe(false)
      }),
    ))

  const hex = createHmac('sha256', KEY).update(BODY).digest('hex')
  const garbage: unknown[] = [
    ...[null, undefined, '', ' ', hex, 'A'.repeat(10_240), '\ud800'.repeat(44), 'é'.repeat(44), 0, true, Symbol('x')],
    ...[[], [RIGHT, RIGHT], [hex], [1], [[RIGHT]], () => RIGHT, {}, Object.create(null), new Headers(), new Map()],
    ...[7, [RIGHT, RIGHT], { 'kindly-hmac': RIGHT }].map(value => ({ 'kindly-hmac': value })),
    { 'kindly-hmac': RIGHT, 'Kindly-HMAC': RIGHT },
    { get: RIGHT, headers: RIGHT },
    { get: () => ({ toString: () => RIGHT }) },
    Object.create({ 'kindly-hmac': RIGHT }),
    new Headers([SIGNATURE_HEADER, SIGNATURE_HEADER].map(name => [name, RIGHT])),
  ]
  test('garbage, without an error', async () => {
    for (const value of garbage) expect(await verify(BODY, value as string, KEY)).toBe(false)
  })
})

describe('verify reads the signature', () => {
  const get = (name: string) => (name === 'Kindly-HMAC' ? RIGHT : undefined)
  const sources: Record<string, Parameters<typeof verify>[1]> = {
    text: RIGHT,
    Headers: new Headers({ [SIGNATURE_HEADER]: RIGHT }),
    'headers of node:http': { 'content-type': 'application/json', 'kindly-hmac': RIGHT },
    'headersDistinct of node:http': { 'kindly-hmac': [RIGHT] },
    'headers with fields that have the names of methods': { get: 'x', headers: 'y', 'KINDLY-hmac': RIGHT },
    Request: new Request('https://desk.example.test', { headers: { [SIGNATURE_HEADER]: RIGHT } }),
    'a request of node:http': { headers: { 'kindly-hmac': RIGHT } },
    'a request of Express, with get': { get },
    'a list of one': [RIGHT],
  }
  test.each(Object.entries(sources))('%s', async (_, source) => {
    expect(await verify(BODY, source, KEY)).toBe(true)
    expect(await verify(`${BODY} `, source, KEY)).toBe(false)
  })

  test('with each of several keys', async () => {
    for (const keys of [[KEY], ['new', KEY], [KEY, 'old'], ['a', KEY, 'b']])
      expect(await verify(BODY, RIGHT, keys)).toBe(true)
    expect(await verify(BODY, RIGHT, ['new', 'old'])).toBe(false)
  })
})

const REQUEST = new Request('https://desk.example.test')

test.each<[body: unknown, key: unknown, message: RegExp]>([
  [{ foo: 1 }, KEY, /^body: must be the raw body as it arrived, got an object\. A parsed body has lost its bytes/],
  [[1], KEY, /got an array\. A parsed body/],
  [7, KEY, /got a number/],
  [undefined, KEY, /got undefined\. No code has read it\. How to get it: Express: express\.raw/],
  [Promise.resolve(BODY), KEY, /got an object \(Promise\)\. Await it first\.$/],
  [REQUEST, KEY, /got an object \(Request\)\. Pass what its arrayBuffer\(\)/],
  [BODY, '', /^key: must be the API key as a text that is not empty, got an empty text\. Is the variable/],
  [BODY, undefined, /got undefined/],
  [BODY, [], /got an empty list/],
  [BODY, [KEY, ''], /got an empty text/],
  [BODY, { key: KEY }, /got an object\./],
  [BODY, Buffer.from(KEY), /got an object \(Buffer\)/],
])('the body %o with the key %o gives a TypeError, which does not contain the key', async (body, key, message) => {
  for (const call of [verify(body as string, RIGHT, key as string), sign(body as string, key as string)]) {
    await expect(call).rejects.toThrow(TypeError)
    await expect(call).rejects.toThrow(message)
    await expect(call).rejects.not.toThrow(KEY)
  }
})
