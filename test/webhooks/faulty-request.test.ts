/** Builds invalid signatures, each invalid in one way only. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SIGN_MODES } from '../../src/platform/contract/event-names.ts'
import { defaultKnobs, KNOBS } from '../../src/platform/contract/knobs.ts'
import { faultySignature, tamperedBody } from '../../src/platform/webhooks/faulty-request.ts'
import { encodePayload, signingHeaders } from '../../src/platform/webhooks/request.ts'

const BODY = '{"foo":1,"bar":2}'
const URL_ = 'https://any.example.test'
const RIGHT = 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q='
const signatureOf = (mode: (typeof SIGN_MODES)[number], knobs = defaultKnobs()) =>
  faultySignature(mode, 'examplekey', BODY, URL_, knobs)['Kindly-HMAC']

describe('headers', () => {
  test('valid and tampered have the valid signature', () => {
    for (const mode of ['valid', 'tampered'] as const) expect(signatureOf(mode)).toBe(RIGHT)
  })

  test('none has no signature headers', () => {
    expect(faultySignature('none', 'examplekey', BODY, URL_, defaultKnobs())).toEqual({})
  })

  test('wrong-key, truncated and hex are invalid in the way of their name', () => {
    expect(signatureOf('wrong-key')).toMatch(/^[A-Za-z0-9+/]{43}=$/)
    expect(signatureOf('wrong-key')).not.toBe(RIGHT)
    expect(signatureOf('truncated')).toBe(RIGHT.slice(0, 33))
    expect(signatureOf('hex')).toBe(Buffer.from(RIGHT, 'base64').toString('hex'))
    const algorithm = faultySignature('hex', 'examplekey', BODY, URL_, defaultKnobs())['Kindly-HMAC-algorithm']
    expect(algorithm).toBe('HMAC-SHA-256 (base64 encoded)')
  })

  test('hex is base64 when hexadecimal is configured', () => {
    expect(signatureOf('hex', { ...defaultKnobs(), 'webhook.signature': 'hex' })).toBe(RIGHT)
  })

  test('no mode adds a signature while signing is off', () => {
    const knobs = { ...defaultKnobs(), 'webhook.signature': 'off' } as const
    for (const mode of SIGN_MODES) expect(faultySignature(mode, 'examplekey', BODY, URL_, knobs)).toEqual({})
  })

  test('for every algorithm, encoding and content, only valid and tampered are valid', () => {
    for (const algorithm of ['sha1', 'sha256', 'sha512'] as const)
      for (const signature of ['base64', 'hex'] as const)
        for (const signedContent of ['body', 'url-and-body'] as const) {
          const knobs = {
            ...defaultKnobs(),
            'webhook.algorithm': algorithm,
            'webhook.signature': signature,
            'webhook.signedContent': signedContent,
          }
          const right = signingHeaders('k', BODY, URL_, knobs)
          const equal = SIGN_MODES.filter(
            mode => faultySignature(mode, 'k', BODY, URL_, knobs)['Kindly-HMAC'] === right['Kindly-HMAC'],
          )
          expect(equal).toEqual(['valid', 'tampered'])
        }
  })
})

const differing = (a: Buffer, b: Buffer) => a.filter((byte, index) => byte !== b[index]).length

describe('tampered', () => {
  test.each([
    ['{"event":"X","message":"hello"}', '{"event":"X","message":"hellO"}'],
    ['{"event":"X","attachments":[]}', '{"event":"x","attachments":[]}'],
    ['{"event":"X","n":10}', '{"event":"X","n":11}'],
    ['{"event":"é"}', '{"evenT":"é"}'],
    ['{"event":"\\u00e9","ok":true}', '{"event":"\\u00e8","ok":true}'],
  ])('%s', (body, expected) => {
    expect(tamperedBody(body)).toBe(expected)
  })

  const FORMS = KNOBS['webhook.json'].allowed.split(' | ') as Parameters<typeof encodePayload>[1][]
  const payload = fc.record({
    event: fc.string({ minLength: 1, unit: 'binary' }),
    more: fc.jsonValue({ noUnicodeString: false, maxDepth: 3 }),
  })

  test.each(FORMS)('%s: any payload: one byte differs, and the JSON value differs', form => {
    fc.assert(
      fc.property(payload, value => {
        const body = encodePayload(value, form)
        const other = tamperedBody(body)
        const [before, after] = [Buffer.from(body), Buffer.from(other)]
        expect([after.length, differing(after, before)]).toEqual([before.length, 1])
        expect(JSON.stringify(JSON.parse(other))).not.toBe(JSON.stringify(JSON.parse(body)))
      }),
    )
  })
})
