/** Tests `explain`: it names every mistake for any body, and no text contains a key. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Explanation, explain, type MistakeId } from '../../src/platform/signature/index.ts'
import { FIX_TEXTS, MISTAKE_TEXTS } from '../../src/platform/signature/mistakes.ts'
import { encodePayload } from '../../src/platform/webhooks/request.ts'
import { unicodeText } from '../support/unicode-text.ts'
import { SLIPS } from './mistakes.ts'

const KEY = 'top+secret/key=42%'
const BODY = '{"foo": 1, "bar": "Blåbær/🫐 <b>"}'
const AGAIN = JSON.stringify(JSON.parse(BODY))
/** Few mistakes change it, so that a search for an unknown one ends soon. */
const SHORT = '{"a":1}'
const right = (body: string | Uint8Array, key = KEY) => createHmac('sha256', key).update(body).digest('base64')

const MORE = {
  otherKeys: { 'the key of the support desk': 'another-key-of-ours' },
  url: 'https://desk.example.test/webhook',
}

/** Bodies in the forms of the simulator, with letters, slashes and spaces that make mistakes visible. */
const payload = fc.record({
  event: fc.constantFrom('MESSAGE FROM USER', 'REQUESTING TAKEOVER'),
  message: unicodeText(30).map(text => `é e\u0301 🫐 a/b <c> ${text}`),
  more: fc.jsonValue({ maxDepth: 3 }),
})
const form = fc.constantFrom('compact', 'spaced', 'pretty', 'newline', 'ascii', 'slashes')
const jsonBody = fc.tuple(payload, form).map(([value, how]) => encodePayload(value, how))

const idsOf = ({ mistake, also }: Explanation) => [mistake, ...also]

test.each(SLIPS)('explain names a mistake of the sender for any body: $id, $how', ({ id, sign, needs }) =>
  fc.assert(
    fc.asyncProperty(jsonBody, async body => {
      fc.pre(needs?.(body, KEY) ?? true)
      const explained = await explain(body, sign(body, KEY), KEY, MORE)
      expect(explained).toMatchObject({ ok: false, mistake: id, also: [], fix: FIX_TEXTS[id] })
      expect(explained.message).toContain(MISTAKE_TEXTS[id])
    }),
    { numRuns: 5 },
  ),
)

/** The signature is valid for the body that was sent; the body that is verified differs from it. */
test.each<[id: MistakeId, sent: string, inHand: string]>([
  ['restringified-json', encodePayload(JSON.parse(BODY), 'spaced'), AGAIN],
  ['restringified-json', encodePayload(JSON.parse(BODY), 'pretty'), AGAIN],
  ['restringified-json', encodePayload(JSON.parse(BODY), 'ascii'), AGAIN],
  ['restringified-json', encodePayload(JSON.parse(BODY), 'slashes'), AGAIN],
  ['restringified-json', BODY, JSON.stringify(BODY)],
  ['newline', `${BODY}\n`, BODY],
  ['newline', BODY, `${BODY}\n`],
  ['byte-order-mark', `\ufeff${BODY}`, BODY],
  ['byte-order-mark', BODY, `\ufeff${BODY}`],
  ['latin1', BODY, Buffer.from(BODY).toString('latin1')],
  ['base64-body', BODY, Buffer.from(BODY).toString('base64')],
  ['unicode-form', '"e\u0301"', '"\u00e9"'],
])('explain names %s of the receiver: %j', async (id, sent, inHand) => {
  expect(idsOf(await explain(inHand, right(sent), KEY))).toEqual([id])
})

const ofKey = (key: Buffer) => createHmac('sha256', key).update(BODY).digest('base64')

test.each<[MistakeId, key: string, signature: string]>([
  ['right', KEY, right(BODY)],
  ['key-whitespace', `${KEY}\n`, right(BODY)],
  ['key-prefix', `Bearer ${KEY}`, right(BODY)],
  ['key-quotes', `"${KEY}"`, right(BODY)],
  ['key-encoding', '00ff10', ofKey(Buffer.from('00ff10', 'hex'))],
  ['key-encoding', '0-9_', ofKey(Buffer.from('0-9_', 'base64url'))],
])('explain detects %s of the key %j of the receiver', async (id, key, signature) => {
  expect(idsOf(await explain(BODY, signature, key))).toEqual([id])
})

const hex = (body: string, hash = 'sha256') => createHmac(hash, KEY).update(body).digest('hex')

test.each<[MistakeId[], string]>([
  [['hex', 'restringified-json'], hex(AGAIN)],
  [['other-key', 'restringified-json'], right(AGAIN, 'another-key-of-ours')],
  [['key-whitespace', 'newline'], right(`${BODY}\n`, `${KEY}\n`)],
  [['prefix', 'hex'], `sha256=${hex(BODY)}`],
  [['hex', 'other-algorithm'], hex(BODY, 'sha1')],
  [['truncated', 'hex'], hex(BODY).slice(0, 40)],
  [['whitespace', 'key-prefix'], `${right(BODY, `Bearer ${KEY}`)}\n`],
])('explain names two mistakes at once: %j', async (ids, signature) => {
  const explained = await explain(BODY, signature, KEY, MORE)
  expect(idsOf(explained)).toEqual(ids)
  for (const id of ids) {
    expect(explained.message).toContain(MISTAKE_TEXTS[id])
    expect(explained.fix).toContain(FIX_TEXTS[id])
  }
})

const nonsense = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 37 + 11) % 256))
const WRONG = nonsense(32).toString('base64')

test.each<[MistakeId, string]>([
  ['empty-signature', ''],
  ['empty-signature', ' \n'],
  ['too-long', 'A'.repeat(10_240)],
  ['key-as-signature', KEY],
  ['key-as-signature', `Bearer ${KEY}`],
  ['hex', nonsense(32).toString('hex')],
  ['whitespace', `${WRONG}\n`],
  ['repeated-header', `${WRONG}, ${WRONG}`],
  ['base64url', nonsense(32).toString('base64url')],
  ['unpadded', 'A'.repeat(43)],
  ['wrong-length', nonsense(20).toString('base64')],
  ['not-base64', `${'A'.repeat(42)}B=`],
  ['not-base64', 'not a signature'],
  ['not-base64', 'é'.repeat(44)],
  ['unknown', WRONG],
])('explain names %s in the form of the signature: %j', async (id, signature) => {
  const explained = await explain(SHORT, signature, KEY)
  expect(idsOf(explained)).toEqual([id])
  expect(explained.fix).not.toBe('')
})

test('explain detects a missing and a repeated header, and bytes outside of UTF-8 that were decoded', async () => {
  expect(idsOf(await explain(BODY, {}, KEY))).toEqual(['missing-header'])
  expect(idsOf(await explain(BODY, null, KEY))).toEqual(['missing-header'])
  expect((await explain(BODY, { 'kindly-hmac': [right(BODY), right(BODY)] }, KEY)).mistake).toBe('repeated-header')
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
  expect(idsOf(await explain(bytes, right(bytes.toString('utf8')), KEY))).toEqual(['not-utf-8'])
  expect(idsOf(await explain(bytes, right(bytes), KEY))).toEqual(['right'])
})

test('for an unknown mistake, explain shows the start of the valid signature, or with `reveal` all of it', async () => {
  const expected = right(SHORT)
  const { message } = await explain(SHORT, WRONG, KEY)
  expect(message).toContain(`Expected ${expected.slice(0, 4)}... (44 characters)`)
  expect(message).not.toContain(expected.slice(0, 6))
  const revealed = await explain(SHORT, WRONG, KEY, { reveal: true })
  expect(revealed.message).toContain(`Expected ${expected}, got ${WRONG}.`)
})

test('for an unknown mistake, explain says what would detect more, and that the body is not JSON', async () => {
  const { fix } = await explain(SHORT, WRONG, KEY)
  for (const more of ['Pass other keys to detect', 'Pass the URL to detect']) expect(fix).toContain(more)
  expect(fix).not.toContain('not JSON')
  expect((await explain(SHORT, WRONG, KEY, MORE)).fix).not.toContain('to detect')
  expect((await explain(SHORT.slice(0, -3), right(SHORT), KEY)).fix).toContain('The body is not JSON')
})

test('the algorithm header is reported if it names another algorithm, in any kind of headers', async () => {
  const algorithm = 'HMAC-SHA-512 (hex encoded)'
  const headers = { 'kindly-hmac': hex(BODY, 'sha512'), 'kindly-hmac-algorithm': algorithm }
  for (const explained of [
    await explain(BODY, headers, KEY),
    await explain(BODY, new Headers(headers), KEY),
    await explain(BODY, hex(BODY, 'sha512'), KEY, { algorithm }),
  ]) {
    expect(idsOf(explained)).toEqual(['hex', 'other-algorithm'])
    expect(explained.message).toContain(`Kindly-HMAC-algorithm names "${algorithm}" instead of "HMAC-SHA-256 (base64`)
  }
})

test('the algorithm header cannot move the cursor of a terminal', async () => {
  const explained = await explain(BODY, hex(BODY), KEY, { algorithm: `\u001b[2J${'x'.repeat(500)}` })
  expect(explained.message).toMatch(/^[ -~]*$/)
  expect(explained.message.length).toBeLessThan(400)
})

test('of several keys, explain names the one that matches', async () => {
  const keys = ['another', KEY]
  const valid = { ok: true, message: 'The signature is valid: key 2 of 2.' }
  expect(await explain(BODY, right(BODY), keys)).toMatchObject(valid)
  expect(idsOf(await explain(BODY, `${right(BODY)} `, keys))).toEqual(['whitespace'])
  const other = await explain(BODY, right(BODY, 'third'), KEY, { otherKeys: ['first', 'second', 'third'] })
  expect(other.message).toBe('The signature was made with another key: otherKeys[2].')
})

const secret = fc.string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 40 }).filter(key => key.trim().length > 11)
const keyAsSignature = ['KEY', 'Bearer KEY', 'sha256=KEY', 'KEY, KEY', '"KEY"', ' KEY ']
const attempts = fc.constantFrom(
  ...keyAsSignature.map(form => (_: string, key: string) => form.replaceAll('KEY', () => key)),
  ...SLIPS.map(({ sign }) => sign),
)

test('no explanation contains a key', () =>
  fc.assert(
    fc.asyncProperty(secret, attempts, async (key, sign) => {
      const options = { otherKeys: [`${key}!`], url: MORE.url }
      const { message, fix } = await explain(SHORT, sign(SHORT, key), key, options)
      expect(`${message} ${fix}`).not.toContain(key)
    }),
    { numRuns: 20 },
  ))

const LONG = JSON.stringify({ message: 'Æøå? '.repeat(400_000) })

test.each([
  ['many small values', `[${'{"a":1},'.repeat(10_000)}0]`],
  ['deep nesting', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['only quotes and backslashes', '"\\'.repeat(300_000)],
])('the work is bounded for %s', async (_, body) => {
  expect(await explain(body, WRONG, KEY)).toMatchObject({ ok: false, mistake: 'unknown' })
  expect(await explain(body, right(body), KEY)).toMatchObject({ ok: true })
})

test('of a body of some MB, explain names the likely mistakes, or that it has not tried all', async () => {
  expect(idsOf(await explain(LONG, right(`${LONG}\n`), KEY))).toEqual(['newline'])
  expect((await explain(LONG, WRONG, KEY)).message).toContain('not every combination of mistakes was tried')
  expect((await explain(SHORT, WRONG, KEY)).message).not.toContain('not every')
})
