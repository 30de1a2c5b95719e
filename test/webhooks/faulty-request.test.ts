/** Builds invalid signatures, each invalid in one way only. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SIGN_MODES } from '../../src/platform/contract/event-names.ts'
import { defaultKnobs, KNOBS } from '../../src/platform/contract/knobs.ts'
import { faultySignature, tamperedBody } from '../../src/platform/webhooks/faulty-request.ts'
import { encodePayload, signingHeaders } from '../../src/platform/webhooks/request.ts'
import { unicodeText } from '../support/unicode-text.ts'

const BODY = '{"foo":1,"bar":2}'
const URL_ = 'https://any.example.test'
const RIGHT = 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q='

test.each([
  ['valid', RIGHT],
  ['tampered', RIGHT],
  ['none', undefined],
  ['wrong-key', expect.stringMatching(/^(?!uEeD)[A-Za-z0-9+/]{43}=$/)],
  ['truncated', RIGHT.slice(0, 33)],
  ['hex', Buffer.from(RIGHT, 'base64').toString('hex')],
] as const)('%s: the signature is %s, and nothing is signed while signing is off', (mode, signature) => {
  const headers = faultySignature(mode, 'examplekey', BODY, URL_, defaultKnobs())
  expect(headers['Kindly-HMAC']).toEqual(signature)
  expect(headers['Kindly-HMAC-algorithm']).toBe(mode === 'none' ? undefined : 'HMAC-SHA-256 (base64 encoded)')
  const off = { ...defaultKnobs(), 'webhook.signature': 'off' } as const
  expect(faultySignature(mode, 'examplekey', BODY, URL_, off)).toEqual({})
})

const KNOBS_OF_SIGNING = (['sha1', 'sha256', 'sha512'] as const).flatMap(algorithm =>
  (['base64', 'hex'] as const).flatMap(signature =>
    (['body', 'url-and-body'] as const).map(signedContent => [algorithm, signature, signedContent] as const),
  ),
)
test.each(KNOBS_OF_SIGNING)('%s, %s, %s: only valid and tampered are valid', (algorithm, signature, signedContent) => {
  const knobs = {
    ...defaultKnobs(),
    'webhook.algorithm': algorithm,
    'webhook.signature': signature,
    'webhook.signedContent': signedContent,
  }
  const valid = signingHeaders('k', BODY, URL_, knobs)['Kindly-HMAC']
  const equal = SIGN_MODES.filter(mode => faultySignature(mode, 'k', BODY, URL_, knobs)['Kindly-HMAC'] === valid)
  expect(equal).toEqual(['valid', 'tampered'])
})

const differing = (a: Buffer, b: Buffer) => a.filter((byte, index) => byte !== b[index]).length

const FORMS = KNOBS['webhook.json'].allowed.split(' | ') as Parameters<typeof encodePayload>[1][]
const payload = fc.record({
  event: unicodeText().filter(text => text !== ''),
  more: fc.jsonValue({ noUnicodeString: false, maxDepth: 3 }),
})

test.each(FORMS)('tampered, %s: any payload: one byte differs, and the JSON value differs', form => {
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
