/** Signs events: the public vector, and any text over a real socket. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultKnobs, KNOBS } from '../../src/platform/contract/knobs.ts'
import { type encodePayload, signingHeaders } from '../../src/platform/webhooks/request.ts'
import { takenOver } from '../support/test-simulator.ts'
import { unicodeText } from '../support/unicode-text.ts'
import { receiver, simFor } from './receiver.ts'

const ALGORITHMS = ['sha256', 'sha1', 'sha512'] as const

test.each(ALGORITHMS)('%s: signs the UTF-8 bytes of any body with a key of any length', algorithm => {
  const knobs = { ...defaultKnobs(), 'webhook.algorithm': algorithm }
  const body = fc.tuple(unicodeText(), fc.constantFrom(1, 3000))
  // The blocks of the algorithms have 64 and 128 bytes.
  const key = fc.tuple(fc.constantFrom('k', 'ø'), fc.constantFrom(1, 63, 64, 65, 127, 128, 129))
  fc.assert(
    fc.property(body, key, ([part, times], [char, length]) => {
      const [written, secret] = [part.repeat(times), char.repeat(length)]
      const expected = createHmac(algorithm, secret).update(Buffer.from(written, 'utf8')).digest('base64')
      expect(signingHeaders(secret, written, '', knobs)['Kindly-HMAC']).toBe(expected)
    }),
  )
})

/** Characters that break receivers: emoji with joiners, lone surrogates, RTL, separators, controls, escapes. */
const awkward = fc.constantFrom(
  ...['👩‍👩‍👧‍👦', '🇳🇴', '\ud83d', '\ude00', '\u2028', '\u2029', '\u200f', '\u202e', 'مرحبًا', 'שלום', 'é', 'e\u0301'],
  ...'\u0000\u001f\u007f\b\f\n\r\t"\\/<&\ufeff\ufffdÿ ',
)
const text = fc
  .array(fc.oneof(awkward, unicodeText(5), fc.string({ maxLength: 5 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map(parts => parts.join(''))
  .filter(joined => joined !== '')

const FORMS = KNOBS['webhook.json'].allowed.split(' | ') as Parameters<typeof encodePayload>[1][]

test.each(FORMS)('%s: any text arrives unchanged over HTTP, and the received bytes verify', async form => {
  const { url, got } = await receiver()
  const sim = simFor(url, { knobs: { 'webhook.json': form } })
  const chat = await takenOver(sim)
  await fc.assert(
    fc.asyncProperty(text, async written => {
      await chat.says(written)
      const { bytes, headers, json } = got.at(-1)!
      expect(json.message).toBe(written)
      expect(headers['kindly-hmac']).toBe(createHmac('sha256', sim.apiKey).update(bytes).digest('base64'))
      expect(Number(headers['content-length'])).toBe(bytes.length)
    }),
    { numRuns: 40 },
  )
})

test('header names have the case that the platform sends', async () => {
  const { url, got } = await receiver()
  const chat = await simFor(url).chat()
  await chat.press('handover')
  const { method, path, headers, rawHeaders } = got[0]!
  expect([method, path]).toEqual(['POST', '/hook?tenant=1'])
  expect(rawHeaders).toEqual(expect.arrayContaining(['Kindly-HMAC', 'Kindly-HMAC-algorithm']))
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^handover-sim\//),
    'kindly-hmac-algorithm': 'HMAC-SHA-256 (base64 encoded)',
  })
})
