/** Tests `explain`: it names every mistake for any body, and no text contains a key. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Explanation, explain, type MistakeId } from '../../src/platform/signature/index.ts'
import { FIX_TEXTS, MISTAKE_TEXTS } from '../../src/platform/signature/mistakes.ts'
import { encodePayload } from '../../src/platform/webhooks/request.ts'
import { SLIPS } from './mistakes.ts'

const KEY = 'top+secret/key=42%'
const BODY = '{"foo": 1, "bar": "Blåbær/🫐 <b>"}'
const right = (body: string | Uint8Array, key = KEY) => createHmac('sha256', key).update(body).digest('base64')

const MORE = {
  otherKeys: { 'the key of the support desk': 'another-key-of-ours' },
  url: 'https://desk.example.test/webhook',
}

/** Bodies in the forms of the platform and the simulator, with letters, slashes and spaces that make mistakes visible. */
const payload = fc.record({
  event: fc.constantFrom('MESSAGE FROM USER', 'REQUESTING TAKEOVER'),
  message: fc.string({ unit: 'binary', maxLength: 30 }).map(text => `é e\u0301 🫐 a/b <c> ${text}`),
  more: fc.jsonValue({ maxDepth: 3 }),
})
const form = fc.constantFrom('compact', 'spaced', 'pretty', 'newline', 'ascii', 'slashes')
const jsonBody = fc.tuple(payload, form).map(([value, how]) => encodePayload(value, how))

const idsOf = ({ mistake, also }: Explanation) => [mistake, ...also]

describe('explain names a mistake of the sender for any body', () => {
  test.each(SLIPS)('$id: $how', ({ id, sign, needs }) =>
    fc.assert(
      fc.asyncProperty(jsonBody, async body => {
        fc.pre(needs?.(body, KEY) ?? true)
        const explained = await explain(body, sign(body, KEY), KEY, MORE)
        expect(explained).toMatchObject({ ok: false, mistake: id, also: [] })
        expect(explained.message).toContain(MISTAKE_TEXTS[id])
        expect(explained.fix).toBe(FIX_TEXTS[id])
      }),
      { numRuns: 5 },
    ),
  )
})

/** The signature is valid for the body that was sent; the body that is verified differs from it. */
describe('explain names a mistake of the receiver', () => {
  const changed: [id: MistakeId, sent: string | Buffer, inHand: string | Buffer][] = [
    ['restringified-json', encodePayload(JSON.parse(BODY), 'spaced'), JSON.stringify(JSON.parse(BODY))],
    ['restringified-json', encodePayload(JSON.parse(BODY), 'pretty'), JSON.stringify(JSON.parse(BODY))],
    ['restringified-json', encodePayload(JSON.parse(BODY), 'ascii'), JSON.stringify(JSON.parse(BODY))],
    ['restringified-json', encodePayload(JSON.parse(BODY), 'slashes'), JSON.stringify(JSON.parse(BODY))],
    ['restringified-json', BODY, JSON.stringify(BODY)],
    ['newline', `${BODY}\n`, BODY],
    ['newline', BODY, `${BODY}\n`],
    ['byte-order-mark', `\ufeff${BODY}`, BODY],
    ['byte-order-mark', BODY, `\ufeff${BODY}`],
    ['latin1', BODY, Buffer.from(BODY).toString('latin1')],
    ['base64-body', BODY, Buffer.from(BODY).toString('base64')],
    ['unicode-form', '"e\u0301"', '"\u00e9"'],
  ]
  test.each(changed)('%s: %j', async (id, sent, inHand) => {
    expect(idsOf(await explain(inHand, right(sent), KEY))).toEqual([id])
  })
})

const hexKey = createHmac('sha256', Buffer.from('00ff10', 'hex')).update(BODY).digest('base64')
const base64Key = createHmac('sha256', Buffer.from('0-9_', 'base64url')).update(BODY).digest('base64')

test.each<[MistakeId, key: string, signature: string]>([
  ['right', KEY, right(BODY)],
  ['key-whitespace', `${KEY}\n`, right(BODY)],
  ['key-prefix', `Bearer ${KEY}`, right(BODY)],
  ['key-quotes', `"${KEY}"`, right(BODY)],
  ['key-encoding', '00ff10', hexKey],
  ['key-encoding', '0-9_', base64Key],
])('explain detects %s of the key %j of the receiver', async (id, key, signature) => {
  expect(idsOf(await explain(BODY, signature, key))).toEqual([id])
})

describe('explain names two mistakes at once', () => {
  const again = JSON.stringify(JSON.parse(BODY))
  test.each<[MistakeId[], string]>([
    [['hex', 'restringified-json'], createHmac('sha256', KEY).update(again).digest('hex')],
    [['other-key', 'restringified-json'], right(again, 'another-key-of-ours')],
    [['key-whitespace', 'newline'], right(`${BODY}\n`, `${KEY}\n`)],
    [['prefix', 'hex'], `sha256=${createHmac('sha256', KEY).update(BODY).digest('hex')}`],
    [['hex', 'other-algorithm'], createHmac('sha1', KEY).update(BODY).digest('hex')],
    [['truncated', 'hex'], createHmac('sha256', KEY).update(BODY).digest('hex').slice(0, 40)],
    [['whitespace', 'key-prefix'], `${right(BODY, `Bearer ${KEY}`)}\n`],
  ])('%j', async (ids, signature) => {
    const explained = await explain(BODY, signature, KEY, MORE)
    expect(idsOf(explained)).toEqual(ids)
    for (const id of ids) {
      expect(explained.message).toContain(MISTAKE_TEXTS[id])
      expect(explained.fix).toContain(FIX_TEXTS[id])
    }
  })
})

const nonsense = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 37 + 11) % 256))

describe('explain names a mistake in the form of the signature', () => {
  test.each<[MistakeId, string]>([
    ['empty-signature', ''],
    ['empty-signature', ' \n'],
    ['too-long', 'A'.repeat(10_240)],
    ['key-as-signature', KEY],
    ['key-as-signature', `Bearer ${KEY}`],
    ['hex', nonsense(32).toString('hex')],
    ['whitespace', `${nonsense(32).toString('base64')}\n`],
    ['quoted', `"${nonsense(32).toString('base64')}"`],
    ['prefix', `sha256=${nonsense(32).toString('base64')}`],
    ['repeated-header', `${nonsense(32).toString('base64')}, ${nonsense(32).toString('base64')}`],
    ['url-encoding', encodeURIComponent(nonsense(32).toString('base64'))],
    ['base64url', nonsense(32).toString('base64url')],
    ['unpadded', 'A'.repeat(43)],
    ['wrong-length', nonsense(20).toString('base64')],
    ['wrong-length', nonsense(48).toString('base64')],
    ['not-base64', `${'A'.repeat(42)}B=`],
    ['not-base64', 'not a signature'],
    ['not-base64', 'é'.repeat(44)],
    ['unknown', nonsense(32).toString('base64')],
  ])('%s: %j', async (id, signature) => {
    // Few mistakes change such a body, so that an unknown one is found soon.
    const explained = await explain('1', signature, KEY)
    expect(idsOf(explained)).toEqual([id])
    expect(explained.fix).not.toBe('')
  })

  test('explain detects a missing and a repeated header', async () => {
    expect(await explain(BODY, {}, KEY)).toMatchObject({ ok: false, mistake: 'missing-header' })
    expect(await explain(BODY, null, KEY)).toMatchObject({ ok: false, mistake: 'missing-header' })
    const twice = { 'kindly-hmac': [right(BODY), right(BODY)] }
    expect(await explain(BODY, twice, KEY)).toMatchObject({ ok: false, mistake: 'repeated-header' })
  })
})

test('explain detects that bytes outside of UTF-8 were decoded', async () => {
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
  expect(idsOf(await explain(bytes, right(bytes.toString('utf8')), KEY))).toEqual(['not-utf-8'])
  expect(idsOf(await explain(bytes, right(bytes), KEY))).toEqual(['right'])
})

describe('for an unknown mistake, explain', () => {
  const other = nonsense(32).toString('base64')

  test('shows the start of the valid signature, and all of it with `reveal`', async () => {
    const expected = right(BODY)
    const explained = await explain(BODY, other, KEY)
    expect(explained.message).toContain(`Expected ${expected.slice(0, 4)}... (44 characters)`)
    expect(explained.message).not.toContain(expected.slice(0, 6))
    const revealed = await explain(BODY, other, KEY, { reveal: true })
    expect(revealed.message).toContain(`Expected ${expected}, got ${other}.`)
  })

  test('says which options would detect more', async () => {
    const explained = await explain(BODY, other, KEY)
    expect(explained.fix).toContain('Pass other keys to detect a wrong key.')
    expect(explained.fix).toContain('Pass the URL to detect a signature over URL and body.')
    expect((await explain(BODY, other, KEY, MORE)).fix).not.toContain('to detect')
  })

  test('reports a truncated body as not JSON', async () => {
    expect((await explain(BODY.slice(0, -5), right(BODY), KEY)).fix).toContain('The body is not JSON')
    expect((await explain(BODY, other, KEY)).fix).not.toContain('not JSON')
  })
})

describe('the algorithm header', () => {
  const sha512 = createHmac('sha512', KEY).update(BODY).digest('hex')
  const note = 'Kindly-HMAC-algorithm names "HMAC-SHA-512 (hex encoded)" instead of "HMAC-SHA-256 (base64 encoded)".'

  test('is reported if it names another algorithm, in any kind of headers', async () => {
    const headers = { 'kindly-hmac': sha512, 'kindly-hmac-algorithm': 'HMAC-SHA-512 (hex encoded)' }
    for (const explained of [
      await explain(BODY, headers, KEY),
      await explain(BODY, new Headers(headers), KEY),
      await explain(BODY, sha512, KEY, { algorithm: 'HMAC-SHA-512 (hex encoded)' }),
    ]) {
      expect(idsOf(explained)).toEqual(['hex', 'other-algorithm'])
      expect(explained.message).toContain(note)
    }
  })

  test('cannot move the cursor of a terminal', async () => {
    const explained = await explain(BODY, sha512, KEY, { algorithm: `\u001b[2J${'x'.repeat(500)}` })
    expect(explained.message).toMatch(/^[ -~]*$/)
    expect(explained.message.length).toBeLessThan(400)
  })
})

describe('several keys', () => {
  test('explain reports which key matches', async () => {
    const explained = await explain(BODY, right(BODY), ['another', KEY])
    expect(idsOf(await explain(BODY, `${right(BODY)} `, ['another', KEY]))).toEqual(['whitespace'])
    expect(explained).toMatchObject({ ok: true, message: 'The signature is valid: key 2 of 2.' })
  })

  test('explain names an other key of a list by its index', async () => {
    const explained = await explain(BODY, right(BODY, 'third'), KEY, { otherKeys: ['first', 'second', 'third'] })
    expect(explained.message).toBe('The signature was made with another key: otherKeys[2].')
  })
})

test('no explanation contains a key', () => {
  /** Few mistakes change it, so that a search ends soon. */
  const SHORT = '{"a":1}'
  const secret = fc
    .string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 40 })
    .filter(key => key.trim().length > 11)
  const signature = (key: string) =>
    fc.oneof(
      fc.constantFrom(key, `Bearer ${key}`, `sha256=${key}`, `${key}, ${key}`, `"${key}"`, ` ${key} `),
      fc.constantFrom(...SLIPS).map(({ sign }) => sign(SHORT, key)),
    )
  return fc.assert(
    fc.asyncProperty(
      secret.chain(key => fc.tuple(fc.constant(key), signature(key))),
      async ([key, given]) => {
        const { message, fix } = await explain(SHORT, given, key, { otherKeys: [`${key}!`], url: MORE.url })
        expect(message).not.toContain(key)
        expect(fix).not.toContain(key)
      },
    ),
    { numRuns: 20 },
  )
})

describe('the work is bounded', () => {
  const wrong = nonsense(32).toString('base64')
  const cases: [name: string, body: string][] = [
    ['a body longer than all that is hashed', ' '.repeat(17 * 1024 * 1024)],
    ['a long body', JSON.stringify({ message: 'Æøå? '.repeat(400_000) })],
    ['many small values', `[${'{"a":1},'.repeat(10_000)}0]`],
    ['deep nesting', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['only white space', ' '.repeat(1_000_000)],
    ['only quotes and backslashes', '"\\'.repeat(300_000)],
  ]
  test.each(cases)('%s', async (_, body) => {
    expect(await explain(body, wrong, KEY)).toMatchObject({ ok: false, mistake: 'unknown' })
    expect(await explain(body, right(body), KEY)).toMatchObject({ ok: true })
  })

  test('explain reports that it skipped combinations', async () => {
    const explained = await explain(cases[1]![1], wrong, KEY)
    expect(explained.message).toContain('not every combination of mistakes was tried')
    expect((await explain(BODY, wrong, KEY)).message).not.toContain('not every')
  })

  test('many other keys do not exceed the limit', async () => {
    const otherKeys = Array.from({ length: 100_000 }, (_, at) => `key ${at}`)
    expect(await explain(BODY, wrong, KEY, { otherKeys })).toMatchObject({ mistake: 'unknown' })
  })
})
